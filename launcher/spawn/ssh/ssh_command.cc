// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/spawn/ssh/ssh_command.h"

#include <array>
#include <span>
#include <utility>

#include "runtime/base/text.h"

namespace lamina::launcher::ssh {
namespace {

void AddWords(std::string_view text, CommandLine* command) {
  for (const std::string_view word : Split(text, ' '))
    if (!word.empty()) command->emplace_back(word);
}

// An sshd with too many unauthenticated guests (MaxStartups) drops the connection before or while
// the versions are exchanged.
constexpr std::array kPassingSigns = {"Connection reset by", "Connection closed by",
                                      "kex_exchange_identification", "ssh_exchange_identification",
                                      "banner exchange"};
// A name server that is too busy says so at once. If none is there, ssh waits for as long as
// resolv.conf says, and so would the next attempt.
constexpr std::array kQuickSigns = {"Temporary failure in name resolution"};

// ssh gets no terminal, forwards nothing and asks no questions, because nobody could answer for
// many hosts. The user's own ssh configuration stands, ControlMaster included.
CommandLine CommandTo(const Host& host, std::span<const std::string> shepherd,
                      const Params& params) {
  CommandLine command;
  AddWords(params.command, &command);
  for (const char* word : {"-x", "-T", "-o", "BatchMode=yes", "-o"}) command.emplace_back(word);
  command.push_back(Format("ConnectTimeout=%u", params.connect_s));
  if (host.port != 0) {
    command.emplace_back("-p");
    command.push_back(std::to_string(host.port));
  }
  if (!host.user.empty()) {
    command.emplace_back("-l");
    command.push_back(host.user);
  }
  AddWords(params.options, &command);
  command.push_back(host.name);
  // The command is one word, because ssh would join several by blanks and have a shell take them
  // apart again.
  std::string words = "exec";
  for (const std::string& word : shepherd) words += " " + QuotedForShell(word);
  command.push_back(std::move(words));
  return command;
}

}  // namespace

std::string QuotedForShell(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos)
    return std::string(word);
  std::string quoted = "'";
  for (const char letter : word) quoted += letter == '\'' ? "'\\''" : std::string(1, letter);
  return quoted + "'";
}

Pipes PipesBy(Params params) {
  return {[params = std::move(params)](const Host& host, std::span<const std::string> shepherd) {
            return CommandTo(host, shepherd, params);
          },
          {kPassingSigns.begin(), kPassingSigns.end()},
          {kQuickSigns.begin(), kQuickSigns.end()},
          true};
}

}  // namespace lamina::launcher::ssh
