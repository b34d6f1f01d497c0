// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace lamina {

// major.minor must agree across the processes of a job (R27).
inline constexpr char kVersion[] = "0.1.0";

}  // namespace lamina
