// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/basic/basic.h"

#include "collectives/algorithms.h"
#include "collectives/select/library.h"
#include "runtime/base/version.h"

namespace lamina::collective::basic {
namespace {

// If two cost the same, the first one is taken.
// clang-format off
constexpr const Algorithm* kAlgorithms[] = {
    &kBarrierDissemination, &kBarrierLinear, &kBarrierTree,
    &kBcastBinomial, &kBcastKnomial, &kBcastLinear, &kBcastScatterAllgather, &kBcastChain,
    &kGatherBinomial, &kGatherLinear,
    &kGathervLinear,
    &kScatterBinomial, &kScatterLinear,
    &kScattervLinear,
    &kAllgatherBruck, &kAllgatherRecursiveDoubling, &kAllgatherNeighborExchange, &kAllgatherRing,
        &kAllgatherGatherBcast,
    &kAllgathervLinear, &kAllgathervRing,
    &kAlltoallBruck, &kAlltoallInPlace, &kAlltoallPairwise, &kAlltoallWindowed,
    &kAlltoallvInPlace, &kAlltoallvWindowed, &kAlltoallvPairwise,
    &kAlltoallwInPlace, &kAlltoallwWindowed,
    &kNeighborAllgatherDirect, &kNeighborAllgathervDirect,
    &kNeighborAlltoallDirect, &kNeighborAlltoallvDirect, &kNeighborAlltoallwDirect,
    &kReduceBinomial, &kReduceInOrder, &kReduceLinear, &kReduceRabenseifner,
    &kAllreduceRecursiveDoubling, &kAllreduceLinear, &kAllreduceRabenseifner,
        &kAllreduceReduceBcast, &kAllreduceRing,
    &kReduceScatterDirect, &kReduceScatterHalving, &kReduceScatterPairwise, &kReduceScatterRing,
    &kReduceScatterBlockDirect, &kReduceScatterBlockHalving, &kReduceScatterBlockPairwise,
        &kReduceScatterBlockRing,
    &kScanDoubling, &kScanLinear,
    &kExscanDoubling, &kExscanLinear,
    &kInterBarrierLeaders, &kInterBcastTree, &kInterGatherLinear, &kInterGathervLinear,
    &kInterScatterLinear, &kInterScattervLinear,
    &kInterAllgatherWindowed, &kInterAllgathervWindowed,
    &kInterAlltoallWindowed, &kInterAlltoallvWindowed, &kInterAlltoallwWindowed,
    &kInterReduceLeaders, &kInterAllreduceLeaders,
    &kInterReduceScatterLeaders, &kInterReduceScatterBlockLeaders,
};
// clang-format on

class Basic final : public Collective {
 public:
  std::span<const Algorithm* const> Algorithms() const override { return kAlgorithms; }
};

component::Offer Query(const Context&) {
  return {0, "every operation, over point-to-point messages"};
}

Result<std::unique_ptr<Collective>> Make(const Context&) {
  return std::unique_ptr<Collective>(std::make_unique<Basic>());
}

}  // namespace

std::span<const Algorithm* const> All() { return kAlgorithms; }

Component Describe() { return {{"basic", kVersion, "built in"}, Query, Make, Rows}; }

}  // namespace lamina::collective::basic
