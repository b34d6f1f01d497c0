// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/message_pool.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "runtime/base/check.h"
#include "runtime/p2p/tuning.h"

namespace lamina::p2p {

MessagePool::~MessagePool() {
  while (first_ != nullptr) std::free(std::exchange(first_, first_->links[0].next));
}

// Only the last one given back is looked at, because its lines are still in the cache.
Message* MessagePool::Take(std::size_t payload_bytes) {
  Message* message = first_;
  if (message != nullptr) {
    first_ = message->links[0].next;
    --size_;
    message->kind = core::Kind::kMessage;
    if (message->room >= payload_bytes) return message;
    std::free(message);
  }
  const std::size_t room = std::max(payload_bytes, kMessageRoomBytesMin);
  void* const memory = std::malloc(sizeof(Message) + room);
  CHECK(memory != nullptr);
  message = new (memory) Message;
  message->room = static_cast<std::uint32_t>(room);
  return message;
}

void MessagePool::Give(Message* message) {
  message->kind = core::Kind::kFreed;
  if (size_ >= kPooledMessagesMax || message->room > kPooledRoomBytesMax) return std::free(message);
  message->links[0].next = first_;
  first_ = message;
  ++size_;
}

}  // namespace lamina::p2p
