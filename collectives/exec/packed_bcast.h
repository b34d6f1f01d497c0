// SPDX-License-Identifier: BSD-3-Clause
// A broadcast as bytes. Ranks may describe the same data by different datatypes, so bytes are the
// only positions that they agree on. Data that is not contiguous is packed once at the root and
// unpacked once at each other rank, and not at every hop.
#pragma once

#include <cstddef>
#include <memory>

#include "collectives/call/invocation.h"

namespace lamina::collective {

class PackedBcast {
 public:
  // Turns a bcast into one over bytes and leaves other operations alone. False: there is not enough
  // memory.
  bool Prepare(Invocation* invocation);
  // Is called before the data goes.
  void Begin() {
    if (bytes_ != nullptr && !receives_) [[unlikely]]
      Pack();
  }
  // Is called when the data has arrived.
  void End() {
    if (bytes_ != nullptr && receives_) [[unlikely]]
      Unpack();
  }

 private:
  void Pack();
  void Unpack();

  struct Drop {
    void operator()(datatype::Datatype* type) const { datatype::Release(type); }
  };
  datatype::Buffer user_;
  std::unique_ptr<datatype::Datatype, Drop> type_;  // a reference to the type of `user_`
  bool receives_ = false;
  std::unique_ptr<std::byte[]> bytes_;  // the packed data; null if it is contiguous anyway
};

}  // namespace lamina::collective
