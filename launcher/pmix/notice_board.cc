// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/pmix/notice_board.h"

namespace lamina::launcher::pmix {

bool NoticeBoard::Publish(std::string_view name, Notice notice) {
  return notices_.try_emplace(std::string(name), std::move(notice)).second;
}

std::optional<Notice> NoticeBoard::Lookup(std::string_view name) {
  const auto found = notices_.find(name);
  if (found == notices_.end()) return std::nullopt;
  Notice notice = found->second;
  if (notice.read_once) notices_.erase(found);
  return notice;
}

bool NoticeBoard::Unpublish(std::string_view name, std::uint32_t owner) {
  const auto found = notices_.find(name);
  if (found == notices_.end() || found->second.owner != owner) return false;
  notices_.erase(found);
  return true;
}

void NoticeBoard::UnpublishAllOf(std::uint32_t owner) {
  std::erase_if(notices_, [&](const auto& entry) { return entry.second.owner == owner; });
}

}  // namespace lamina::launcher::pmix
