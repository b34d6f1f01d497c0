// SPDX-License-Identifier: BSD-3-Clause
// MPI_Info: an ordered list of (key, value) texts (MPI-5.0, chapter 10).
#pragma once

#include "runtime/core/object.h"

#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

namespace lamina::core {

struct Info : Object {
  static constexpr Kind kKind = Kind::kInfo;
  Info() : Object(kKind) {}
  std::vector<std::pair<std::string, std::string>> entries;

  const std::string* Find(const std::string& key) const;
  void Set(const std::string& key, std::string value);
  bool Delete(const std::string& key);
};

// MPI_INFO_ENV or one of ours; null for MPI_INFO_NULL and everything else.
Info* FindInfo(MPI_Info handle);

}  // namespace lamina::core
