// SPDX-License-Identifier: BSD-3-Clause
#include "transports/conformance/configurations.h"

#include <utility>

#include "runtime/base/node_memory.h"
#include "transports/self/self_transport.h"
#include "transports/shm/shm_transport.h"
#include "transports/ucx/ucx_transport.h"

namespace lamina::conformance {

namespace {

// This is the only network that stays. Others come and go with virtual hosts and containers, and
// UCX prefers a fast bridge.
constexpr const char* kLoopback = "transport.ucx.net_devices=lo";

Configuration Self(std::string name, std::vector<std::string> params) {
  Configuration it;
  it.name = std::move(name);
  it.describe = self::Describe;
  it.params = std::move(params);
  it.other_processes = false;
  it.get = true;
  return it;
}

Configuration Shm(std::string name, std::vector<std::string> params, bool get) {
  Configuration it;
  it.name = std::move(name);
  it.describe = shm::Describe;
  it.params = std::move(params);
  it.get = get;
  return it;
}

// The processes share memory as they do under mpiexec, which makes it before it starts the ranks.
Configuration WithNodeMemory(Configuration it) {
  Result<int> made = MakeNodeMemory("conformance");
  if (made.ok()) it.node_memory = *made;
  return it;
}

Configuration Ucx(std::string name, std::vector<std::string> params) {
  Configuration it;
  it.name = std::move(name);
  it.describe = ucx::Describe;
  it.params = std::move(params);
  it.zero_copy = true;
  it.descriptor_sleep = true;
  it.unsupported = {
      {"ABellThatWasArmedRings", "a frame is on its way until its sender progresses"},
      {"ConnectingToTheDeadFails", "UCX connects when the first frame is sent; Lost() follows"},
  };
  return it;
}

// Windows would use it, whatever there is.
Configuration WithMemory(Configuration it) {
  it.params.push_back("transport.ucx.one_sided=on");
  it.one_sided = true;
  return it;
}

}  // namespace

std::vector<Configuration> AllConfigurations() {
  std::vector<Configuration> all = {
      Self("self", {}),
      Self("self_tiny_queue", {"transport.self.queue_bytes=2048"}),
      WithNodeMemory(Shm("shm", {"transport.shm.fence=sleeper"}, true)),
      Shm("shm_together", {"transport.shm.joint_bytes_min=4096"}, true),
      Shm("shm_tiny_rings", {"transport.shm.ring_cells=2", "transport.shm.area_bytes=512"}, true),
      Shm("shm_no_single_copy", {"transport.shm.single_copy=never"}, false),
      Shm("shm_descriptor_sleep", {"transport.shm.fence=sleeper"}, true),
      Shm("shm_sender_fences", {"transport.shm.fence=sender"}, true),
      WithMemory(Ucx("ucx_tcp", {"transport.ucx.tls=tcp", kLoopback})),
      WithMemory(Ucx("ucx_shm", {"transport.ucx.tls=sm"})),
      Ucx("ucx_tcp_few_sends", {"transport.ucx.tls=tcp", "transport.ucx.network=127.0.0.0/8",
                                "transport.ucx.sends_max=16", "transport.ucx.large_sends_max=1"}),
  };
  for (Configuration& it : all) {
    if (it.name == "shm_descriptor_sleep") it.descriptor_sleep = true;
    if (it.name != "ucx_shm") continue;
    for (const char* test :
         {"ASenderNoticesThatItsPeerWasKilled", "WhoIsKilledOverAParcelIsNoticed",
          "ASleeperNoticesThatItsPeerWasKilledAndGetsItsLastFrames"})
      it.unsupported.push_back({test, "no shared memory of UCX 1.13 notices a death"});
  }
  return all;
}

std::vector<Configuration> ConfigurationsBetweenProcesses() {
  std::vector<Configuration> some;
  for (Configuration& it : AllConfigurations())
    if (it.other_processes) some.push_back(std::move(it));
  return some;
}

}  // namespace lamina::conformance
