// SPDX-License-Identifier: BSD-3-Clause
// Hints of files: which are honoured, and what they are set to (MPI-5.0, section 14.2.8). All other
// keys and bad values are ignored and not told, because MPI_File_get_info tells what is in use.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "runtime/core/info.h"

namespace lamina::io {

// Whether and how an access may touch what lies between its pieces.
struct Sieving {
  bool reads = true, writes = true;
  // So much is read, or read and written back, at once.
  std::int64_t read_window_bytes = 0, write_window_bytes = 0;
};

class Hints {
 public:
  Hints();
  // Takes what `info` names and this file may still change; `info` may be null. `when_made` is true
  // while the file is opened.
  void Take(const core::Info* info, bool when_made);
  // Lists every honoured hint with its value in force.
  void List(core::Info* info) const;
  const std::string& Get(const std::string& key) const;
  // The number that a hint with one is set to.
  std::int64_t bytes(const std::string& key) const;
  // The permissions of a file that is made, before the process's mask.
  unsigned permissions() const;
  // Every access asks this, so it is found when the hints are taken.
  const Sieving& sieving() const { return sieving_; }

 private:
  void FindSieving();

  std::map<std::string, std::string> values_;
  Sieving sieving_;
};

}  // namespace lamina::io
