// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/plan/mapping.h"

namespace lamina::launcher {

const char* Name(MapBy map_by) {
  switch (map_by) {
    case MapBy::kSlot:
      return "slot";
    case MapBy::kNode:
      return "node";
    case MapBy::kSocket:
      return "socket";
    case MapBy::kNuma:
      return "numa";
    case MapBy::kL3cache:
      return "l3cache";
    case MapBy::kCore:
      return "core";
    case MapBy::kHwthread:
      return "hwthread";
    case MapBy::kSeq:
      return "seq";
    case MapBy::kRankfile:
      return "rankfile";
  }
  return "?";
}

const char* Name(BindTo bind_to) {
  switch (bind_to) {
    case BindTo::kDefault:
      return "default";
    case BindTo::kNone:
      return "none";
    case BindTo::kHwthread:
      return "hwthread";
    case BindTo::kCore:
      return "core";
    case BindTo::kL3cache:
      return "l3cache";
    case BindTo::kNuma:
      return "numa";
    case BindTo::kSocket:
      return "socket";
  }
  return "?";
}

BindTo ObjectOf(MapBy map_by) {
  switch (map_by) {
    case MapBy::kSocket:
      return BindTo::kSocket;
    case MapBy::kNuma:
      return BindTo::kNuma;
    case MapBy::kL3cache:
      return BindTo::kL3cache;
    case MapBy::kCore:
      return BindTo::kCore;
    case MapBy::kHwthread:
      return BindTo::kHwthread;
    default:
      return BindTo::kNone;
  }
}

}  // namespace lamina::launcher
