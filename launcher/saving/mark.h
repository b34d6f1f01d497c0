// SPDX-License-Identifier: BSD-3-Clause
// A Mark tells which hosts have one directory under the same path: each of them leaves it there
// under the same name, which nobody else uses, and finds the number of the one that was first.
//
// Ownership: the one that was first removes it. It must live until all others have come.
// Threads:   one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "runtime/base/descriptor.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

class Mark {
 public:
  // Returns a new name for one.
  static Result<std::string> NewName();
  // Leaves it in `directory`, which is borrowed until this returns.
  static Result<std::unique_ptr<Mark>> Leave(int directory, const std::string& name,
                                             std::uint32_t host);
  ~Mark();
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;

  std::uint32_t first() const { return first_; }

 private:
  Mark(Descriptor directory, std::string name)
      : directory_(std::move(directory)), name_(std::move(name)) {}

  const Descriptor directory_;
  const std::string name_;
  std::uint32_t first_ = 0;
  bool own_ = false;
};

}  // namespace lamina::launcher
