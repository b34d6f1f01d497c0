// SPDX-License-Identifier: BSD-3-Clause
// Goal:   each input of the corpus breaks no parser, cut short anywhere or with any byte inverted.
// Method: a child process runs each target with all of these, and notes what it is about to run in
//         memory shared with its parent, which says so if the child does not come to its end.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#define TARGET(name) extern "C" int Fuzz_##name(const std::uint8_t* data, std::size_t size);
TARGETS
#undef TARGET

namespace {

struct Target {
  const char* name;
  int (*run)(const std::uint8_t* data, std::size_t size);
};
constexpr Target kTargets[] = {
#define TARGET(name) {#name, Fuzz_##name},
    TARGETS
#undef TARGET
};

void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

std::filesystem::path corpora;

struct Note {
  char words[256];  // what is being run
  unsigned runs;
};

class Replay : public testing::TestWithParam<Target> {
 protected:
  Replay()
      : note_(static_cast<Note*>(mmap(nullptr, sizeof(Note), PROT_READ | PROT_WRITE,
                                      MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~Replay() override { munmap(note_, sizeof *note_); }

  void RunAll(const Target& target) {
    for (const auto& entry : std::filesystem::directory_iterator(corpora / target.name)) {
      const std::string file = entry.path().filename().string();
      std::ifstream stream(entry.path(), std::ios::binary);
      const std::vector<std::uint8_t> whole(std::istreambuf_iterator<char>(stream), {});
      for (std::size_t bytes = 0; bytes <= whole.size(); ++bytes) {
        snprintf(note_->words, sizeof note_->words, "the first %zu bytes of %s", bytes,
                 file.c_str());
        Run(target, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)});
      }
      for (std::size_t i = 0; i < whole.size(); ++i) {
        snprintf(note_->words, sizeof note_->words, "%s with byte %zu inverted", file.c_str(), i);
        std::vector<std::uint8_t> damaged = whole;
        damaged[i] = static_cast<std::uint8_t>(~damaged[i]);
        Run(target, std::move(damaged));
      }
    }
  }

  Note* const note_;

 private:
  // The vector is as long as the input, so that a sanitizer sees who reads on.
  void Run(const Target& target, std::vector<std::uint8_t> input) {
    target.run(input.data(), input.size());
    ++note_->runs;
  }
};

TEST_P(Replay, EndsWell) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    RunAll(GetParam());
    std::exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "after " << note_->runs << " runs, with " << note_->words;
  EXPECT_GT(note_->runs, 0u);
}

INSTANTIATE_TEST_SUITE_P(Targets, Replay, testing::ValuesIn(kTargets),
                         [](const auto& target) { return std::string(target.param.name); });

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 2) {
    fprintf(stderr, "usage: replay_test CORPORA\n");
    return 2;
  }
  corpora = argv[1];
  return RUN_ALL_TESTS();
}
