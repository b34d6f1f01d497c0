// SPDX-License-Identifier: BSD-3-Clause
// Writes the timeline of a job that is traced, rank by rank, as they end.
//
// Threads: the event loop's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "launcher/plan/plan.h"
#include "launcher/spawn/spawner.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/status.h"
#include "runtime/base/trace_table.h"

namespace lamina::launcher {

class Tracing {
 public:
  // Makes the file.
  static Result<std::unique_ptr<Tracing>> Make(const Plan& plan);
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

  // Writes what a rank has recorded until its end. `hosts`: what the Job knows of their clocks.
  void Take(std::uint32_t rank, const TraceCopy& copy, std::span<const HostState> hosts);
  // Returns the line that tells the user of the file.
  Result<std::string> Finish();

 private:
  Tracing(const Plan& plan, std::string name, Descriptor file)
      : plan_(plan), name_(std::move(name)), file_(std::move(file)) {}
  void Write(const std::string& bytes);

  const Plan& plan_;
  const std::string name_;
  Descriptor file_;
  int error_ = 0;  // of the first write that failed
  std::uint64_t calls_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t clock_error_ns_ = 0;
  bool clock_unknown_ = false;
};

}  // namespace lamina::launcher
