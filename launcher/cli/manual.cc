// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/manual.h"

#include <string_view>

#include "launcher/cli/help.h"
#include "launcher/cli/options.h"
#include "runtime/base/version.h"
#include "runtime/base/status.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// As running text: backslashes and leading dots mean something to man, and '-' would be a hyphen.
std::string Escape(std::string_view text) {
  std::string escaped;
  bool line_start = true;
  for (const char letter : text) {
    if (line_start && (letter == '.' || letter == '\'')) escaped += "\\&";
    if (letter == '\\')
      escaped += "\\e";
    else if (letter == '-')
      escaped += "\\-";
    else
      escaped += letter;
    line_start = letter == '\n';
  }
  return escaped;
}

std::string Section(const std::string& topic) {
  Result<std::string> page = HelpText(topic);
  if (!page.ok()) return {};
  const std::size_t colon = page->find(": ");
  const std::size_t line = page->find('\n');
  std::string title = page->substr(colon + 2, line - colon - 2);
  for (char& letter : title)
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  std::string_view body = std::string_view(*page).substr(line + 1);
  while (body.starts_with('\n')) body.remove_prefix(1);
  return ".SH " + title + "\n.nf\n" + Escape(body) + ".fi\n";
}

constexpr const char* kCompletion =
    R"(# bash completion for mpiexec, mpirun and lamina; made from the table of options.
_lamina_mpiexec() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} i=1
  COMPREPLY=()
  if [[ ${COMP_WORDS[0]##*/} == lamina ]]; then
    if ((COMP_CWORD == 1)); then
      COMPREPLY=($(compgen -W 'run info version help' -- "$current"))
      return
    fi
    [[ ${COMP_WORDS[1]} == run ]] || return
    i=2
  fi
  # Behind the program's name the words are the program's.
  for (( ; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      @WITH_VALUE@) ((++i)) ;;
      -*) ;;
      *) compopt -o default; return ;;
    esac
  done
  case $before in
    --map-by) COMPREPLY=($(compgen -W 'slot node numa socket core hwthread' -- "$current")) ;;
    --bind-to) COMPREPLY=($(compgen -W 'none core socket numa hwthread' -- "$current")) ;;
    --display) COMPREPLY=($(compgen -W 'plan env bindings' -- "$current")) ;;
    --stdin) COMPREPLY=($(compgen -W '0 all none' -- "$current")) ;;
    --help|-h) COMPREPLY=($(compgen -W '@TOPICS@' -- "$current")) ;;
    --wdir|--wd|--chdir|--output) COMPREPLY=($(compgen -d -- "$current")) ;;
    --hostfile|--machinefile|-f) COMPREPLY=($(compgen -f -- "$current")) ;;
    @WITH_VALUE@) ;;
    *)
      if [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W '@OPTIONS@' -- "$current"))
      else
        COMPREPLY=($(compgen -c -- "$current") $(compgen -f -- "$current"))
      fi ;;
  esac
}
complete -F _lamina_mpiexec mpiexec mpirun lamina
)";

void Replace(std::string_view mark, const std::string& by, std::string* text) {
  for (std::size_t at = text->find(mark); at != std::string::npos;
       at = text->find(mark, at + by.size()))
    text->replace(at, mark.size(), by);
}

}  // namespace

std::string ManualPage() {
  std::string page = Format(
      ".TH MPIEXEC 1 \"\" \"Lamina %s\" \"User Commands\"\n"
      ".SH NAME\nmpiexec, mpirun, lamina \\- start a parallel job and wait for it\n"
      ".SH SYNOPSIS\n"
      ".B mpiexec\n[\\fIoptions\\fR] [\\-\\-] \\fIprogram\\fR [\\fIarguments\\fR]\n"
      "[: [\\fIoptions\\fR] \\fIprogram\\fR [\\fIarguments\\fR]]...\n.br\n"
      ".B lamina\nrun | info | version | help\n",
      kVersion);
  for (const std::string& topic : HelpTopics())
    if (topic != "all") page += Section(topic);
  return page + ".SH SEE ALSO\n.BR mpicc (1)\n";
}

std::string BashCompletion() {
  std::string options;
  std::string with_value;
  for (const Option& option : Options()) {
    for (const char* name : option.names) {
      if (name == nullptr) continue;
      options += (options.empty() ? "" : " ") + std::string(name);
      if (option.argument[0] != '\0')
        with_value += (with_value.empty() ? "" : "|") + std::string(name);
    }
  }
  std::string topics;
  for (const std::string& topic : HelpTopics()) topics += (topics.empty() ? "" : " ") + topic;
  std::string text = kCompletion;
  Replace("@OPTIONS@", options, &text);
  Replace("@WITH_VALUE@", with_value, &text);
  Replace("@TOPICS@", topics, &text);
  return text;
}

}  // namespace lamina::launcher
