// SPDX-License-Identifier: BSD-3-Clause
// Arguments and environments as execve() takes them.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace lamina {

// Returns pointers to the words, then to more words, and a null. They hold as long as the words.
inline std::vector<char*> Pointers(std::span<const std::string> words,
                                   std::span<const std::string> more = {}) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + more.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& word : more) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace lamina
