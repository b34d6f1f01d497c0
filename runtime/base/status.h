// SPDX-License-Identifier: BSD-3-Clause
// A Status says what became of an operation that the world outside this process can spoil.
//
// A Status is one pointer, null when all is well, so returning it costs nothing on the good path.
// The function that first knows says exactly what happened (call, object, errno text), callers add
// only what they alone know, and whoever handles it logs it, once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace lamina {

// Codes are grouped by what is lost. A code exists only if some caller acts differently on it.
enum class Code : std::uint8_t {
  kOk = 0,
  kAgain,  // back-pressure: try later; never an error, carries no message

  // Nothing is lost: the request was refused before anything was done.
  kInvalid,      // the caller's argument, option or input is wrong
  kNotFound,     // no such name, file, key or component
  kUnsupported,  // cannot be done here, by this component or on this machine
  kExists,       // the name is taken

  // This operation is lost.
  kTruncated,  // more bytes arrived than there was room for
  kCancelled,  // withdrawn before it began
  kTimeout,    // the deadline passed
  kResource,   // memory, descriptors, processes or space ran out
  kDenied,     // the operating system forbids it

  // This peer is lost.
  kPeerLost,  // the other process or its node is gone

  // This process, or the job, is lost.
  kInternal,  // a bug of ours that was caught
  kAborted,   // the job is ending
};

// Returns the code's name in lower case, "invalid", "peer lost" and so on, in static storage.
const char* Name(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // ok
  Status(Code code, std::string message)
      : state_(std::make_unique<State>(State{code, std::move(message)})) {}

  bool ok() const { return state_ == nullptr; }
  Code code() const { return ok() ? Code::kOk : state_->code; }
  // The message is empty when all is well.
  std::string_view message() const {
    return ok() ? std::string_view() : std::string_view(state_->message);
  }

  // Returns the same failure as seen by a caller: "prefix: message".
  Status Within(std::string_view prefix) &&;

 private:
  struct State {
    Code code;
    std::string message;
  };
  std::unique_ptr<State> state_;
};

// Makes a Status with a message formatted as by printf.
[[gnu::format(printf, 2, 3)]] Status Error(Code code, const char* format, ...);
// Does what Error does and appends ": " and the text of the errno value `error`.
[[gnu::format(printf, 3, 4)]] Status SystemError(Code code, int error, const char* format, ...);

// A Result holds a value, or says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: meant to convert
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: `status` must not be ok
  bool ok() const { return value_.has_value(); }
  const Status& status() const& { return status_; }
  Status&& status() && { return std::move(status_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace lamina
