// SPDX-License-Identifier: BSD-3-Clause
// A file that takes its name when it is whole, and is gone otherwise. Until then it lies beside its
// place, under a name of its own.
//
// What it replaces must be a regular file, or not be there; anything else, as /dev/stdout, is
// written in place.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace lamina {

class NewFile {
 public:
  // `what` it is, for errors: "the profile".
  NewFile(std::string_view what, std::string name);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  Status Open();
  // Errors are kept for Finish().
  void Write(std::string_view text);
  // Gives the file its name.
  Status Finish();

 private:
  Status Failed() const;

  const std::string what_;
  const std::string name_;
  std::string own_name_;  // "": it is written in place
  FILE* file_ = nullptr;
  int error_ = 0;  // of the first write that failed
};

// All of a file at once.
Status WriteNewFile(std::string_view what, const std::string& name, std::string_view text);

}  // namespace lamina
