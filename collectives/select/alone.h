// SPDX-License-Identifier: BSD-3-Clause
// Collectives on a communicator of one: at most a copy.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

// Serves every operation but those among neighbours. No component offers it, because nobody can do
// better.
extern const Algorithm kAlone;

}  // namespace lamina::collective
