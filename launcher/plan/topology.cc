// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/plan/topology.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace lamina::launcher {
namespace {

// Does the kernel tell everything about CPUs and caches? If not, hwloc has to ask every CPU, by
// moving to it and executing cpuid, which is slow in a virtual machine because its host answers.
bool KernelTellsAll() {
  constexpr const char* kCpu = "/sys/devices/system/cpu/cpu0/";
  return access((std::string(kCpu) + "topology").c_str(), R_OK) == 0 &&
         access((std::string(kCpu) + "cache").c_str(), R_OK) == 0;
}

Result<Topology> Load(const char* synthetic) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0)
    return SystemError(Code::kResource, errno, "cannot make a topology");
  Topology topology(raw);
  if (synthetic != nullptr && hwloc_topology_set_synthetic(raw, synthetic) != 0)
    return Error(Code::kInvalid, "\"%s\" describes no topology", synthetic);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  if (synthetic == nullptr && KernelTellsAll())
    hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
  if (hwloc_topology_load(raw) != 0)
    return SystemError(Code::kUnsupported, errno, "cannot find out the machine's topology");
  return topology;
}

}  // namespace

Result<Topology> LoadTopology() {
  // Plug-ins would look for graphics and PCI devices, which takes longer than all the rest.
  setenv("HWLOC_PLUGINS_PATH", "/none", 0);
  return Load(nullptr);
}

Result<Topology> SyntheticTopology(const std::string& description) {
  return Load(description.c_str());
}

CpuSet AllowedCpus(hwloc_topology_t topology) {
  CpuSet allowed(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology)));
  const CpuSet bound(hwloc_bitmap_alloc());
  if (hwloc_topology_is_thissystem(topology) != 0 &&
      hwloc_get_cpubind(topology, bound.get(), HWLOC_CPUBIND_THREAD) == 0 &&
      hwloc_bitmap_intersects(bound.get(), allowed.get()) != 0)
    hwloc_bitmap_and(allowed.get(), allowed.get(), bound.get());
  return allowed;
}

std::string ListOf(const CpuSet& set) {
  char* text = nullptr;
  if (hwloc_bitmap_list_asprintf(&text, set.get()) < 0) return {};
  std::string list = text;
  free(text);
  return list;
}

CpuSet CpuSetOf(const std::string& list) {
  CpuSet set(hwloc_bitmap_alloc());
  if (list.find_first_not_of("0123456789,-") != std::string::npos ||
      hwloc_bitmap_list_sscanf(set.get(), list.c_str()) != 0)
    hwloc_bitmap_zero(set.get());
  return set;
}

}  // namespace lamina::launcher
