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
  // From now on numbers are random, because peers of other jobs count too.
  void SpanJobs() { spans_jobs_ = true; }

 private:
  const PeerId self_;
  std::uint32_t made_ = 0;
  bool spans_jobs_ = false;
};

}  // namespace lamina::p2p
