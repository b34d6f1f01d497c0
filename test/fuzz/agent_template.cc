// SPDX-License-Identifier: BSD-3-Clause
// The template of an agent's command.
#include "launcher/spawn/exec/template.h"
#include "runtime/base/check.h"

namespace lamina::launcher {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto made = exec::Template::Parse(text);
  if (!made.ok()) {
    CHECK(!made.status().message().empty());
    return 0;
  }
  // What is filled in is never taken for a hole: with one that is like a hole, nothing but it
  // changes.
  Host plain, odd;
  plain.name = "0123456";
  odd.name = "{user}!";
  const std::vector<std::string> command = {"mpiexec", "it's", "{host}"};
  std::vector<std::string> words = made->Fill(odd, command);
  const std::vector<std::string> expected = made->Fill(plain, command);
  CHECK(!words.empty() && words.size() == expected.size());
  for (std::size_t i = 0; i < words.size(); ++i) CHECK(words[i].size() == expected[i].size());
  return 0;
}

}  // namespace lamina::launcher
