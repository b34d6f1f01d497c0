// SPDX-License-Identifier: BSD-3-Clause
// A broadcast as bytes. Ranks may describe the same data by different datatypes, so bytes are the
// only positions they agree on; data that is not contiguous is packed once at the root and unpacked
// once at the others instead of at every hop.
#pragma once

#include <cstddef>
#include <memory>

#include "collectives/exec/invocation.h"

namespace lamina::collective {

class PackedBcast {
 public:
  // Turns `invocation` into one over bytes; other operations are left alone. False: no memory.
  bool Begin(Invocation* invocation);
  // The data has arrived.
  void End();

 private:
  struct Drop {
    void operator()(datatype::Datatype* type) const { datatype::Release(type); }
  };
  datatype::Buffer user_;
  std::unique_ptr<datatype::Datatype, Drop> type_;  // a reference to the type of `user_`
  bool receives_ = false;
  std::unique_ptr<std::byte[]> bytes_;
};

}  // namespace lamina::collective
