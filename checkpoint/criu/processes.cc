// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/criu/processes.h"

#include <cstddef>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "runtime/base/text.h"

namespace lamina::checkpoint::criu {

namespace fs = std::filesystem;

std::string LinkAt(const fs::path& path) {
  std::error_code error;
  const fs::path target = fs::read_symlink(path, error);
  return error ? std::string() : target.string();
}

std::string TextAt(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::vector<fs::path> EntriesOf(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    entries.push_back(at->path());
  return entries;
}

std::vector<std::string> ProcessesFrom(std::int64_t process) {
  std::vector<std::string> found = {std::to_string(process)};
  for (std::size_t at = 0; at < found.size(); ++at)
    for (const fs::path& task : EntriesOf(fs::path("/proc") / found[at] / "task")) {
      const std::string text = TextAt(task / "children");
      for (const std::string_view child : Split(Trim(text), ' '))
        if (!child.empty()) found.emplace_back(child);
    }
  return found;
}

}  // namespace lamina::checkpoint::criu
