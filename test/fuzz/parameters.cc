// SPDX-License-Identifier: BSD-3-Clause
// Parameters: variables of the environment, one a line, and behind a zero byte a parameter file.
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/base/check.h"
#include "runtime/base/param.h"
#include "test/fuzz/input.h"

namespace lamina::param {
namespace {

Found FromFile(std::string value) { return {std::move(value), Origin::kFile, "file:1"}; }

// Reads one value as each type, and prints what is understood.
void ReadAs(const Found& found) {
  std::uint64_t bytes = 0, same = 0;
  if (Parse(found, "x", Unit::kBytes, std::uint64_t{0}, UINT64_MAX, &bytes).ok())
    CHECK(Parse(FromFile(Print(bytes)), "x", Unit::kBytes, std::uint64_t{0}, UINT64_MAX, &same)
              .ok() &&
          same == bytes);
  std::int64_t whole = 0;
  if (Parse(found, "x", Unit::kNone, std::int64_t{-5}, std::int64_t{5}, &whole).ok())
    CHECK(whole >= -5 && whole <= 5);
  double real = 0, printed = 0;
  if (Parse(found, "x", Unit::kSeconds, -1e300, 1e300, &real).ok())
    CHECK(Parse(FromFile(Print(real)), "x", Unit::kSeconds, -1e300, 1e300, &printed).ok() &&
          printed == real);
  bool flag = false;
  static_cast<void>(Parse(found, "x", Unit::kNone, false, true, &flag));
  std::string word;
  if (Parse(found, "x", "auto|never", &word).ok()) CHECK(word == "auto" || word == "never");
}

void AddFile(std::string_view text, Settings* settings) {
  const int file = memfd_create("parameters", MFD_CLOEXEC);
  CHECK(file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  const Status status = settings->AddFile("/proc/self/fd/" + std::to_string(file));
  CHECK(status.ok() || !status.message().empty());
  close(file);
}

}  // namespace
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::string_view lines = input.TakeUntil('\0');
  const std::vector<std::string> variables =
      fuzz::Input(reinterpret_cast<const std::uint8_t*>(lines.data()), lines.size()).Lines();
  Settings settings = Settings::FromEnvironment(Environment(variables));
  for (const std::string& line : variables) static_cast<void>(settings.AddCommandLine(line));
  AddFile(input.Rest(), &settings);
  static_cast<void>(UnknownNames(settings, {"transport.shm.ring_cells", "p2p.engine.push"}));
  // A child of this process sees what this process sees, and says the same of where it is from.
  const Settings child = Settings::FromEnvironment(Environment(settings.Export()));
  CHECK(child.Names() == settings.Names());
  for (const std::string& name : settings.Names()) {
    const Found *here = settings.Find(name), *there = child.Find(name);
    CHECK(here != nullptr && there != nullptr);
    CHECK(here->value == there->value && here->origin == there->origin);
    CHECK(here->where == there->where || here->origin == Origin::kEnvironment);
    ReadAs(*here);
  }
  return 0;
}

}  // namespace lamina::param
