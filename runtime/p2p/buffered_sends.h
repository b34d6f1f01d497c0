// SPDX-License-Identifier: BSD-3-Clause
// One attached buffer and the messages that still leave from it; see buffered.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>

#include "runtime/core/request.h"
#include "runtime/p2p/p2p.h"

namespace lamina::p2p {

class BufferedSends {
 public:
  int Attach(void* address, std::int64_t bytes);
  void Detach(void** address, std::int64_t* bytes);
  int Send(const Envelope& to, const Buffer& data);
  void Flush();

 private:
  struct Parcel {
    std::byte* data;
    std::int64_t bytes;
    core::Request* request;
  };
  std::byte* Reserve(std::int64_t bytes, std::list<Parcel>::iterator* place);
  void Reclaim();

  std::list<Parcel> parcels_;  // by address, unless automatic
  std::byte* address_ = nullptr;
  std::int64_t bytes_ = 0;
  bool automatic_ = false;
};

}  // namespace lamina::p2p
