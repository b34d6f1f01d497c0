// SPDX-License-Identifier: BSD-3-Clause
// The engine that saves nothing but a note. With it the whole way of a checkpoint can be walked,
// and tested, where no process can be saved.
#pragma once

#include "checkpoint/checkpoint_engine.h"

namespace lamina::checkpoint::pretend {

EngineComponent Describe();

}  // namespace lamina::checkpoint::pretend
