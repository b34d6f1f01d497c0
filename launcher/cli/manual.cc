// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/manual.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "launcher/cli/help.h"
#include "launcher/cli/options.h"
#include "launcher/cli/subcommands.h"
#include "runtime/base/status.h"
#include "runtime/base/text.h"
#include "runtime/base/version.h"

namespace lamina::launcher {
namespace {

// Makes running text of it: backslashes and leading dots mean something to man, and '-' would be a
// hyphen.
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

// Subcommands that have a page of their own: with which options of mpiexec, by their beginnings,
// which other pages of subcommands it names, and which one of a header.
struct SubcommandPage {
  std::string_view name;
  std::string_view options;
  std::string_view others;
  std::string_view header;
};
constexpr SubcommandPage kPages[] = {
    {"checkpoint", "--checkpoint --resume --restarts", "restart", "lamina_checkpoint"},
    {"profile", "--profile", "top trace", ""},
    {"restart", "--checkpoint --resume --restarts", "checkpoint", "lamina_checkpoint"},
    {"stack", "--timeout", "why", ""},
    {"top", "", "why profile", ""},
    {"trace", "--trace", "profile", ""},
    {"why", "--timeout --hang-after", "stack top", ""},
};

std::string Upper(std::string text) {
  for (char& letter : text)
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  return text;
}

// Returns the names of all these pages, behind those that a page itself has named.
std::string SubcommandPages() {
  std::string names;
  for (const SubcommandPage& page : kPages)
    names += ",\n.BR lamina\\-" + std::string(page.name) + " (1)";
  return names + ",\n.BR lamina_checkpoint (3)\n";
}

std::string Section(const std::string& topic) {
  Result<std::string> page = HelpText(topic);
  if (!page.ok()) return {};
  const std::size_t colon = page->find(": ");
  const std::size_t line = page->find('\n');
  const std::string title = Upper(page->substr(colon + 2, line - colon - 2));
  std::string_view body = std::string_view(*page).substr(line + 1);
  while (body.starts_with('\n')) body.remove_prefix(1);
  return ".SH " + title + "\n.nf\n" + Escape(body) + ".fi\n";
}

constexpr const char* kCompletion =
    R"bash(# bash completion for mpiexec, mpirun and lamina; made from their tables of options.

# The program being completed, where it can be asked; a name as typed, ~ included.
_lamina_ask() {
  local program=${COMP_WORDS[0]/#\~/$HOME}
  if [[ ${program##*/} == lamina ]]; then
    "$program" "$@" 2> /dev/null
  elif [[ $program == */* ]]; then
    "${program%/*}/lamina" "$@" 2> /dev/null
  else
    lamina "$@" 2> /dev/null
  fi
}

# Hosts after the last comma: those of /etc/hosts and of the batch job we may be in.
_lamina_hosts() {
  local current=$1 done= names
  [[ $current == *,* ]] && done=${current%,*},
  names=$(compgen -A hostname)
  [[ -r ${PBS_NODEFILE-} ]] && names+=" $(sort -u "$PBS_NODEFILE")"
  if [[ -n ${SLURM_JOB_NODELIST-} ]]; then
    names+=" $(scontrol show hostnames "$SLURM_JOB_NODELIST" 2> /dev/null)"
  fi
  compopt -o nospace
  COMPREPLY=($(compgen -P "$done" -W "$names" -- "${current##*,}"))
}

# Completes one word of mpiexec's; $1: the first that belongs to it.
_lamina_mpiexec() {
  local i=$1 current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  local places='slot node numa socket package l3cache core hwthread'
  # Behind the program's name the words are the program's, up to a lone colon.
  for (( ; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      @WITH_VALUE@) ((++i)) ;;
      -*) ;;
      *)
        while ((i < COMP_CWORD)) && [[ ${COMP_WORDS[i]} != : ]]; do ((++i)); done
        if ((i == COMP_CWORD)); then compopt -o default; return; fi
        before= ;;
    esac
  done
  case $before in
    -H|--host|--hosts) _lamina_hosts "$current" ;;
    --param)
      compopt -o nospace
      COMPREPLY=($(compgen -S = -W "$(_lamina_ask info --names)" -- "$current")) ;;
    --map-by) COMPREPLY=($(compgen -W "$places seq ppr: rankfile= :oversubscribe" -- "$current")) ;;
    --rank-by) COMPREPLY=($(compgen -W "$places" -- "$current")) ;;
    --bind-to) COMPREPLY=($(compgen -W 'none core socket package numa l3cache hwthread default' -- \
        "$current")) ;;
    --display) COMPREPLY=($(compgen -W 'plan allocation env bindings' -- "$current")) ;;
    --initial-errhandler)
      COMPREPLY=($(compgen -W 'mpi_errors_are_fatal mpi_errors_abort mpi_errors_return' -- \
        "$current")) ;;
    --stdin) COMPREPLY=($(compgen -W '0 all none' -- "$current")) ;;
    --help|-h) COMPREPLY=($(compgen -W '@TOPICS@' -- "$current")) ;;
    --wdir|--wd|--chdir|--output|--output-filename|--path)
      COMPREPLY=($(compgen -d -- "$current")) ;;
    --hostfile|--machinefile|-f|--default-hostfile|--rankfile|-rf|--configfile|--app|--file)
      COMPREPLY=($(compgen -f -- "$current")) ;;
    -x|--env|--envlist|--genvlist) COMPREPLY=($(compgen -v -- "$current")) ;;
    @WITH_VALUE@) ;;
    *)
      if [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W '@OPTIONS@' -- "$current"))
      else
        COMPREPLY=($(compgen -c -- "$current") $(compgen -f -- "$current"))
      fi ;;
  esac
}

_lamina() {
  COMPREPLY=()
  if [[ ${COMP_WORDS[0]##*/} != lamina ]]; then
    _lamina_mpiexec 1
    return
  fi
  local current=${COMP_WORDS[COMP_CWORD]} options=
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '@COMMANDS@' -- "$current"))
    return
  fi
  case ${COMP_WORDS[1]} in
    run|check|clean|stack) _lamina_mpiexec 2; return ;;
    help) COMPREPLY=($(compgen -W '@TOPICS@' -- "$current")); return ;;
@OPTIONS_OF@  esac
  if [[ ${COMP_WORDS[COMP_CWORD-1]} == --param ]]; then
    compopt -o nospace
    COMPREPLY=($(compgen -S = -W "$(_lamina_ask info --names)" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$options --help" -- "$current"))
  fi
}
complete -F _lamina mpiexec mpirun lamina
)bash";

void Replace(std::string_view mark, const std::string& by, std::string* text) {
  for (std::size_t at = text->find(mark); at != std::string::npos;
       at = text->find(mark, at + by.size()))
    text->replace(at, mark.size(), by);
}

}  // namespace

std::string ManualPage() {
  std::string page = Format(
      ".TH MPIEXEC 1 \"\" \"Lamina %s\" \"User Commands\"\n"
      ".SH NAME\nmpiexec, mpirun \\- start a parallel job and wait for it\n"
      ".SH SYNOPSIS\n"
      ".B mpiexec\n[\\fIoptions\\fR] [\\-\\-] \\fIprogram\\fR [\\fIarguments\\fR]\n"
      "[: [\\fIoptions\\fR] \\fIprogram\\fR [\\fIarguments\\fR]]...\n",
      kVersion);
  for (const std::string& topic : HelpTopics())
    if (topic != "all") page += Section(topic);
  return page + ".SH SEE ALSO\n.BR lamina (1),\n.BR mpicc (1)" + SubcommandPages();
}

std::string LaminaManualPage() {
  std::string page = Format(
      ".TH LAMINA 1 \"\" \"Lamina %s\" \"User Commands\"\n"
      ".SH NAME\nlamina \\- look at parallel jobs, hosts and the installation\n"
      ".SH SYNOPSIS\n.B lamina\n\\fIcommand\\fR [\\fIarguments\\fR]\n"
      ".SH COMMANDS\n",
      kVersion);
  for (const Subcommand& command : Subcommands())
    page += Format(".TP\n.B %s\n", command.name) + Escape(command.help) + "\n";
  for (const Subcommand& command : Subcommands())
    page += ".SH LAMINA " + Upper(command.name) + "\n.nf\n" + Escape(command.usage) + ".fi\n";
  return page + ".SH SEE ALSO\n.BR mpiexec (1),\n.BR mpicc (1)" + SubcommandPages();
}

std::string SubcommandManualPage(std::string_view subcommand) {
  const auto page_of = std::ranges::find(kPages, subcommand, &SubcommandPage::name);
  if (page_of == std::end(kPages)) return {};
  std::string page;
  for (const Subcommand& command : Subcommands())
    if (subcommand == command.name)
      page = Format(
                 ".TH LAMINA\\-%s 1 \"\" \"Lamina %s\" \"User Commands\"\n"
                 ".SH NAME\nlamina\\-%s \\- ",
                 Upper(command.name).c_str(), kVersion, command.name) +
             Escape(command.help) + "\n.SH DESCRIPTION\n.nf\n" + Escape(command.usage) + ".fi\n";
  std::string options;
  for (const Option& option : Options()) {
    const std::string_view name = option.names[0];
    if (std::ranges::any_of(Split(page_of->options, ' '), [&](std::string_view beginning) {
          return !beginning.empty() && name.starts_with(beginning);
        }))
      options += ".TP\n.B " + Escape(name) + " " + Escape(option.argument) + "\n" +
                 Escape(option.help) + "\n";
  }
  if (!options.empty()) page += ".SH OPTIONS OF MPIEXEC\n" + options;
  page += ".SH SEE ALSO\n.BR lamina (1),\n.BR mpiexec (1)";
  for (const std::string_view other : Split(page_of->others, ' '))
    page += ",\n.BR lamina\\-" + std::string(other) + " (1)";
  if (!page_of->header.empty()) page += ",\n.BR " + std::string(page_of->header) + " (3)";
  return page + "\n";
}

std::string BashCompletion() {
  std::string options;
  std::string with_value;
  for (const Option& option : Options()) {
    for (const char* name : option.names) {
      if (name == nullptr) continue;
      options += (options.empty() ? "" : " ") + std::string(name);
      if (option.argument[0] != '\0' && option.argument[1] != '=')
        with_value += (with_value.empty() ? "" : "|") + std::string(name);
    }
  }
  std::string topics;
  for (const std::string& topic : HelpTopics()) topics += (topics.empty() ? "" : " ") + topic;
  std::string text = kCompletion;
  Replace("@OPTIONS@", options, &text);
  Replace("@WITH_VALUE@", with_value, &text);
  Replace("@TOPICS@", topics, &text);
  std::string commands;
  std::string options_of;
  for (const Subcommand& command : Subcommands()) {
    commands += (commands.empty() ? "" : " ") + std::string(command.name);
    const std::vector<std::string> own = OptionsOf(command);
    if (own.empty()) continue;
    options_of += Format("    %s) options='", command.name);
    for (const std::string& option : own) options_of += (option == own[0] ? "" : " ") + option;
    options_of += "' ;;\n";
  }
  Replace("@COMMANDS@", commands, &text);
  Replace("@OPTIONS_OF@", options_of, &text);
  return text;
}

}  // namespace lamina::launcher
