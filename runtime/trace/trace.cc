// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/trace/trace.h"

namespace lamina::trace {

constinit Numbers numbers{.magic = Numbers::kMagic, .counters = {}, .levels = {}, .marks = {}};
constinit std::atomic<std::uint32_t> listeners[Index(EventType::kCount)]{};
constinit std::atomic<std::uint32_t> waiting_events{0};
void (*emit)(EventType type, const MessageData& data) = nullptr;
void (*deliver_waiting)() = nullptr;

}  // namespace lamina::trace
