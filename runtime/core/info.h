// SPDX-License-Identifier: BSD-3-Clause
// MPI_Info: an ordered list of (key, value) texts (MPI-5.0, chapter 10).
#pragma once

#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

#include "runtime/object/object.h"

namespace lamina::core {

struct Info : Object {
  static constexpr Kind kKind = Kind::kInfo;
  Info() : Object(kKind) {}
  std::vector<std::pair<std::string, std::string>> entries;

  const std::string* Find(const std::string& key) const;
  void Set(const std::string& key, std::string value);
  bool Delete(const std::string& key);
};

// The words for thread levels, "MPI_THREAD_SINGLE" and so on; -1 for what is none.
const char* ThreadLevelName(int level);
int ThreadLevelNamed(const std::string& name);

// What is supported of the memory kinds asked for, "" for none in particular (MPI-5.0, section
// "Memory Allocation Info"): those of this library and of the system, with their restrictors.
std::string SupportedMemoryKinds(const std::string& asked);

// What the Fortran layer has said about its types, MPI_Abi_set_fortran_info; null before.
extern Info* fortran_info;

// MPI_INFO_ENV or one of ours; null for MPI_INFO_NULL and everything else.
Info* FindInfo(MPI_Info handle);

}  // namespace lamina::core
