// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a card survives its journey, its bytes stay what README.md says, and bytes that are no
//         card are refused without harm.
// Method: round trip, golden bytes, every prefix; Find() with made-up environments.
#include <gtest/gtest.h>

#include <cstring>

#include "runtime/bootstrap/bootstrap.h"

namespace lamina::bootstrap {
namespace {

Card Sample() {
  Card card;
  card.version = "0.1.0";
  card.addresses.emplace_back("shm", std::vector<std::byte>{std::byte{1}, std::byte{2}});
  card.addresses.emplace_back("ucx", std::vector<std::byte>());
  return card;
}

TEST(Card, SurvivesARoundTrip) {
  const auto decoded = Decode(Encode(Sample()));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->version, "0.1.0");
  EXPECT_EQ(decoded->components, "");
  EXPECT_EQ(decoded->addresses, Sample().addresses);
}

TEST(Card, TellsWhatMustAgreeFromTransports) {
  Card card = Sample();
  card.components = "acme 1.0.0 at priority 60";
  card.settings = "LAMINA_COLLECTIVE_BCAST_ALGORITHM=linear";
  const auto decoded = Decode(Encode(card));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->components, card.components);
  EXPECT_EQ(decoded->settings, card.settings);
  EXPECT_EQ(decoded->addresses, card.addresses);
}

TEST(Card, HasTheBytesOfTheReadme) {
  const auto bytes = Encode(Sample());
  const unsigned char golden[] = {'L', 'A', 'M', '1', 5, 0, '0', '.', '1', '.', '0', 3, 0, 's',
                                  'h', 'm', 2,   0,   1, 2, 3,   0,   'u', 'c', 'x', 0, 0};
  ASSERT_EQ(bytes.size(), sizeof golden);
  EXPECT_EQ(std::memcmp(bytes.data(), golden, sizeof golden), 0);
}

TEST(Card, IsRefusedWhenCutWithinAnEntry) {
  const auto bytes = Encode(Sample());
  std::size_t accepted = 0;
  for (std::size_t length = 0; length < bytes.size(); ++length)
    accepted += Decode({bytes.data(), length}).ok() ? 1 : 0;
  EXPECT_EQ(accepted, 2u);  // after the version and after the first address
}

TEST(Find, IsASingletonWithoutALauncher) {
  const auto found = Find(Environment({"PATH=/bin"}));
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->get(), nullptr);
}

TEST(Find, RefusesSlurmTasksThatCannotFindEachOther) {
  const auto found = Find(Environment({"SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=4"}));
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.status().message().find("--mpi=pmix"), std::string_view::npos);
  // A thousand tasks need not say it a thousand times.
  const auto other =
      Find(Environment({"SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=4", "SLURM_PROCID=3"}));
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.status().message(), "");
}

TEST(Find, IsASingletonInABatchScript) {
  const auto found = Find(Environment({"SLURM_PROCID=0", "SLURM_NTASKS=6"}));
  EXPECT_TRUE(found.ok());
}

}  // namespace
}  // namespace lamina::bootstrap
