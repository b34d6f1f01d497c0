// SPDX-License-Identifier: BSD-3-Clause
// An MPI_Info is an ordered list of (key, value) texts (MPI-5.0, chapter 10).
#pragma once

#include <mpi.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/base/param.h"
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

// These turn thread levels into words, "MPI_THREAD_SINGLE" and so on, and back; an unknown word
// gives -1.
const char* ThreadLevelName(int level);
int ThreadLevelNamed(const std::string& name);

// Returns which of the memory kinds asked for are supported, by this library and the system, with
// their restrictors; "" asks for none in particular (MPI-5.0, section "Memory Allocation Info").
std::string SupportedMemoryKinds(const std::string& asked);

struct InfoParams {
  std::string memory_alloc_kinds = "";
};
inline constexpr std::tuple kInfoFields{param::Describe(
    "core.memory.alloc_kinds", &InfoParams::memory_alloc_kinds, "",
    "Kinds of memory that the program asks for, such as mpi,system; those it gets are in "
    "mpi_memory_alloc_kinds. The option -memory-alloc-kinds sets it.")};
// Returns those kinds of the parameter that are supported, outside of sessions. The parameter is
// read from the environment when it is first asked for.
std::string GrantedMemoryKinds();

// This holds what the Fortran layer has said about its types with MPI_Abi_set_fortran_info; it is
// null before.
extern Info* fortran_info;

// Finds MPI_INFO_ENV or one of ours; returns null for MPI_INFO_NULL and everything else.
Info* FindInfo(MPI_Info handle);

}  // namespace lamina::core
