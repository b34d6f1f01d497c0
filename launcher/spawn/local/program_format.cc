// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/spawn/local/program_format.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/base/text.h"

namespace lamina::launcher::local {
namespace {

constexpr std::size_t kHeadBytes = 256;
// Both fields lie at the same place in the headers of 32 and 64 bits.
constexpr std::size_t kTypeAt = offsetof(Elf64_Ehdr, e_type);
constexpr std::size_t kMachineAt = offsetof(Elf64_Ehdr, e_machine);

// Returns the name as uname() has it, "" if it is not known here.
std::string MachineName(unsigned machine, bool wide, bool little) {
  switch (machine) {
    case EM_X86_64:
      return wide ? "x86_64" : "x32";
    case EM_386:
      return "i386";
    case EM_AARCH64:
      return "aarch64";
    case EM_ARM:
      return "arm";
    case EM_PPC64:
      return little ? "ppc64le" : "ppc64";
    case EM_PPC:
      return "ppc";
    case EM_RISCV:
      return wide ? "riscv64" : "riscv32";
    case EM_S390:
      return wide ? "s390x" : "s390";
    case EM_MIPS:
      return wide ? "mips64" : "mips";
    case EM_SPARCV9:
      return "sparc64";
    case EM_IA_64:
      return "ia64";
    case 258:  // EM_LOONGARCH, which older headers lack
      return "loongarch64";
    default:
      return "";
  }
}

std::string WhyNoElf(std::string_view head, std::string_view machine) {
  if (head.size() < kMachineAt + 2) return "it is an ELF program that is cut off";
  const bool little = head[EI_DATA] != ELFDATA2MSB;
  const auto number = [head, little](std::size_t at) {
    const auto low = static_cast<unsigned char>(head[little ? at : at + 1]);
    const auto high = static_cast<unsigned char>(head[little ? at + 1 : at]);
    return unsigned{low} + 256u * high;
  };
  const std::string its = MachineName(number(kMachineAt), head[EI_CLASS] == ELFCLASS64, little);
  if (its != machine)
    return Format("it is an ELF program for %s; this node is %s",
                  its.empty() ? Format("machine %u", number(kMachineAt)).c_str() : its.c_str(),
                  std::string(machine).c_str());
  if (number(kTypeAt) == ET_REL) return "it is an ELF object file, which is not linked yet";
  if (number(kTypeAt) == ET_CORE) return "it is a core file";
  return "it is a damaged ELF program";
}

}  // namespace

std::string WhyNoProgram(std::string_view head, std::string_view machine) {
  if (head.starts_with(std::string_view(ELFMAG, SELFMAG))) return WhyNoElf(head, machine);
  for (const auto& [magic, what] :
       {std::pair<std::string_view, const char*>{"\xcf\xfa\xed\xfe", "a program for macOS"},
        {"\xca\xfe\xba\xbe", "a program for macOS or a Java class"},
        {"!<arch>\n", "an archive of object files"}})
    if (head.starts_with(magic)) return std::string("it is ") + what;
  if (head.find('\0') == std::string_view::npos) return "";
  return head.starts_with("MZ") ? "it is a program for Windows"
                                : "it is neither a program for this node nor a script";
}

std::string WhyNoProgram(const std::string& path) {
  char head[kHeadBytes];
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "";
  const ssize_t bytes = read(fd, head, sizeof head);
  close(fd);
  utsname node{};
  if (bytes <= 0 || uname(&node) != 0) return "";
  return WhyNoProgram(std::string_view(head, static_cast<std::size_t>(bytes)), node.machine);
}

}  // namespace lamina::launcher::local
