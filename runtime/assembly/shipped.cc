// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/assembly/shipped.h"

#include "collectives/basic/basic.h"
#include "collectives/shared/shared.h"
#include "runtime/base/check.h"
#include "transports/self/self_transport.h"
#include "transports/shm/shm_transport.h"
#include "transports/ucx/ucx_transport.h"

namespace lamina::assembly {

transport::Registry ShippedTransports() {
  transport::Registry registry;
  for (auto describe :
       {self::Describe, shm::Describe, ucx::Describe})
    CHECK(registry.Add(describe()).ok());
  return registry;
}

collective::Registry ShippedCollectives() {
  collective::Registry registry;
  for (auto describe : {collective::basic::Describe, collective::shared::Describe})
    CHECK(registry.Add(describe()).ok());
  return registry;
}

}  // namespace lamina::assembly
