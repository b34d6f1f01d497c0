// SPDX-License-Identifier: BSD-3-Clause
// Goal:   info keys become words of mpiexec, and a bad value is refused with the key's name.
// Method: infos as a program would make them.
#include "runtime/dynamic/order.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace lamina::dynamic {
namespace {

using Words = std::vector<std::string>;

const Words kHead = {"--quiet", "--stdin", "none", "-genv", "LAMINA_PARENT=port"};

Result<Order> OrderWith(const core::Info& info) {
  return OrderOf({{"./child", {"an argument"}, 3, &info}}, "port");
}

Words WordsWith(const std::string& key, const std::string& value) {
  core::Info info;
  info.Set(key, value);
  Result<Order> order = OrderWith(info);
  if (!order.ok()) return {std::string(order.status().message())};
  return {order->words.begin() + kHead.size(), order->words.end()};
}

TEST(OrderTest, ProgramsAndTheirArguments) {
  const Result<Order> order =
      OrderOf({{"a", {"-x", "--"}, 2, nullptr}, {"-b", {}, 1, nullptr}}, "port");
  ASSERT_TRUE(order.ok());
  Words expected = kHead;
  const std::string here = std::filesystem::current_path();
  for (const std::string& word :
       {std::string("-n"), std::string("2"), std::string("--wdir"), here, std::string("--"),
        std::string("a"), std::string("-x"), std::string("--"), std::string(":"), std::string("-n"),
        std::string("1"), std::string("--wdir"), here, std::string("--"), std::string("-b")})
    expected.push_back(word);
  EXPECT_EQ(order->words, expected);
  EXPECT_EQ(order->processes, 3);
  EXPECT_TRUE(order->is_mpi);
  EXPECT_FALSE(order->elsewhere);
}

TEST(OrderTest, Keys) {
  const Words end = {"--", "./child", "an argument"};
  const auto expect = [&](const char* key, const char* value, Words words) {
    if (std::string(key) != "wdir")
      words.insert(words.begin(), {"--wdir", std::filesystem::current_path()});
    words.insert(words.begin(), {"-n", "3"});
    words.insert(words.end(), end.begin(), end.end());
    EXPECT_EQ(WordsWith(key, value), words) << key;
  };
  expect("host", "a:2,b", {"--host", "a:2,b"});
  expect("wdir", "/tmp", {"--wdir", "/tmp"});
  expect("path", "/a:/b", {"--path", "/a:/b"});
  expect("soft", "1:3", {"--soft", "1:3"});
  expect("arch", "x86_64", {"--arch", "x86_64"});
  expect("oversubscribe", "yes", {"--oversubscribe"});
  expect("oversubscribe", "no", {"--nooversubscribe"});
  expect("mpi_initial_errhandler", "MPI_ERRORS_RETURN",
         {"--initial-errhandler", "mpi_errors_return"});
  expect("env", "A=1\nB=2", {"-x", "A=1", "-x", "B=2"});
  expect("nobody_knows_this", "x", {});
}

TEST(OrderTest, PathsAreThoseOfTheRoot) {
  const std::string path = testing::TempDir() + "/hosts";
  std::ofstream(path) << "a slots=2\nb\n";
  EXPECT_EQ(WordsWith("wdir", "below")[3], std::filesystem::current_path() / "below");
  EXPECT_EQ(WordsWith("hostfile", path)[5], "a slots=2\nb\n\n");
  EXPECT_NE(WordsWith("add-hostfile", "/no/hosts")[0].find("/no/hosts"), std::string::npos);
}

TEST(OrderTest, ValuesThatMakeNoSense) {
  EXPECT_NE(WordsWith("mpi_initial_errhandler", "none")[0].find("mpi_initial_errhandler"),
            std::string::npos);
  EXPECT_NE(WordsWith("file", "/no/such/file")[0].find("/no/such/file"), std::string::npos);
  EXPECT_FALSE(OrderOf({{"a", {":"}, 1, nullptr}}, "port").ok());
}

TEST(OrderTest, AFileOfKeysYieldsToTheInfo) {
  const std::string path = testing::TempDir() + "/keys";
  std::ofstream(path) << "# keys\nwdir = /from/file\nsoft=1\n";
  core::Info info;
  info.Set("file", path);
  info.Set("wdir", "/own");
  const Result<Order> order = OrderWith(info);
  ASSERT_TRUE(order.ok());
  Words expected = kHead;
  for (const char* word :
       {"-n", "3", "--wdir", "/own", "--soft", "1", "--", "./child", "an argument"})
    expected.push_back(word);
  EXPECT_EQ(order->words, expected);
}

TEST(OrderTest, NoProgramOfMpi) {
  core::Info info;
  info.Set("lamina_non_mpi", "true");
  const Result<Order> order = OrderWith(info);
  ASSERT_TRUE(order.ok());
  EXPECT_FALSE(order->is_mpi);
}

}  // namespace
}  // namespace lamina::dynamic
