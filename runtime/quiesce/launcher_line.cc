// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/quiesce/launcher_line.h"

#include <climits>
#include <string_view>

#include "runtime/base/checkpoint_word.h"
#include "runtime/base/text.h"
#include "runtime/quiesce/pipe.h"
#include "runtime/quiesce/tuning.h"

namespace lamina::quiesce {
namespace {

Status Send(int pipe, const CheckpointWord& word) {
  return WriteToPipe(pipe, {reinterpret_cast<const char*>(&word), sizeof word});
}

}  // namespace

std::optional<LauncherLine> LauncherLine::Find(const Environment& environment) {
  const std::optional<std::string> value = environment.Get(kCheckpointVariable);
  if (!value) return std::nullopt;
  const std::string_view text = *value;
  const std::size_t first = text.find(':');
  const std::size_t second = first == text.npos ? first : text.find(':', first + 1);
  if (second == text.npos) return std::nullopt;
  LauncherLine line;
  line.orders_ = static_cast<int>(ParseInteger(text.substr(0, first)).value_or(-1));
  line.reports_ =
      static_cast<int>(ParseInteger(text.substr(first + 1, second - first - 1)).value_or(-1));
  line.restored_ = std::string(text.substr(second + 1));
  return line;
}

Result<std::string> LauncherLine::AskForFolder() {
  if (Status status = Send(reports_, {CheckpointWord::kTogether, 0, 0}); !status.ok())
    return status;
  CheckpointWord order;
  if (Status status = Receive(&order, sizeof order); !status.ok()) return status;
  if (order.kind != CheckpointWord::kSave || order.bytes_behind > PATH_MAX)
    return Error(Code::kUnsupported, "the launcher cannot save the job now");
  epoch_ = order.epoch;
  std::string folder(order.bytes_behind, '\0');
  if (Status status = Receive(folder.data(), folder.size()); !status.ok()) return status;
  return folder;
}

// An answer that comes too late would be taken for that to a later question, so nothing is asked
// any more.
Status LauncherLine::Receive(void* data, std::size_t bytes) {
  Status status = ReadFromPipe(orders_, data, bytes, kAnswerMs);
  if (!status.ok()) orders_ = -1;
  return status;
}

Status LauncherLine::Tell(bool all_saved) {
  return Send(reports_,
              {all_saved ? CheckpointWord::kSaved : CheckpointWord::kNotSaved, epoch_, 0});
}

}  // namespace lamina::quiesce
