// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace lamina {

// The processes of a job must agree on major.minor.
inline constexpr char kVersion[] = "0.1.0";

}  // namespace lamina
