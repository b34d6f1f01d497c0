// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the table of `lamina tune` replaces what it measured and nothing else in a parameter
// file,
//         and nothing but measurements is taken for one.
// Method: texts in, texts out.
#include "launcher/tune/tune.h"

#include <gtest/gtest.h>

namespace lamina::launcher {
namespace {

TEST(Tune, WhatRanksPrintIsChecked) {
  const auto good = ParseMeasured(
      "collective.select.alpha_us 0.41\n\n"
      "collective.select.network.alpha_us 12\n");
  ASSERT_TRUE(good.ok());
  ASSERT_EQ(good->size(), 2u);
  EXPECT_EQ((*good)[1].name, "collective.select.network.alpha_us");
  EXPECT_EQ((*good)[1].value, "12");
  for (const char* bad :
       {"", "hello\n", "collective.select.alpha_us\n", "collective.select.alpha_us nan\n",
        "collective.select.a#b 1\n", "p2p.wait.mode 1\n"})
    EXPECT_FALSE(ParseMeasured(bad).ok()) << bad;
}

TEST(Tune, OtherLinesOfTheFileStay) {
  const std::vector<Measured> values = {{"collective.select.alpha_us", "0.5"}};
  EXPECT_EQ(Merge("", values), "# measured by lamina tune\ncollective.select.alpha_us = 0.5\n");
  const std::string merged = Merge(
      "# mine\n"
      "p2p.wait.mode = oversubscribed # here\n"
      "  collective.select.alpha_us=7 # old\n"
      "collective.select.alpha_us_more = 1\n",
      values);
  EXPECT_EQ(merged,
            "# mine\n"
            "p2p.wait.mode = oversubscribed # here\n"
            "collective.select.alpha_us_more = 1\n"
            "\n"
            "# measured by lamina tune\n"
            "collective.select.alpha_us = 0.5\n");
  EXPECT_EQ(Merge(merged, values), merged);
}

}  // namespace
}  // namespace lamina::launcher
