// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a person sees at a glance what there is, what was chosen and why, and where values come
//         from.
// Method: a made-up listing is printed and every character compared.
#include "runtime/component/listing.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lamina::component {
namespace {

std::vector<ListedFramework> Sample() {
  param::Row cells{"transport.shm.ring_cells",
                   "64",
                   "128",
                   "2..65536",
                   Unit::kCount,
                   Origin::kCommandLine,
                   "--param",
                   "Cells per ordered pair of peers.",
                   ""};
  param::Row bytes{"transport.shm.slot_bytes",
                   "8192",
                   "8192",
                   "64..65536",
                   Unit::kBytes,
                   Origin::kDefault,
                   "",
                   "Largest payload of a slot.",
                   "parameter transport.shm.slot_bytes: \"1\" is out of range"};
  param::Row path{"spawner.ssh.program", "", "", "", Unit::kNone, Origin::kDefault, "", "", ""};
  return {
      {"transport",
       {{{"shm", "1.0.0", "built in"}, {80, "memory of this node"}, {cells, bytes}},
        {{"ucx", "1.13", "/opt/transport_ucx.so"}, {-1, "no device"}, {}}},
       {},
       {{"/opt/transport_bad.so", "it speaks component ABI 2, but this lamina speaks 1"}}},
      {"spawner", {{{"ssh", "1.0.0", "built in"}, {0, ""}, {path}}}, {}, {}},
      {"checkpoint", {}, {}, {}},
  };
}

TEST(Listing, PrintsColumns) {
  EXPECT_EQ(
      Print(Sample(), {}),
      "transport\n"
      "  shm  1.0.0  priority  80  built in               memory of this node\n"
      "  ucx  1.13   cannot run    /opt/transport_ucx.so  no device\n"
      "  refused  /opt/transport_bad.so: it speaks component ABI 2, but this lamina speaks 1\n"
      "\n"
      "spawner\n"
      "  ssh  1.0.0  priority   0  built in\n"
      "\n"
      "checkpoint\n"
      "  no component\n");
}

TEST(Listing, PrintsParametersWithUnitRangeOriginAndDefault) {
  EXPECT_EQ(Print(Sample(), {.params = true, .refused = false}),
            "transport\n"
            "  shm  1.0.0  priority  80  built in               memory of this node\n"
            "  ucx  1.13   cannot run    /opt/transport_ucx.so  no device\n"
            "  parameters\n"
            "    transport.shm.ring_cells  64          2..65536   --param\n"
            "        Cells per ordered pair of peers.\n"
            "        Default: 128.\n"
            "    transport.shm.slot_bytes  8192 bytes  64..65536  default\n"
            "        Largest payload of a slot.\n"
            "        Ignored: parameter transport.shm.slot_bytes: \"1\" is out of range\n"
            "\n"
            "spawner\n"
            "  ssh  1.0.0  priority   0  built in\n"
            "  parameters\n"
            "    spawner.ssh.program  \"\"  any  default\n"
            "\n"
            "checkpoint\n"
            "  no component\n");
}

TEST(Listing, WrapsLongTextsUnderThemselves) {
  std::vector<ListedFramework> all = Sample();
  all.resize(1);
  all[0].components.resize(1);
  all[0].refused.clear();
  all[0].components[0].offer.why = "one two three four five six seven eight nine ten";
  EXPECT_EQ(Print(all, {.columns_max = 64}),
            "transport\n"
            "  shm  1.0.0  priority  80  built in  one two three four five\n"
            "                                      six seven eight nine ten\n");
}

TEST(Filter, KeepsWhatWasAskedFor) {
  const auto framework = Filter(Sample(), "transport", "");
  ASSERT_TRUE(framework.ok());
  ASSERT_EQ(framework->size(), 1u);
  EXPECT_EQ((*framework)[0].components.size(), 2u);
  const auto component = Filter(Sample(), "", "ssh");
  ASSERT_TRUE(component.ok());
  ASSERT_EQ(component->size(), 1u);
  EXPECT_EQ((*component)[0].name, "spawner");
  const auto both = Filter(Sample(), "transport", "shm");
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(Print(*both, {}),
            "transport\n"
            "  shm  1.0.0  priority  80  built in  memory of this node\n");
  EXPECT_EQ(Filter(Sample(), "", "")->size(), 3u);
}

TEST(Filter, FindsARefusedComponentByItsName) {
  const auto bad = Filter(Sample(), "transport", "bad");
  ASSERT_TRUE(bad.ok()) << bad.status().message();
  EXPECT_EQ(
      Print(*bad, {}),
      "transport\n"
      "  no component\n"
      "  refused  /opt/transport_bad.so: it speaks component ABI 2, but this lamina speaks 1\n");
}

TEST(Filter, OffersTheNearestName) {
  EXPECT_EQ(Filter(Sample(), "transprot", "").status().message(),
            "no framework \"transprot\"; did you mean \"transport\"?");
  EXPECT_EQ(Filter(Sample(), "transport", "shn").status().message(),
            "no component \"shn\"; did you mean \"shm\"?");
  EXPECT_EQ(Filter(Sample(), "transport", "zzzzzz").status().message(),
            "no component \"zzzzzz\"; there are shm, ucx");
  EXPECT_EQ(Filter(Sample(), "checkpoint", "criu").status().code(), Code::kNotFound);
}

TEST(Listing, KnowsAllParameterNames) {
  EXPECT_EQ(ParameterNames(Sample()),
            (std::vector<std::string>{"transport.shm.ring_cells", "transport.shm.slot_bytes",
                                      "spawner.ssh.program"}));
}

struct Nothing {};
TEST(List, AsksARegistry) {
  Registry<Nothing, int> registry;
  Component<Nothing, int> component;
  component.info = {"toy", "1.0", "built in"};
  component.query = [](const int& world) { return Offer{world, "because"}; };
  ASSERT_TRUE(registry.Add(component).ok());
  const ListedFramework listed = List("toys", registry, 7, {});
  EXPECT_EQ(listed.name, "toys");
  ASSERT_EQ(listed.components.size(), 1u);
  EXPECT_EQ(listed.components[0].offer.priority, 7);
  EXPECT_TRUE(listed.components[0].params.empty());
}

}  // namespace
}  // namespace lamina::component
