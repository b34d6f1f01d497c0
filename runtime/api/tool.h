// SPDX-License-Identifier: BSD-3-Clause
// The functions of the tool interface share this (MPI-5.0, section 15.3). They return their errors
// and never call an error handler, and they work before MPI_Init and after MPI_Finalize.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "runtime/api/api.h"
#include "runtime/trace/category.h"
#include "runtime/trace/control.h"
#include "runtime/trace/performance.h"

// This stands at the top of every function but MPI_T_init_thread: it leaves unless the interface is
// initialised, then holds its lock.
#define TOOL_CALL()                        \
  const ::lamina::api::ToolCall tool_call; \
  if (::lamina::api::tool == nullptr || !::lamina::api::tool->up()) return MPI_T_ERR_NOT_INITIALIZED

namespace lamina::api {

struct ControlHandle {
  const trace::ControlVariable* variable;
};

// This is made when the interface is first initialised, and kept, because indices and names never
// change.
struct Tool {
  explicit Tool(const std::vector<component::ListedFramework>& tables);
  int initialized = 0;  // how often, less how often finalised
  const std::vector<trace::ControlVariable> controls;
  const std::vector<trace::Category> categories;
  std::vector<std::unique_ptr<ControlHandle>> control_handles;
  trace::Performances performances;

  bool up() const { return initialized > 0; }
  // Returns null if it is none.
  const trace::Enumeration* FindEnumeration(MPI_T_enum handle) const;
};
extern Tool* tool;
extern std::mutex tool_lock;

// The library lock is taken first, if it is needed at all, then the tools' own: a callback of an
// event runs under the library lock and may come back here.
class ToolCall {
 public:
  ToolCall() : own_(tool_lock) {}
  ToolCall(const ToolCall&) = delete;
  ToolCall& operator=(const ToolCall&) = delete;

 private:
  const core::Guard library_;
  const std::lock_guard<std::mutex> own_;
};

// Returns how much there is of something in the library now. The library lock is held.
std::uint64_t ReadGauge(trace::Gauge gauge, std::uint64_t context);

// Gives a text as section 15.3.3 says: cut to *length with its end mark if there is a buffer, and
// *length becomes what the whole text needs. It does nothing if `length` is null.
void GiveText(std::string_view text, char* buffer, int* length);

// Sets an output argument, which may be null.
template <class T>
void Give(T* argument, const T& value) {
  if (argument != nullptr) *argument = value;
}

inline MPI_T_enum HandleOf(const trace::Enumeration* enumeration) {
  return reinterpret_cast<MPI_T_enum>(const_cast<trace::Enumeration*>(enumeration));
}

// Returns the element at `index`, or null if there is none.
template <class List>
auto At(const List& list, int index) {
  return index >= 0 && static_cast<std::size_t>(index) < list.size()
             ? &list[static_cast<std::size_t>(index)]
             : nullptr;
}

}  // namespace lamina::api
