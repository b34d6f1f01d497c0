// SPDX-License-Identifier: BSD-3-Clause
#include "transports/shm/shm_transport.h"

#include <unistd.h>

#include "runtime/base/log.h"
#include "transports/shm/local_transport.h"
#include "transports/shm/params.h"

namespace lamina::shm {

namespace {

Status Load(const param::Settings& settings, Params* params) {
  if (Status status = param::Load(settings, kFields, params); !status.ok()) return status;
  if ((params->ring_cells & (params->ring_cells - 1)) != 0)
    return Error(Code::kInvalid, "transport.shm.ring_cells is %u, must be a power of two",
                 params->ring_cells);
  if (params->area_bytes % kLineBytes != 0)
    return Error(Code::kInvalid, "transport.shm.area_bytes is %u, must be a multiple of %zu",
                 params->area_bytes, kLineBytes);
  return {};
}

Status Check(const param::Settings& settings) {
  Params params;
  return Load(settings, &params);
}

component::Offer Query(const transport::Context&) {
  if (access("/proc/self/fd", X_OK) != 0)
    return {-1, "/proc is not mounted, so peers could not open this process's segment"};
  return {80, "shared memory (memfd) to processes on this node"};
}

Result<std::unique_ptr<transport::Transport>> Make(const transport::Context& context) {
  Params params;
  if (Status status = Load(*context.settings, &params); !status.ok()) return status;
  auto made = LocalTransport::Create(params, context);
  if (!made.ok()) return std::move(made).status();
  return std::unique_ptr<transport::Transport>(*std::move(made));
}

std::vector<param::Row> Rows(const param::Settings& settings) {
  return param::Rows<Params>(settings, kFields);
}

}  // namespace

transport::Component Describe() {
  return {{"shm", "1.0.0", "built in"}, Query, Make, Rows, Check, {transport::Reach::kNode, false}};
}

}  // namespace lamina::shm
