// SPDX-License-Identifier: BSD-3-Clause
// Goal:   hosts mean what their writer meant, and every mistake is answered with its place.
// Method: host lists and host files as text in, entries or the exact message out.
#include "launcher/plan/hosts.h"

#include <gtest/gtest.h>

namespace lamina::launcher {
namespace {

HostEntry One(std::string_view text) {
  Result<std::vector<HostEntry>> hosts = ParseHostList(text);
  EXPECT_TRUE(hosts.ok()) << hosts.status().message();
  return hosts.ok() && hosts->size() == 1 ? hosts->front() : HostEntry{};
}

std::string ListError(std::string_view text) {
  Result<std::vector<HostEntry>> hosts = ParseHostList(text);
  EXPECT_FALSE(hosts.ok()) << text;
  return std::string(hosts.status().message());
}

std::string FileError(std::string_view text) {
  Result<std::vector<HostEntry>> hosts = ParseHostFile(text, "hosts");
  EXPECT_FALSE(hosts.ok()) << text;
  return std::string(hosts.status().message());
}

TEST(HostList, NamesAreNeverCut) {
  EXPECT_EQ(One("node1.east.example.org").name, "node1.east.example.org");
  EXPECT_EQ(One("n").name, "n");
  EXPECT_EQ(One("10.0.0.7:3").name, "10.0.0.7");
}

TEST(HostList, SlotsAndUsers) {
  const HostEntry host = One("ada@node7:12");
  EXPECT_EQ(host.name, "node7");
  EXPECT_EQ(host.user, "ada");
  EXPECT_EQ(host.slots, 12u);
  EXPECT_FALSE(One("node7").slots.has_value());
}

TEST(HostList, AddressesWithColons) {
  EXPECT_EQ(One("[fe80::1%eth0]:2").name, "fe80::1%eth0");
  EXPECT_EQ(One("[fe80::1%eth0]:2").slots, 2u);
  EXPECT_EQ(One("[::1]").name, "::1");
  EXPECT_EQ(One("fe80::1").name, "fe80::1");
  EXPECT_FALSE(One("fe80::1").slots.has_value());
}

TEST(HostList, Ranges) {
  Result<std::vector<HostEntry>> hosts = ParseHostList("ada@rack[1-2]n[01,03]-ib:4,[7-8],[::1]:2");
  ASSERT_TRUE(hosts.ok()) << hosts.status().message();
  ASSERT_EQ(hosts->size(), 7u);
  EXPECT_EQ((*hosts)[3].name, "rack2n03-ib");
  EXPECT_EQ((*hosts)[3].user, "ada");
  EXPECT_EQ((*hosts)[3].slots, 4u);
  EXPECT_EQ((*hosts)[5].name, "8");
  EXPECT_EQ((*hosts)[6].name, "::1");
  EXPECT_EQ(ListError("n[1-"), "\"n[1-\": a [ without its ]");
}

TEST(HostList, MentionsAddUp) {
  Result<std::vector<HostEntry>> hosts = ParseHostList("a,b,a:3,a");
  ASSERT_TRUE(hosts.ok());
  const std::vector<HostEntry> merged = MergeHosts(*hosts);
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[0].name, "a");
  EXPECT_EQ(merged[0].slots, 5u);
  EXPECT_EQ(merged[1].name, "b");
  EXPECT_FALSE(merged[1].slots.has_value());
}

TEST(HostList, MistakesAreNamed) {
  EXPECT_EQ(ListError("a,,b"), "\"\" is not a host name");
  EXPECT_EQ(ListError("a:0"),
            "\"a:0\" is not a number of slots (1 to 1048576); schedule=no in a host file keeps a "
            "host free");
  EXPECT_EQ(ListError("a:x"), "\"a:x\" is not a number of slots (1 to 1048576)");
  EXPECT_EQ(ListError("a:-1"), "\"a:-1\" is not a number of slots (1 to 1048576)");
  EXPECT_EQ(ListError("a:99999999999999999999"),
            "\"a:99999999999999999999\" is not a number of slots (1 to 1048576)");
  EXPECT_EQ(ListError("-oProxyCommand=x"), "\"-oProxyCommand=x\" is not a host name");
  EXPECT_EQ(ListError("@a"), "\"@a\" has no user name before the @");
  EXPECT_EQ(ListError("-l@a"), "\"-l@a\" has no user name before the @");
  EXPECT_EQ(ListError("[::1"), "\"[::1\" is not [address] or [address]:slots");
  EXPECT_EQ(ListError("[::1]x"), "\"[::1]x\" is not [address] or [address]:slots");
  EXPECT_EQ(ListError("a b"), "\"a b\" is not a host name");
}

TEST(HostFile, EveryKey) {
  Result<std::vector<HostEntry>> hosts = ParseHostFile(
      "# a comment\n"
      "\n"
      "  node01.cluster\tslots=4 # behind it\r\n"
      "node02 cpu=2 max_slots=8 user=ada prefix=/opt/lamina port=2222\n"
      "login schedule=no\n"
      "node03:6",
      "hosts");
  ASSERT_TRUE(hosts.ok()) << hosts.status().message();
  ASSERT_EQ(hosts->size(), 4u);
  EXPECT_EQ((*hosts)[0].name, "node01.cluster");
  EXPECT_EQ((*hosts)[0].slots, 4u);
  EXPECT_EQ((*hosts)[0].where, "hosts:3");
  EXPECT_EQ((*hosts)[1].slots, 2u);
  EXPECT_EQ((*hosts)[1].slots_max, 8u);
  EXPECT_EQ((*hosts)[1].user, "ada");
  EXPECT_EQ((*hosts)[1].prefix, "/opt/lamina");
  EXPECT_EQ((*hosts)[1].extra.at("port"), "2222");
  EXPECT_FALSE((*hosts)[2].schedule);
  EXPECT_EQ((*hosts)[3].slots, 6u);
}

TEST(HostFile, ABatchSystemsNodeFile) {
  Result<std::vector<HostEntry>> hosts = ParseHostFile("n1\nn1\nn2\nn1\n", "nodes");
  ASSERT_TRUE(hosts.ok());
  const std::vector<HostEntry> merged = MergeHosts(*hosts);
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[0].slots, 3u);
}

