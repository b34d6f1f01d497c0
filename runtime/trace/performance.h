// SPDX-License-Identifier: BSD-3-Clause
// Performance variables have names here, and this is how a handle reads one (MPI-5.0, section
// 15.3.7).
//
// The numbers themselves are counted in trace.h and never reset, so any number of handles watch one
// without disturbing each other: a handle remembers where it started and what it had when stopped.
//
// Threads: The caller holds the lock of runtime/api/tool.h.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

#include "runtime/trace/enumeration.h"
#include "runtime/trace/trace.h"

namespace lamina::trace {

// A gauge is not counted but looked at when somebody asks.
enum class Gauge : std::uint32_t {
  kCommPosted,      // receives posted on one communicator
  kCommUnexpected,  // messages waiting on one communicator
  kPeers,           // processes of the job
  kState,           // core::Life
};
// `context` belongs to the communicator that a handle is bound to; it is 0 if the handle is bound
// to none.
using ReadGauge = std::uint64_t (*)(Gauge gauge, std::uint64_t context);

struct PerformanceVariable {
  enum class Source : std::uint8_t { kCounter, kLevel, kMark, kGauge };
  const char* name;
  const char* description;
  Source source;
  std::uint32_t index;  // of a Counter, Level or Gauge
  int var_class;
  int bind = MPI_T_BIND_NO_OBJECT;
  int verbosity = MPI_T_VERBOSITY_USER_DETAIL;

  // True for a variable that runs by itself and cannot be set: it shows the thing itself, not a
  // count of what happened.
  bool continuous() const { return source == Source::kLevel || source == Source::kGauge; }
  bool readonly() const { return continuous(); }
  // True for a variable that is looked up among what belongs to a communicator, and so not beside a
  // thread that changes it.
  bool guarded() const { return bind == MPI_T_BIND_MPI_COMM; }
  MPI_Datatype datatype() const;
  const Enumeration* enumeration() const;
};

std::span<const PerformanceVariable> PerformanceVariables();

struct PerformanceSession;

// A handle reads one variable. It is linked into its session.
struct PerformanceHandle {
  const PerformanceVariable* variable;
  PerformanceSession* session;
  std::uint64_t context;
  bool started = false;
  std::uint64_t base = 0;  // of the counter when it was started
  std::uint64_t kept = 0;  // up to then; the mark of a high-water mark
  PerformanceHandle* next = nullptr;
};

struct PerformanceSession {
  PerformanceHandle* first = nullptr;
};

// This owns all sessions and their handles.
class Performances {
 public:
  explicit Performances(ReadGauge read_gauge) : read_gauge_(read_gauge) {}
  ~Performances();
  Performances(const Performances&) = delete;
  Performances& operator=(const Performances&) = delete;

  PerformanceSession* MakeSession();
  void Free(PerformanceSession* session);
  void FreeAll();
  bool Has(const PerformanceSession* session) const;

  PerformanceHandle* MakeHandle(PerformanceSession* session, const PerformanceVariable& variable,
                                std::uint64_t context);
  void Free(PerformanceHandle* handle);
  // True if it is a handle of that session.
  static bool Has(const PerformanceSession& session, const PerformanceHandle* handle);

  // These are for variables that are not continuous. A second call in a row changes nothing.
  void Start(PerformanceHandle* handle);
  void Stop(PerformanceHandle* handle);
  // Sets the variable back to the starting value of its class. Reset and Write are not for readonly
  // variables.
  void Reset(PerformanceHandle* handle);
  void Write(PerformanceHandle* handle, const void* buffer);
  void Read(const PerformanceHandle& handle, void* buffer) const;

 private:
  std::uint64_t Value(const PerformanceHandle& handle) const;
  void KeepMarks(std::uint32_t level);

  const ReadGauge read_gauge_;
  struct Node {
    PerformanceSession session;
    Node* next;
  };
  Node* sessions_ = nullptr;
};

}  // namespace lamina::trace
