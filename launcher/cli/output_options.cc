// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/output_options.h"

#include <cstdint>
#include <optional>
#include <string>

#include "launcher/plan/output_pattern.h"
#include "runtime/base/text.h"

namespace lamina::launcher {

Status TagOutput(Draft& draft, std::string_view) {
  draft.line.options.tag_output = true;
  return {};
}

Status TimestampOutput(Draft& draft, std::string_view) {
  draft.line.options.timestamp_output = true;
  return {};
}

Status OutputDirectory(Draft& draft, std::string_view value) {
  if (value.empty()) return Error(Code::kInvalid, "no directory named");
  // Open MPI has these words here, and nobody wants a directory of such a name.
  if (value == "tag" || value == "timestamp")
    return Error(Code::kInvalid, "use --%s-output; a directory of this name is ./%s",
                 std::string(value).c_str(), std::string(value).c_str());
  if (value.starts_with("dir=") || value.starts_with("file="))
    return Error(Code::kInvalid, "name the directory alone; one of this name is ./%s",
                 std::string(value).c_str());
  // srun has the name of a file here, with patterns of its own.
  for (const char* pattern : {"%t", "%n", "%N", "%j", "%J", "%s"})
    if (value.find(pattern) != value.npos)
      return Error(Code::kInvalid,
                   "this is a directory; for files use --outfile-pattern, where %%r is the rank");
  draft.line.options.out_pattern = LiteralPattern(value) + "/rank.%r.out";
  draft.line.options.err_pattern = LiteralPattern(value) + "/rank.%r.err";
  return {};
}

Status OutputPattern(Draft& draft, std::string_view value) {
  draft.line.options.out_pattern = value;
  return CheckPattern(value);
}

Status ErrorPattern(Draft& draft, std::string_view value) {
  draft.line.options.err_pattern = value;
  return CheckPattern(value);
}

Status MergeErrors(Draft& draft, std::string_view) {
  draft.line.options.merge_errors = true;
  return {};
}

Status Stdin(Draft& draft, std::string_view value) {
  RunOptions& options = draft.line.options;
  if (value == "none") {
    options.stdin_to = StdinTo::kNone;
  } else if (value == "all") {
    options.stdin_to = StdinTo::kAll;
  } else {
    const std::optional<std::int64_t> rank = ParseInteger(value);
    if (!rank || *rank < 0 || *rank > INT32_MAX)
      return Error(Code::kInvalid, "not a rank, \"all\" or \"none\"");
    options.stdin_to = StdinTo::kRank;
    options.stdin_rank = static_cast<std::uint32_t>(*rank);
  }
  return {};
}

}  // namespace lamina::launcher
