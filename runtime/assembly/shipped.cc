// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/assembly/shipped.h"

#include <dlfcn.h>

#include <algorithm>
#include <string>

#include "collectives/basic/basic.h"
#include "collectives/board/node_collectives.h"
#include "collectives/hierarchical/hierarchical.h"
#include "collectives/plugin/plugin.h"
#include "runtime/base/check.h"
#include "runtime/base/environment.h"
#include "transports/self/self_transport.h"
#include "transports/shm/shm_transport.h"
#include "transports/ucx/ucx_transport.h"

namespace lamina::assembly {
namespace {

// Returns "/usr/local" if this library is /usr/local/lib/libmpi_abi.so.1, and "" if it cannot tell.
std::string Prefix() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&ShippedTransports), &info) == 0) return {};
  std::string path = info.dli_fname;
  for (int level = 0; level < 2; ++level) path.resize(std::min(path.size(), path.rfind('/')));
  return path.starts_with('/') ? path : std::string();
}

}  // namespace

transport::Registry ShippedTransports() {
  transport::Registry registry;
  for (auto describe : {self::Describe, shm::Describe, ucx::Describe})
    CHECK(registry.Add(describe()).ok());
  return registry;
}

collective::Registry ShippedCollectives() {
  collective::Registry registry;
  for (auto describe : {collective::basic::Describe, collective::hierarchical::Describe,
                        collective::board::Describe})
    CHECK(registry.Add(describe()).ok());
  return registry;
}

collective::Registry AllCollectives(std::vector<component::Refusal>* refused) {
  collective::Registry registry = ShippedCollectives();
  std::vector<component::Refusal> unusable = collective::AddPlugins(
      component::PluginDirectories(Environment::OfThisProcess(), Prefix()), &registry);
  if (refused != nullptr) refused->insert(refused->end(), unusable.begin(), unusable.end());
  return registry;
}

}  // namespace lamina::assembly
