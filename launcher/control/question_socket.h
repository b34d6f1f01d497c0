// SPDX-License-Identifier: BSD-3-Clause
// A running mpiexec can be asked about its job by its own user through an abstract socket of this
// machine, `@lamina.UID.PID`, which the kernel removes with the process. The questions and answers
// are lines of text, written down in this folder's README.
//
// Ownership: a QuestionSocket must die before its loop.
// Threads:   the event loop's.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/base/descriptor.h"

struct bufferevent;
struct event;
struct event_base;

namespace lamina::launcher::control {

// The longest question is what a rank asks to be spawned, with all its arguments.
inline constexpr std::size_t kQuestionBytesMax = 1 << 20;

class QuestionSocket {
 public:
  // Gives whole lines as the answer to one question, at once or later, from the loop, and while the
  // socket lives. "" shows the guest out.
  using Reply = std::function<void(const std::string& answer)>;
  // Takes the guest's connection over, in the place of a reply. -1: the guest has gone.
  using Keep = std::function<Descriptor()>;
  // Is told a question, which is one line without its end, from the loop.
  using Answer =
      std::function<void(std::string_view question, const Reply& reply, const Keep& keep)>;

  // Returns null if there can be no such socket, because a process of another PID namespace has
  // taken the name or descriptors are used up. A job does not fail for that.
  static std::unique_ptr<QuestionSocket> Open(event_base* loop, Answer answer);
  ~QuestionSocket();  // sends answers to their end, unless an asker does not read
  QuestionSocket(const QuestionSocket&) = delete;
  QuestionSocket& operator=(const QuestionSocket&) = delete;

 private:
  struct Guest;
  QuestionSocket() = default;
  void OnConnection();
  void OnWords(Guest* guest);
  void Give(std::uint64_t number, const std::string& answer);
  Descriptor Take(std::uint64_t number);
  void Leave(Guest* guest);

  int socket_ = -1;
  event_base* loop_ = nullptr;
  event* connecting_ = nullptr;
  Answer answer_;
  std::list<Guest> guests_;
  std::uint64_t guests_seen_ = 0;
};

}  // namespace lamina::launcher::control
