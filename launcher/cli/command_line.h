// SPDX-License-Identifier: BSD-3-Clause
// Understands the words after `mpiexec`. Pure: it reads no environment, and a file of further words
// only through what it is handed.
//
//   mpiexec [options] [--] program [arguments] [: [options] program [arguments]]...
//
// Options end at the program's name; everything after it, up to a lone `:`, is the program's.
// Every option is one row of the table in options.cc: names, argument, topic, help, action.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/plan/place.h"
#include "launcher/plan/plan.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

struct Display {
  bool plan = false;
  bool allocation = false;
  bool environment = false;
  bool bindings = false;
};

struct Invocation {
  enum class Action { kRun, kHelp, kVersion };
  Action action = Action::kRun;
  std::string topic;  // with kHelp; "": the overview

  Request request;                     // host_file still empty: the caller reads host_file_path
  std::string host_file_path;          // "": none
  std::string default_host_file_path;  // read if hosts are named in no other way; "": none
  std::string rank_file_path;          // "": none; request.rankfile still empty too
  RunOptions options;                  // spawner still empty
  bool timeout_given = false;          // by an option, which MPIEXEC_TIMEOUT does not replace
  std::vector<std::string> settings;   // --param, in order
  std::vector<std::string> avoided;    // hosts that get no ranks, because they were lost
  std::vector<std::string> job_environment;  // -genv, for all programs: "NAME=value" or "NAME"
  // This holds the option, as it was written, by which each variable without a value was named.
  std::map<std::string, std::string> named_by;
  Display display;
  bool dry_run = false;
};

// Returns the text of a file that an option names.
using ReadText = std::function<Result<std::string>(const std::string& path)>;

// ProgramRequest::environment holds "NAME=value", "NAME" for "as it is here" or "NAME*" for all
// that begin so. The message of kInvalid is for the user as it is: option, value and what would be
// right.
Result<Invocation> ParseCommandLine(std::span<const std::string> arguments, const ReadText& read);

}  // namespace lamina::launcher
