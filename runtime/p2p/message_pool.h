// SPDX-License-Identifier: BSD-3-Clause
// Messages that came before their receives: where they live, and where they go when they are freed.
//
// Ownership:  owns the free messages only.
// Allocation: none while a freed message with enough room is at hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/p2p/match.h"

namespace lamina::p2p {

class MessagePool {
 public:
  MessagePool() = default;
  ~MessagePool();
  MessagePool(const MessagePool&) = delete;
  MessagePool& operator=(const MessagePool&) = delete;

  // A message with room for that much payload. Fields that the last use set are not reset.
  Message* Take(std::size_t payload_bytes);
  void Give(Message* message);

  std::uint32_t size() const { return size_; }

  // The messages that lie with a transport, or have lain there before the job came to rest.
  std::vector<Message*>& lent() { return lent_; }
  void ForgetLent(const Message* message) { std::erase(lent_, message); }

 private:
  Message* first_ = nullptr;  // linked by links[0]; the last one given back comes first
  std::uint32_t size_ = 0;
  std::vector<Message*> lent_;
};

}  // namespace lamina::p2p
