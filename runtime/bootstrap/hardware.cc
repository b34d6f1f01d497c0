// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/bootstrap/hardware.h"

#include <dlfcn.h>
#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <vector>

namespace lamina::bootstrap {
namespace {

constexpr std::array<hwloc_obj_type_t, kHardwareTypes.size()> kTypes{
    HWLOC_OBJ_MACHINE, HWLOC_OBJ_PACKAGE, HWLOC_OBJ_DIE,  HWLOC_OBJ_NUMANODE, HWLOC_OBJ_L3CACHE,
    HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L1CACHE, HWLOC_OBJ_CORE, HWLOC_OBJ_PU};

// These are the few functions we call, found at run time.
struct Library {
  decltype(&hwloc_topology_init) init;
  decltype(&hwloc_topology_load) load;
  decltype(&hwloc_topology_destroy) destroy;
  decltype(&hwloc_get_type_depth) depth;
  decltype(&hwloc_get_nbobjs_by_depth) count;
  decltype(&hwloc_get_obj_by_depth) object;
  decltype(&hwloc_bitmap_isset) has;
};

template <class Function>
bool Find(void* handle, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(handle, name));
  return *function != nullptr;
}

bool Open(Library* library) {
  void* handle = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
  return handle != nullptr && Find(handle, "hwloc_topology_init", &library->init) &&
         Find(handle, "hwloc_topology_load", &library->load) &&
         Find(handle, "hwloc_topology_destroy", &library->destroy) &&
         Find(handle, "hwloc_get_type_depth", &library->depth) &&
         Find(handle, "hwloc_get_nbobjs_by_depth", &library->count) &&
         Find(handle, "hwloc_get_obj_by_depth", &library->object) &&
         Find(handle, "hwloc_bitmap_isset", &library->has);
}

// Returns the numbers of the CPUs as the kernel counts them.
std::vector<unsigned> AllowedCpus() {
  constexpr int kCpusMax = 16384;
  cpu_set_t* set = CPU_ALLOC(kCpusMax);
  const std::size_t bytes = CPU_ALLOC_SIZE(kCpusMax);
  std::vector<unsigned> cpus;
  if (set != nullptr && sched_getaffinity(0, bytes, set) == 0)
    for (unsigned cpu = 0; cpu < kCpusMax; ++cpu)
      if (CPU_ISSET_S(cpu, bytes, set)) cpus.push_back(cpu);
  CPU_FREE(set);
  return cpus;
}

// Returns the index of the object of this type that holds all the CPUs.
std::int32_t IndexOf(const Library& library, hwloc_topology_t topology, hwloc_obj_type_t type,
                     const std::vector<unsigned>& cpus) {
  const int depth = library.depth(topology, type);
  if (depth == HWLOC_TYPE_DEPTH_UNKNOWN || depth == HWLOC_TYPE_DEPTH_MULTIPLE) return -1;
  const unsigned count = library.count(topology, depth);
  for (unsigned index = 0; index < count; ++index) {
    const hwloc_obj_t object = library.object(topology, depth, index);
    if (object != nullptr && object->cpuset != nullptr &&
        std::all_of(cpus.begin(), cpus.end(),
                    [&](unsigned cpu) { return library.has(object->cpuset, cpu) != 0; }))
      return static_cast<std::int32_t>(index);
  }
  return -1;
}

HardwarePlace Look() {
  HardwarePlace place;
  place.fill(-1);
  Library library;
  hwloc_topology_t topology;
  const std::vector<unsigned> cpus = AllowedCpus();
  if (cpus.empty() || !Open(&library) || library.init(&topology) != 0) return place;
  if (library.load(topology) == 0)
    for (std::size_t type = 0; type < kTypes.size(); ++type)
      place[type] = IndexOf(library, topology, kTypes[type], cpus);
  library.destroy(topology);
  return place;
}

}  // namespace

const HardwarePlace& PlaceOfThisProcess() {
  static const HardwarePlace place = Look();
  return place;
}

}  // namespace lamina::bootstrap
