// SPDX-License-Identifier: BSD-3-Clause
// Makes context numbers that nobody has had: the own peer number and a count.
#pragma once

#include <cstdint>

#include "runtime/base/ids.h"

namespace lamina::p2p {

class Contexts {
 public:
  explicit Contexts(PeerId self) : self_(self) {}
  ContextId Next();

 private:
  const PeerId self_;
  std::uint32_t made_ = 0;
};

}  // namespace lamina::p2p
