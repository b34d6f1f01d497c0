// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a manifest comes back as it was written, and a damaged one is never believed.
// Method: golden bytes; every prefix, every flipped bit, lines of a later version.
#include "checkpoint/store/manifest.h"

#include <gtest/gtest.h>

#include <string>

#include "checkpoint/store/checksum.h"
#include "runtime/base/text.h"

namespace lamina::checkpoint {
namespace {

Manifest Example() {
  Manifest manifest;
  manifest.epoch = Epoch{7};
  manifest.after = Epoch{6};
  manifest.since = Epoch{5};
  manifest.job = "5e1f0c9a2b7d4e68";
  manifest.user = 1000;
  manifest.taken_s = 1795772467;
  manifest.engine = "criu";
  manifest.engine_version = "4.2.1";
  manifest.kernel = "6.18.44";
  manifest.machine = "x86_64";
  manifest.plan_bytes = 311;
  manifest.plan_checksum = 0x0badcafe;
  manifest.round = 3;
  manifest.last_process = 10007;
  manifest.apart = true;
  manifest.streams = {{"1", 812, 4711}, {"/tmp/a file", 0, 4712}};
  manifest.nodes = {{0, "node08"}};
  manifest.ranks = {{0, {}, 0, 8201, {"/dev/null", "pipe:[4711]", "/tmp/a file"}},
                    {1, 3, 0, 0, {}}};
  manifest.parts = {{0, "core-8201.img", 2271, 0xe3069283}, {0, "100% odd\n", 0, 0}};
  return manifest;
}

// The README of this folder shows these bytes.
constexpr const char* kGolden =
    "lamina checkpoint 1\n"
    "generation 7 after 6\n"
    "since 5\n"
    "job 5e1f0c9a2b7d4e68\n"
    "user 1000\n"
    "taken 2026-11-27T09:41:07Z\n"
    "engine criu 4.2.1\n"
    "kernel 6.18.44 x86_64\n"
    "plan 311 0badcafe\n"
    "round 3 process 10007\n"
    "apart\n"
    "stream 1 812 4711\n"
    "stream /tmp/a%20file 0 4712\n"
    "node 0 node08\n"
    "rank 0 node 0 process 8201 links /dev/null pipe:[4711] /tmp/a%20file\n"
    "rank 1 ended 3\n"
    "part 0 core-8201.img 2271 e3069283\n"
    "part 0 100%25%20odd%0a 0 00000000\n";

// Ends a text as a writer would.
std::string Ended(const std::string& text) {
  return text + Format("end %zu %08x\n", Split(text, '\n').size() - 1, Checksum(text));
}

TEST(ManifestTest, GoldenBytes) {
  EXPECT_EQ(Encode(Example()), std::string(kGolden) + "end 18 30487e29\n");
  const Result<Manifest> parsed = ParseManifest(Encode(Example()));
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_TRUE(*parsed == Example());
  EXPECT_EQ(parsed->Bytes(), 311u + 2271u);
}

TEST(ManifestTest, EveryPrefixIsRefused) {
  const std::string text = Encode(Example());
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes)
    EXPECT_FALSE(ParseManifest(std::string_view(text).substr(0, bytes)).ok()) << bytes;
}

TEST(ManifestTest, EveryFlippedBitIsRefused) {
  const std::string text = Encode(Example());
  for (std::size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(ParseManifest(flipped).ok()) << "bit " << bit;
  }
}

TEST(ManifestTest, LinesOfALaterVersionArePassedOver) {
  const Result<Manifest> parsed = ParseManifest(Ended(std::string(kGolden) + "moon 3 full\n\n"));
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_TRUE(*parsed == Example());
}

TEST(ManifestTest, AnotherFormatIsRefusedWithBothNumbers) {
  const Result<Manifest> parsed = ParseManifest("lamina checkpoint 2\nwhatever");
  EXPECT_EQ(parsed.status().code(), Code::kUnsupported);
  EXPECT_EQ(parsed.status().message(), "the manifest has format 2, and this lamina reads format 1");
}

TEST(ManifestTest, LinesThatMakeNoSenseAreNamed) {
  const std::string good =
      "lamina checkpoint 1\ngeneration 7 after 6\nengine self 1\n"
      "rank 0 node 0 process 1 links\n";
  EXPECT_TRUE(ParseManifest(Ended(good)).ok());
  for (const char* line : {"part 0 ../x 1 00000000",   "part 0 .. 1 00000000",
                           "part 0 a%2fb 1 00000000",  "part 0 a%00b 1 00000000",
                           "part 0 a%2 1 00000000",    "part 0 a%zz 1 00000000",
                           "part 0 a -1 00000000",     "part 0 a 1 0",
                           "part 0 a 1 0000000A",      "part 0  1 00000000",
                           "part 1 a 1 00000000",      "part 0 a 99999999999999999999 00000000",
                           "part 0 a 1 00000000 more", "rank 1 ended",
                           "rank 2 ended 0",           "rank 1 node 0",
                           "taken 2026-11-27",         "user x",
                           "user 4294967296",          "generation 7",
                           "generation 0 after 0"}) {
    const Result<Manifest> parsed = ParseManifest(Ended(good + line + "\n"));
    EXPECT_EQ(parsed.status().code(), Code::kInvalid) << line;
  }
  EXPECT_EQ(ParseManifest(Ended(good + "user x\n")).status().message(),
            "line 5 of the manifest is not understood: user x");
  EXPECT_FALSE(ParseManifest(Ended("lamina checkpoint 1\n")).ok());
}

}  // namespace
}  // namespace lamina::checkpoint
