// SPDX-License-Identifier: BSD-3-Clause
// Where on its node this process may run: which package, cache, core, ... holds all of its CPUs.
//
// hwloc is opened at run time when it is first asked; a program that never asks pays nothing.
#pragma once

#include <array>
#include <cstdint>

namespace lamina::bootstrap {

// From the widest to the narrowest. The names are those of MPI_Get_hw_resource_info.
inline constexpr std::array<const char*, 9> kHardwareTypes{
    "hwloc://Machine", "hwloc://Package", "hwloc://Die",  "hwloc://NUMANode", "hwloc://L3Cache",
    "hwloc://L2Cache", "hwloc://L1Cache", "hwloc://Core", "hwloc://PU"};

// By type: which one of its kind on this node the process is restricted to; -1: to none, or there
// is nothing of that type.
using HardwarePlace = std::array<std::int32_t, kHardwareTypes.size()>;

// All -1 where hwloc is not installed. Takes milliseconds the first time; bindings that change
// later are not seen.
const HardwarePlace& PlaceOfThisProcess();

}  // namespace lamina::bootstrap
