// SPDX-License-Identifier: BSD-3-Clause
// A Template is a command with holes for the host and what to run there. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/plan/plan.h"
#include "runtime/base/status.h"

namespace lamina::launcher::exec {

// It is split into words as a shell does it: blanks separate, 'single' and "double" quotes keep
// together. {host}, {user} and {port} are filled in; {command} is what to run as a single word for
// a shell; without it, the words of the command are appended.
class Template {
 public:
  // kInvalid means that there is no {host}, or a quote that does not end.
  static Result<Template> Parse(std::string_view text);
  std::vector<std::string> Fill(const Host& host, std::span<const std::string> command) const;

 private:
  std::vector<std::string> words_;
};

}  // namespace lamina::launcher::exec
