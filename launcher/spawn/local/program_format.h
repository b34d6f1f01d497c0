// SPDX-License-Identifier: BSD-3-Clause
// Says what a file is that the kernel refuses to execute (ENOEXEC).
#pragma once

#include <string>
#include <string_view>

namespace lamina::launcher::local {

// `head` is the beginning of the file and `machine` this node's as uname() has it. Returns why it
// cannot run here, like "it is an ELF program for aarch64; this node is x86_64"; "" if it is a
// text, which every shell runs as a script. Pure.
std::string WhyNoProgram(std::string_view head, std::string_view machine);

// The same for the file at `path` on this node. A file that cannot be read counts as a text.
std::string WhyNoProgram(const std::string& path);

}  // namespace lamina::launcher::local
