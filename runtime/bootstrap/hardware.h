// SPDX-License-Identifier: BSD-3-Clause
// This says where on its node this process may run: which package, cache, core and so on holds all
// of its CPUs.
//
// hwloc is opened at run time when it is first asked, so a program that never asks pays nothing.
#pragma once

#include <array>
#include <cstdint>

namespace lamina::bootstrap {

// The types go from the widest to the narrowest. Their names are those of MPI_Get_hw_resource_info.
inline constexpr std::array<const char*, 9> kHardwareTypes{
    "hwloc://Machine", "hwloc://Package", "hwloc://Die",  "hwloc://NUMANode", "hwloc://L3Cache",
    "hwloc://L2Cache", "hwloc://L1Cache", "hwloc://Core", "hwloc://PU"};

// This says by type which object of this node the process is restricted to; -1 means that it is
// restricted to none, or that there is nothing of that type.
using HardwarePlace = std::array<std::int32_t, kHardwareTypes.size()>;

// Returns this process's place, which is -1 everywhere if hwloc is not installed. The first call
// takes milliseconds; bindings that change later are not seen.
const HardwarePlace& PlaceOfThisProcess();

}  // namespace lamina::bootstrap
