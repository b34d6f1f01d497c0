// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/hierarchical/hierarchical.h"

#include "runtime/base/version.h"

namespace lamina::collective::hierarchical {
namespace {

constexpr const Algorithm* kAlgorithms[] = {
    &kBarrier,  &kBcast,          &kReduce,  &kAllreduce,     &kAllgather,          &kAllgatherv,
    &kAlltoall, &kGather,         &kScatter, &kReduceScatter, &kReduceScatterBlock, &kScan,
    &kExscan,   &kAllreduceSliced};

class Hierarchical final : public Collective {
 public:
  std::span<const Algorithm* const> Algorithms() const override { return kAlgorithms; }
};

component::Offer Query(const Context&) {
  return {0, "beside basic: wherever a communicator has levels and it costs less"};
}

Result<std::unique_ptr<Collective>> Make(const Context&) {
  return std::unique_ptr<Collective>(std::make_unique<Hierarchical>());
}

}  // namespace

Component Describe() { return {{"hierarchical", kVersion, "built in"}, Query, Make, nullptr}; }

}  // namespace lamina::collective::hierarchical
