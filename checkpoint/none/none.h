// SPDX-License-Identifier: BSD-3-Clause
// The engine where there is none: it says so to whoever wants a checkpoint, and the job runs.
#pragma once

#include "checkpoint/checkpoint_engine.h"

namespace lamina::checkpoint::none {

EngineComponent Describe();

}  // namespace lamina::checkpoint::none
