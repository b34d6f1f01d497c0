// SPDX-License-Identifier: BSD-3-Clause
// Goal:   what is written into LAMINA_ORIGINS is read back; what anybody else wrote does no harm.
// Method: golden text as in README.md, a round trip of awkward places, and rubbish.
#include "runtime/base/origins.h"

#include <gtest/gtest.h>

#include <string>

namespace lamina::param {
namespace {

TEST(Origins, TextIsPinned) {
  EXPECT_EQ(WriteOrigin("transport.shm.ring_cells", {"64", Origin::kCommandLine, "--param"}),
            "transport.shm.ring_cells,c,19e8e887,--param");
  EXPECT_EQ(WriteOrigin("a.b.c", {"", Origin::kFile, "/etc/a;b%:3"}),
            "a.b.c,f,811c9dc5,/etc/a%3bb%25:3");
}

TEST(Origins, ComeBackAsTheyWere) {
  for (const char* where :
       {"--param", "", "/a,b;c%d:7", "line\nbreak", "%3b", "%", "%4", "\xc3\xa4"}) {
    const Found found{"value", Origin::kFile, where};
    const auto origins = ReadOrigins("x.y.z,c,0,w;" + WriteOrigin("a.b_c.d", found));
    ASSERT_EQ(origins.count("LAMINA_A_B_C_D"), 1u) << where;
    const Provenance& origin = origins.at("LAMINA_A_B_C_D");
    EXPECT_EQ(origin.name, "a.b_c.d");
    EXPECT_EQ(origin.origin, Origin::kFile);
    EXPECT_EQ(origin.where, where);
    EXPECT_EQ(origin.fingerprint, Fingerprint("value"));
    EXPECT_EQ(origins.size(), 2u);
  }
}

TEST(Origins, RubbishIsLeftOut) {
  for (const char* rubbish : {"", ";", ",,,", "a.b.c", "a.b.c,c", "a.b.c,c,0", "a.b.c,x,0,w",
                              "a.b.c,cc,0,w", "a b,c,0,w", ",c,0,w", "a.b.c,d,0,w", "%%%%"})
    EXPECT_TRUE(ReadOrigins(rubbish).empty()) << rubbish;
}

TEST(Fingerprint, TellsValuesApart) {
  EXPECT_NE(Fingerprint("1"), Fingerprint("2"));
  EXPECT_NE(Fingerprint("12"), Fingerprint("21"));
  EXPECT_EQ(Fingerprint("").size(), 8u);
}

}  // namespace
}  // namespace lamina::param
