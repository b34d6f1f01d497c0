// SPDX-License-Identifier: BSD-3-Clause
// Goal:   help is complete, fits a terminal and is found by topic or by option.
// Method: every page and every option of the table is looked for in the texts.
#include "launcher/cli/help.h"

#include <gtest/gtest.h>

#include "launcher/cli/manual.h"
#include "launcher/cli/options.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

std::string Text(std::string_view topic) {
  Result<std::string> text = HelpText(topic);
  EXPECT_TRUE(text.ok()) << topic;
  return text.ok() ? *text : "";
}

TEST(Help, OverviewNamesEveryOptionAndTopic) {
  const std::string overview = Text("");
  for (const std::string& name : OptionNames())
    EXPECT_NE(overview.find(name), std::string::npos) << name;
  for (const std::string& topic : HelpTopics())
    EXPECT_NE(overview.find("\n  " + topic), std::string::npos) << topic;
}

TEST(Help, FitsATerminal) {
  for (const std::string& topic : HelpTopics()) {
    const std::string text = Text(topic);
    for (const std::string_view line : Split(text, '\n'))
      EXPECT_LE(line.size(), 84u) << topic << ": " << line;
  }
}

TEST(Help, ByOption) {
  EXPECT_EQ(Text("--map-by"), Text("binding"));
  EXPECT_EQ(Text("map-by"), Text("binding"));
  EXPECT_EQ(Text("x"), Text("environment"));
}

TEST(Help, UnknownTopic) {
  Result<std::string> text = HelpText("bindin");
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.status().message().substr(0, 51),
            "no help on \"bindin\"; did you mean \"binding\"? Topics");
}

TEST(Help, Wrap) {
  EXPECT_EQ(Wrap("one two three", 2, 7), "one two\n  three");
  EXPECT_EQ(Wrap("", 2, 7), "");
  EXPECT_EQ(Wrap("averylongwordindeed x", 1, 7), "averylongwordindeed\n x");
}

TEST(Manual, HoldsEveryOption) {
  const std::string manual = ManualPage();
  const std::string completion = BashCompletion();
  for (const Option& option : Options()) {
    std::string escaped;
    for (const char* letter = option.names[0]; *letter != '\0'; ++letter)
      escaped += *letter == '-' ? "\\-" : std::string(1, *letter);
    EXPECT_NE(manual.find(escaped), std::string::npos) << option.names[0];
    EXPECT_NE(completion.find(option.names[0]), std::string::npos);
  }
  // A line of text that begins with a dot would be a command to man.
  EXPECT_EQ(manual.find("\n.config"), std::string::npos);
}

}  // namespace
}  // namespace lamina::launcher
