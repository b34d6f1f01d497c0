// SPDX-License-Identifier: BSD-3-Clause
// The algorithms over point-to-point messages. Each is one file in the folder of its operation.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

extern const Algorithm kBarrierDissemination;
extern const Algorithm kBarrierLinear;
extern const Algorithm kBarrierTree;

// The buffer is bytes on every rank: datatypes may differ between ranks, so only bytes are
// positions that all agree on. If the buffer is not bytes (Call::uncut), an algorithm that cuts it
// does not fit.
extern const Algorithm kBcastBinomial;
extern const Algorithm kBcastChain;
extern const Algorithm kBcastKnomial;
extern const Algorithm kBcastLinear;
extern const Algorithm kBcastScatterAllgather;

extern const Algorithm kGatherBinomial;
extern const Algorithm kGatherLinear;
extern const Algorithm kGathervLinear;

extern const Algorithm kScatterBinomial;
extern const Algorithm kScatterLinear;
extern const Algorithm kScattervLinear;

extern const Algorithm kAllgatherBruck;
extern const Algorithm kAllgatherGatherBcast;
extern const Algorithm kAllgatherNeighborExchange;
extern const Algorithm kAllgatherRecursiveDoubling;
extern const Algorithm kAllgatherRing;
extern const Algorithm kAllgathervLinear;
extern const Algorithm kAllgathervRing;

extern const Algorithm kAlltoallBruck;
extern const Algorithm kAlltoallInPlace;
extern const Algorithm kAlltoallPairwise;
extern const Algorithm kAlltoallWindowed;
extern const Algorithm kAlltoallvInPlace;
extern const Algorithm kAlltoallvPairwise;
extern const Algorithm kAlltoallvWindowed;
// Positions are bytes here, and each block has its own datatype.
extern const Algorithm kAlltoallwInPlace;
extern const Algorithm kAlltoallwWindowed;

extern const Algorithm kNeighborAllgatherDirect;
extern const Algorithm kNeighborAllgathervDirect;
extern const Algorithm kNeighborAlltoallDirect;
extern const Algorithm kNeighborAlltoallvDirect;
extern const Algorithm kNeighborAlltoallwDirect;

extern const Algorithm kReduceBinomial;
extern const Algorithm kReduceInOrder;
extern const Algorithm kReduceLinear;
extern const Algorithm kReduceRabenseifner;

// All of these give identical bits on all ranks.
extern const Algorithm kAllreduceLinear;
extern const Algorithm kAllreduceRabenseifner;
extern const Algorithm kAllreduceRecursiveDoubling;
extern const Algorithm kAllreduceReduceBcast;
extern const Algorithm kAllreduceRing;

extern const Algorithm kReduceScatterDirect;
extern const Algorithm kReduceScatterHalving;
extern const Algorithm kReduceScatterPairwise;
extern const Algorithm kReduceScatterRing;
extern const Algorithm kReduceScatterBlockDirect;
extern const Algorithm kReduceScatterBlockHalving;
extern const Algorithm kReduceScatterBlockPairwise;
extern const Algorithm kReduceScatterBlockRing;

extern const Algorithm kScanDoubling;
extern const Algorithm kScanLinear;
extern const Algorithm kExscanDoubling;
extern const Algorithm kExscanLinear;

// On intercommunicators there is one for each operation.
extern const Algorithm kInterBarrierLeaders;
extern const Algorithm kInterBcastTree;
extern const Algorithm kInterGatherLinear;
extern const Algorithm kInterGathervLinear;
extern const Algorithm kInterScatterLinear;
extern const Algorithm kInterScattervLinear;
extern const Algorithm kInterAllgatherWindowed;
extern const Algorithm kInterAllgathervWindowed;
extern const Algorithm kInterAlltoallWindowed;
extern const Algorithm kInterAlltoallvWindowed;
extern const Algorithm kInterAlltoallwWindowed;
extern const Algorithm kInterReduceLeaders;
extern const Algorithm kInterAllreduceLeaders;
extern const Algorithm kInterReduceScatterLeaders;
extern const Algorithm kInterReduceScatterBlockLeaders;

}  // namespace lamina::collective
