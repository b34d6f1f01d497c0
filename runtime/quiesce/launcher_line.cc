// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/quiesce/launcher_line.h"

#include <unistd.h>

#include <cerrno>
#include <climits>
#include <string_view>

#include "runtime/base/checkpoint_word.h"
#include "runtime/base/text.h"

namespace lamina::quiesce {
namespace {

Status Send(int pipe, const CheckpointWord& word) {
  // A word is far shorter than what a pipe takes at once, so it is written whole or not at all.
  ssize_t written;
  do {
    written = write(pipe, &word, sizeof word);
  } while (written < 0 && errno == EINTR);
  if (written != sizeof word)
    return SystemError(Code::kAborted, errno, "the launcher does not listen");
  return {};
}

Status Receive(int pipe, void* data, std::size_t bytes) {
  char* into = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = read(pipe, into, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      return SystemError(Code::kAborted, got < 0 ? errno : EPIPE, "the launcher is gone");
    into += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return {};
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
  if (Status status = Receive(orders_, &order, sizeof order); !status.ok()) return status;
  if (order.kind != CheckpointWord::kSave || order.bytes_behind > PATH_MAX)
    return Error(Code::kUnsupported, "the launcher cannot save the job now");
  epoch_ = order.epoch;
  std::string folder(order.bytes_behind, '\0');
  if (Status status = Receive(orders_, folder.data(), folder.size()); !status.ok()) return status;
  return folder;
}

Status LauncherLine::Tell(bool all_saved) {
  return Send(reports_,
              {all_saved ? CheckpointWord::kSaved : CheckpointWord::kNotSaved, epoch_, 0});
}

}  // namespace lamina::quiesce