TEST(HostFile, MistakesNameFileAndLine) {
  EXPECT_EQ(FileError("a\nb slots=none\n"),
            "hosts:2: \"slots=none\" is not a number of slots (1 to 1048576)");
  EXPECT_EQ(FileError("a slots\n"), "hosts:1: \"slots\" is not key=value");
  EXPECT_EQ(FileError("a =4\n"), "hosts:1: \"=4\" is not key=value");
  EXPECT_EQ(FileError("a schedule=maybe\n"),
            "hosts:1: \"schedule=maybe\": say schedule=yes or schedule=no");
  EXPECT_EQ(FileError("a slots=9 max_slots=8\n"), "hosts:1: slots=9 is more than max_slots=8");
  EXPECT_EQ(FileError("a prefix=lamina\n"), "hosts:1: \"prefix=lamina\" is not an absolute path");
  EXPECT_EQ(FileError("\n\na user=-x\n"), "hosts:3: \"user=-x\" is not a user name");
  EXPECT_EQ(FileError("a port=0\n"), "hosts:1: \"port=0\" is not a port (1 to 65535)");
  EXPECT_EQ(FileError("a port=ssh\n"), "hosts:1: \"port=ssh\" is not a port (1 to 65535)");
  EXPECT_EQ(FileError("a slot=2\n"), "hosts:1: \"slot=2\": did you mean slots=?");
  EXPECT_EQ(FileError("a Slots=2\n"), "hosts:1: \"Slots=2\": did you mean slots=?");
  EXPECT_EQ(FileError("a maxslots=2\n"), "hosts:1: \"maxslots=2\": did you mean max_slots=?");
  EXPECT_EQ(FileError("a shedule=no\n"), "hosts:1: \"shedule=no\": did you mean schedule=?");
  EXPECT_EQ(FileError("# nothing\n"), "hosts names no host");
  EXPECT_EQ(FileError(""), "hosts names no host");
}

TEST(HostFile, KeysOfOthersAreTold) {
  const Result<std::vector<HostEntry>> hosts =
      ParseHostFile("n[1-3] weight=4 port=22\nb slots=2\nc rack=7\n", "hosts");
  ASSERT_TRUE(hosts.ok());
  EXPECT_EQ(UnknownKeys(*hosts), (std::vector<std::string>{
                                     "hosts:1: \"weight=4\" is no key of Lamina's, and is ignored",
                                     "hosts:3: \"rack=7\" is no key of Lamina's, and is ignored"}));
}

}  // namespace
}  // namespace lamina::launcher
