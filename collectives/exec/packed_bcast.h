// SPDX-License-Identifier: BSD-3-Clause
// A broadcast as bytes. Ranks may describe the same data by different datatypes, so bytes are the
// only positions they agree on; data that is not contiguous is packed once at the root and unpacked
// once at the others instead of at every hop.
#pragma once

#include <cstddef>
#include <memory>

#include "collectives/call/invocation.h"

namespace lamina::collective {

class PackedBcast {
 public:
  // Turns `invocation` into one over bytes; other operations are left alone. False: no memory.
  bool Prepare(Invocation* invocation);
  // The data is to go.
  void Begin() {
    if (bytes_ != nullptr && !receives_) [[unlikely]]
      Pack();
  }
  // It has arrived.
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
  std::unique_ptr<std::byte[]> bytes_;  // packed; null where that is not needed
};

}  // namespace lamina::collective
