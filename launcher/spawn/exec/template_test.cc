// SPDX-License-Identifier: BSD-3-Clause
// Goal:   an agent's command comes out word by word as its user meant it.
// Method: templates of real agents, quotes, holes; and what is refused.
#include "launcher/spawn/exec/template.h"

#include <gtest/gtest.h>

namespace lamina::launcher::exec {
namespace {

std::string Filled(std::string_view text) {
  const std::string command[] = {"/opt/bin/mpiexec", "--word"};
  Host host;
  host.name = "n1";
  host.user = "ada";
  host.port = 99;
  const Result<Template> made = Template::Parse(text);
  if (!made.ok()) return std::string(made.status().message());
  std::string joined;
  for (const std::string& word : made->Fill(host, command)) joined += "<" + word + ">";
  return joined;
}

TEST(TemplateTest, CommandIsAppended) {
  EXPECT_EQ(Filled("ip netns exec {host}"), "<ip><netns><exec><n1></opt/bin/mpiexec><--word>");
  EXPECT_EQ(Filled("kubectl  exec -i pod-{host} --"),
            "<kubectl><exec><-i><pod-n1><--></opt/bin/mpiexec><--word>");
  EXPECT_EQ(Filled("rsh -l {user} -p{port} {host}"),
            "<rsh><-l><ada><-p99><n1></opt/bin/mpiexec><--word>");
}

TEST(TemplateTest, CommandHasAPlace) {
  EXPECT_EQ(Filled("sh -c 'on {host} run {command}'"),
            "<sh><-c><on n1 run '/opt/bin/mpiexec' '--word'>");
}

TEST(TemplateTest, Quotes) {
  EXPECT_EQ(Filled("a 'b c' \"it's\" '' {host}"), "<a><b c><it's><><n1></opt/bin/mpiexec><--word>");
}

TEST(TemplateTest, WhatIsFilledInIsNoHole) {
  Host host;
  host.name = "{user}";
  host.user = "{command}";
  const Result<Template> made = Template::Parse("rsh -l {user} {host}");
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->Fill(host, {}), (std::vector<std::string>{"rsh", "-l", "{command}", "{user}"}));
}

TEST(TemplateTest, WhatIsRefused) {
  EXPECT_EQ(Filled("ip netns exec"), "the agent \"ip netns exec\" does not say where {host} goes");
  EXPECT_EQ(Filled("a 'b {host}"), "the agent \"a 'b {host}\" has a quote that does not end");
}

}  // namespace
}  // namespace lamina::launcher::exec
