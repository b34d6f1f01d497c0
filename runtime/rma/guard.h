// SPDX-License-Identifier: BSD-3-Clause
// Which of its own memory this process can read and write, so that an access that others ask for is
// an error of theirs where the application's memory does not allow it, and not the end of this
// process.
//
// What the kernel says is kept, and asked for once more where it says no.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace lamina::rma {

enum class Right : std::uint8_t { kRead, kWrite };

class Guard {
 public:
  // Where the kernel cannot be asked, everything is allowed.
  bool Allows(const void* address, std::size_t bytes, Right right);
  // Memory may have become something else.
  void Forget() { readable_.clear(), writable_.clear(); }

  // Takes what /proc/PID/maps says.
  void Take(std::string_view maps);

 private:
  struct Range {
    std::uint64_t begin, end;
  };
  bool Holds(std::uint64_t begin, std::uint64_t end, Right right) const;

  std::vector<Range> readable_;  // sorted; neighbours are one
  std::vector<Range> writable_;
};

}  // namespace lamina::rma
