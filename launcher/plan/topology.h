// SPDX-License-Identifier: BSD-3-Clause
// A Topology is a loaded hwloc topology with one owner. To be fast it is loaded without I/O
// objects, which would read the PCI configuration of every device, and without asking every CPU
// what the kernel has told already. It has all of the machine's CPUs, so that a number means the
// same core whether or not affinity (taskset) or a control group keeps this process from some.
#pragma once

#include <hwloc.h>

#include <memory>
#include <string>

#include "runtime/base/status.h"

namespace lamina::launcher {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, DestroyTopology>;

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using CpuSet = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

Result<Topology> LoadTopology();
// Makes a machine that is not there from hwloc's description, "pack:2 [numa] l3:2 l2:8 core:1
// pu:2".
Result<Topology> SyntheticTopology(const std::string& description);

// Returns what affinity and control group let this process use.
CpuSet AllowedCpus(hwloc_topology_t topology);

std::string ListOf(const CpuSet& set);  // "0-3,8"
// Understands a list as above; anything else gives the empty set.
CpuSet CpuSetOf(const std::string& list);

}  // namespace lamina::launcher
