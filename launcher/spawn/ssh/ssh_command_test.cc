// SPDX-License-Identifier: BSD-3-Clause
// Goal:   ssh is given what its configuration does not know, one quoted word to run, and a second
//         chance only for reasons that pass.
// Method: command lines word by word, for plain and difficult hosts; ssh's own sentences.
#include "launcher/spawn/ssh/ssh_command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace lamina::launcher::ssh {
namespace {

std::string Joined(const CommandLine& command) {
  std::string text;
  for (const std::string& word : command) text += "<" + word + ">";
  return text;
}

const std::string kShepherd[] = {"/opt/lamina/bin/mpiexec", "--lamina-shepherd"};

TEST(SshCommandTest, PlainHost) {
  Host host;
  host.name = "node07.east";
  EXPECT_EQ(Joined(PipesBy({}).command(host, kShepherd)),
            "<ssh><-x><-T><-o><BatchMode=yes><-o><ConnectTimeout=10><node07.east>"
            "<exec /opt/lamina/bin/mpiexec --lamina-shepherd>");
}

TEST(SshCommandTest, UserPortAndOptions) {
  Host host;
  host.name = "node07";
  host.user = "ada";
  host.port = 2222;
  Params params;
  params.command = "/usr/bin/ssh -F other";
  params.options = "-o  Compression=yes";
  params.connect_s = 3;
  const std::string blank[] = {"/opt/my mpi/mpiexec", "it's"};
  EXPECT_EQ(Joined(PipesBy(params).command(host, blank)),
            "</usr/bin/ssh><-F><other><-x><-T><-o><BatchMode=yes><-o><ConnectTimeout=3><-p><2222>"
            "<-l><ada><-o><Compression=yes><node07><exec '/opt/my mpi/mpiexec' 'it'\\''s'>");
}

TEST(SshCommandTest, ATurnedAwayGuestMayComeBack) {
  const auto has_any = [](const std::string& words, const std::vector<std::string>& signs) {
    return std::any_of(signs.begin(), signs.end(), [&words](const std::string& sign) {
      return words.find(sign) != std::string::npos;
    });
  };
  const Pipes pipes = PipesBy({});
  const auto passes = [&](const std::string& words) { return has_any(words, pipes.passing_signs); };
  EXPECT_TRUE(passes("kex_exchange_identification: read: Connection reset by peer\n"));
  EXPECT_TRUE(passes("Connection closed by 10.0.0.7 port 22"));
  const std::string temporary =
      "ssh: Could not resolve hostname n1: Temporary failure in name resolution";
  EXPECT_FALSE(passes(temporary));
  EXPECT_TRUE(has_any(temporary, pipes.quick_signs));
  EXPECT_FALSE(passes("ssh: Could not resolve hostname nosuch: Name or service not known"));
  EXPECT_FALSE(passes("ada@node07: Permission denied (publickey)."));
}

}  // namespace
}  // namespace lamina::launcher::ssh
