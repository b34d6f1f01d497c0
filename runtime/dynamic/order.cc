// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/dynamic/order.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include "runtime/base/dynamic_words.h"
#include "runtime/base/read_file.h"
#include "runtime/base/text.h"

namespace lamina::dynamic {
namespace {

// How a key is said to mpiexec: the option, followed by the key's value.
struct Word {
  std::string_view key;
  std::string_view option;
  bool elsewhere = false;  // it may name other hosts
};
constexpr Word kWords[] = {{"host", "--host", true},
                           {"add-host", "--host", true},
                           {"path", "--path"},
                           {"soft", "--soft"},
                           {"arch", "--arch"},
                           {"map_by", "--map-by"},
                           {"bind_to", "--bind-to"},
                           {"npernode", "--ppn"},
                           {"mpi_memory_alloc_kinds", "--memory-alloc-kinds"}};

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

bool MeansYes(const std::string& value) {
  const std::string word = Lower(value);
  return word == "yes" || word == "true" || word == "1";
}

Status BadValue(const char* key, const std::string& value, const char* wanted) {
  return Error(Code::kInvalid, "the info key %s is \"%s\", must be %s", key, value.c_str(), wanted);
}

// The keys of an info together with those of the file that it names; its own win.
Result<core::Info> WithFile(const core::Info& info) {
  core::Info all;
  const std::string* path = info.Find("file");
  if (path != nullptr) {
    const std::optional<std::string> text = ReadFile(*path);
    if (!text) return BadValue("file", *path, "the name of a file that can be read");
    for (const std::string_view line : Split(*text, '\n')) {
      const std::size_t equals = line.find('=');
      if (line.empty() || line[0] == '#') continue;
      if (equals == line.npos) return BadValue("file", *path, "a file of lines key=value");
      all.Set(std::string(Trim(line.substr(0, equals))),
              std::string(Trim(line.substr(equals + 1))));
    }
  }
  for (const auto& [key, value] : info.entries) all.Set(key, value);
  return all;
}

Status AddHandler(const std::string& value, std::vector<std::string>* words) {
  const std::string name = Lower(value);
  if (name != "mpi_errors_are_fatal" && name != "mpi_errors_abort" && name != "mpi_errors_return")
    return BadValue("mpi_initial_errhandler", value,
                    "mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return");
  words->insert(words->end(), {"--initial-errhandler", name});
  return {};
}

// Paths mean this process's directory and files, wherever the children start.
Status AddPaths(const core::Info& info, Order* order) {
  std::string here(4096, '\0');
  here = getcwd(here.data(), here.size()) != nullptr ? here.c_str() : "/";
  const std::string* directory = info.Find("wdir");
  if (directory != nullptr && directory->starts_with('/')) here = *directory;
  if (directory != nullptr && !directory->starts_with('/')) here += "/" + *directory;
  order->words.insert(order->words.end(), {"--wdir", here});
  for (const char* key : {"hostfile", "add-hostfile"}) {
    const std::string* path = info.Find(key);
    if (path == nullptr) continue;
    const std::optional<std::string> text = ReadFile(*path);
    if (!text) return BadValue(key, *path, "the name of a file that can be read");
    order->words.insert(order->words.end(), {"--hostfile", *text + "\n"});
    order->elsewhere = true;
  }
  return {};
}

Status Add(const core::Info& info, Order* order) {
  if (Status status = AddPaths(info, order); !status.ok()) return status;
  for (const auto& [key, value] : info.entries) {
    for (const Word& word : kWords) {
      if (word.key != key) continue;
      order->words.insert(order->words.end(), {std::string(word.option), value});
      order->elsewhere = order->elsewhere || word.elsewhere;
    }
    if (key == "mpi_initial_errhandler")
      if (Status status = AddHandler(value, &order->words); !status.ok()) return status;
    if (key == "oversubscribe")
      order->words.push_back(MeansYes(value) ? "--oversubscribe" : "--nooversubscribe");
    if (key == "env")
      for (const std::string_view line : Split(value, '\n'))
        if (!line.empty()) order->words.insert(order->words.end(), {"-x", std::string(line)});
    if (key == "lamina_non_mpi" || key == "ompi_non_mpi")
      order->is_mpi = order->is_mpi && !MeansYes(value);
  }
  return {};
}

}  // namespace

Result<Order> OrderOf(const std::vector<Program>& programs, const std::string& port) {
  Order order;
  order.words = {"--quiet", "--stdin", "none"};
  const std::vector<std::string> parent = {"-genv", std::string(kParentVariable) + "=" + port};
  const auto before_programs = static_cast<std::ptrdiff_t>(order.words.size());
  for (const Program& program : programs) {
    if (&program != &programs.front()) order.words.push_back(":");
    order.words.insert(order.words.end(), {"-n", std::to_string(program.processes)});
    order.processes += program.processes;
    Result<core::Info> info = WithFile(program.info != nullptr ? *program.info : core::Info());
    if (!info.ok()) return std::move(info).status();
    if (Status status = Add(*info, &order); !status.ok()) return status;
    order.words.insert(order.words.end(), {"--", program.command});
    for (const std::string& argument : program.arguments) {
      if (argument == ":")
        return Error(Code::kInvalid, "an argument of %s is a lone colon, which parts programs",
                     program.command.c_str());
      order.words.push_back(argument);
    }
  }
  if (order.is_mpi)
    order.words.insert(order.words.begin() + before_programs, parent.begin(), parent.end());
  return order;
}

}  // namespace lamina::dynamic
