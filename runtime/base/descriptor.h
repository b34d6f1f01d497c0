// SPDX-License-Identifier: BSD-3-Clause
// A file descriptor that is closed with its owner.
#pragma once

#include <unistd.h>

#include <utility>

namespace lamina {

class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }

  int value() const { return value_; }
  int Release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

}  // namespace lamina
