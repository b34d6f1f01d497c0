// SPDX-License-Identifier: BSD-3-Clause
// The engine that saves whole processes with the program criu.
//
// It is run as a program by the shepherd, so no library of it enters a rank. Where the shepherd is
// process 1 of its own user and pid namespaces no privilege is needed.
#pragma once

#include "checkpoint/checkpoint_engine.h"

namespace lamina::checkpoint::criu {

EngineComponent Describe();

}  // namespace lamina::checkpoint::criu
