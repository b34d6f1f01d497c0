// SPDX-License-Identifier: BSD-3-Clause
// Goal:   ssh is given what its configuration does not know, one quoted word to run, and a second
//         chance only for reasons that pass.
// Method: command lines word by word, for plain and difficult hosts; ssh's own sentences.
#include "launcher/spawn/ssh/ssh_starter.h"

#include <gtest/gtest.h>

namespace lamina::launcher::ssh {
namespace {

std::string Joined(const CommandLine& command) {
  std::string text;
  for (const std::string& word : command) text += "<" + word + ">";
  return text;
}

const std::string kShepherd[] = {"/opt/lamina/bin/mpiexec", "--lamina-shepherd"};

TEST(SshStarterTest, PlainHost) {
  Host host;
  host.name = "node07.east";
  EXPECT_EQ(Joined(SshStarter({}).CommandFor(host, kShepherd)),
            "<ssh><-x><-T><-o><BatchMode=yes><-o><ConnectTimeout=10><node07.east>"
            "<exec /opt/lamina/bin/mpiexec --lamina-shepherd>");
}

TEST(SshStarterTest, UserPortAndOptions) {
  Host host;
  host.name = "node07";
  host.user = "ada";
  host.port = 2222;
  Params params;
  params.command = "/usr/bin/ssh -F other";
  params.options = "-o  Compression=yes";
  params.connect_s = 3;
  const std::string blank[] = {"/opt/my mpi/mpiexec", "it's"};
  EXPECT_EQ(Joined(SshStarter(params).CommandFor(host, blank)),
            "</usr/bin/ssh><-F><other><-x><-T><-o><BatchMode=yes><-o><ConnectTimeout=3><-p><2222>"
            "<-l><ada><-o><Compression=yes><node07><exec '/opt/my mpi/mpiexec' 'it'\\''s'>");
}

TEST(SshStarterTest, ATurnedAwayGuestMayComeBack) {
  const SshStarter starter({});
  EXPECT_TRUE(
      starter.WorthRetrying(255, "kex_exchange_identification: read: Connection reset by peer\n"));
  EXPECT_TRUE(starter.WorthRetrying(255, "Connection closed by 10.0.0.7 port 22"));
  EXPECT_FALSE(starter.WorthRetrying(255, "ssh: Could not resolve hostname nosuch"));
  EXPECT_FALSE(starter.WorthRetrying(255, "ada@node07: Permission denied (publickey)."));
  EXPECT_FALSE(starter.WorthRetrying(127, "Connection reset by peer"));
}

}  // namespace
}  // namespace lamina::launcher::ssh
