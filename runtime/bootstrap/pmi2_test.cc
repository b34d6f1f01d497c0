// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the PMI-2 protocol is spoken as Slurm speaks it, a card of any size survives it, and
//         answers that are wrong are refused with a sentence.
// Method: golden texts; a server of ours at the other end of a socket, which keeps values and can
//         be told to misbehave.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <random>
#include <thread>

#include "runtime/bootstrap/bootstrap.h"
#include "runtime/bootstrap/pmi2_wire.h"

namespace lamina::bootstrap {
namespace {

using pmi2::Answer;

TEST(Wire, Golden) {
  EXPECT_EQ(pmi2::EncodeRequest({{"cmd", "kvs-get"}, {"key", "universe"}}),
            "    25cmd=kvs-get;key=universe;");
  EXPECT_EQ(pmi2::EncodeRequest({{"a", "b;c"}}), "     7a=b;;c;");
  Result<Answer> answer = pmi2::DecodeAnswer("cmd=x-response;value=a;;b=c;rc=0;");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ((*answer)["value"], "a;b=c");
  for (const char* wrong : {"", "x", "cmd=a", "=b;", ";", "cmd=a;b;"})
    EXPECT_FALSE(pmi2::DecodeAnswer(wrong).ok()) << wrong;
  EXPECT_EQ(pmi2::BodyBytes("    29"), 29u);
  EXPECT_EQ(pmi2::BodyBytes("29    "), 29u);
  for (const char* wrong : {"", "      ", "     0", "    -1", "cmd=in", "29"})
    EXPECT_FALSE(pmi2::BodyBytes(wrong)) << wrong;
}

std::vector<std::uint32_t> Nodes(std::string_view mapping, std::uint32_t ranks) {
  Result<std::vector<std::uint32_t>> nodes = pmi2::NodesOfRanks(mapping, ranks);
  EXPECT_TRUE(nodes.ok()) << mapping;
  return nodes.ok() ? *nodes : std::vector<std::uint32_t>{};
}

TEST(ProcessMapping, Blocks) {
  using List = std::vector<std::uint32_t>;
  EXPECT_EQ(Nodes("(vector,(0,4,2))", 8), (List{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(Nodes("(vector,(0,1,4),(1,3,1))", 7), (List{0, 0, 0, 0, 1, 2, 3}));
  EXPECT_EQ(Nodes("(vector,(0,2,1))", 5), (List{0, 1, 0, 1, 0}));  // round the nodes
  for (const char* wrong :
       {"", "(vector)", "(vector,)", "(vector,(0,4))", "(vector,(0,0,1))", "(vector,(0,1,0))",
        "(vector,(a,1,1))", "(matrix,(0,1,1))", "(vector,(0,1,1)", "(vector,(-1,1,1))"})
    EXPECT_FALSE(pmi2::NodesOfRanks(wrong, 2).ok()) << wrong;
}

TEST(Bytes, SurviveInPieces) {
  std::mt19937 random(75);
  for (const std::size_t size : {0u, 1u, 475u, 476u, 477u, 956u, 957u, 5000u}) {
    std::vector<std::byte> bytes(size);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    const std::vector<std::string> values = pmi2::EncodeBytes(bytes);
    for (const std::string& value : values) EXPECT_LE(value.size(), pmi2::kValueBytesMax) << size;
    EXPECT_EQ(*pmi2::CountOf(values[0]), values.size());
    Result<std::vector<std::byte>> back = pmi2::DecodeBytes(values);
    ASSERT_TRUE(back.ok()) << size;
    EXPECT_EQ(*back, bytes) << size;
  }
  EXPECT_FALSE(pmi2::CountOf("abc").ok());
  EXPECT_FALSE(pmi2::CountOf("0:").ok());
  EXPECT_FALSE(pmi2::DecodeBytes({"1:0g"}).ok());
  EXPECT_FALSE(pmi2::DecodeBytes({"1:0"}).ok());
}

// Serves one client until it hangs up.
class Server {
 public:
  explicit Server(std::string greeting = "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0")
      : greeting_(std::move(greeting)) {
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets_), 0);
    thread_ = std::thread([this] { Serve(); });
  }
  ~Server() {
    shutdown(sockets_[1], SHUT_RDWR);
    thread_.join();
    close(sockets_[0]);
    close(sockets_[1]);
  }
  Environment ForClient() const {
    return Environment({"PMI_FD=" + std::to_string(sockets_[0]), "PMI_RANK=2", "PMI_SIZE=4",
                        "PMI_JOBID=75.0", "SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=4",
                        "SLURMD_NODENAME=node2"});
  }
  std::map<std::string, std::string> kept_;
  std::string fence_result_ = "0";
  int fences_ = 0;
  int finalized_ = 0;

 private:
  bool Read(std::string* bytes) {
    for (std::size_t had = 0; had < bytes->size();) {
      const ssize_t count = read(sockets_[1], bytes->data() + had, bytes->size() - had);
      if (count <= 0) return false;
      had += static_cast<std::size_t>(count);
    }
    return true;
  }
  void Write(const std::string& bytes) {
    EXPECT_EQ(write(sockets_[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void Serve() {
    std::string letter(1, 0);
    while (letter != "\n")
      if (!Read(&letter)) return;
    Write(greeting_ + "\n");
    std::string columns(pmi2::kLengthColumns, 0);
    while (Read(&columns)) {
      std::string body(pmi2::BodyBytes(columns).value_or(1), 0);
      if (!Read(&body)) return;
      Answer request = *pmi2::DecodeAnswer(body);
      const std::string command = request["cmd"];
      pmi2::Pairs answer = {{"cmd", command + "-response"}};
      if (command == "fullinit") {
        answer.insert(answer.end(), {{"rank", "2"}, {"size", "4"}, {"appnum", "-1"}});
      } else if (command == "kvs-put") {
        kept_[request["key"]] = request["value"];
      } else if (command == "kvs-get") {
        const auto found = kept_.find(request["key"]);
        answer.emplace_back("flag", found == kept_.end() ? "FALSE" : "TRUE");
        if (found != kept_.end()) answer.emplace_back("value", found->second);
      } else if (command == "info-getjobattr") {
        answer.emplace_back("flag", "TRUE");
        answer.emplace_back("value", request["key"] == "universeSize" ? "6" : "(vector,(0,2,2))");
      }
      finalized_ += command == "finalize" ? 1 : 0;
      fences_ += command == "kvs-fence" ? 1 : 0;
      answer.emplace_back("rc", command == "kvs-fence" ? fence_result_ : "0");
      Write(pmi2::EncodeRequest(answer));
    }
  }

  std::string greeting_;
  int sockets_[2];
  std::thread thread_;
};

TEST(Pmi2, WhoAndWhere) {
  Server server;
  Result<std::unique_ptr<Bootstrap>> found = Find(server.ForClient());
  ASSERT_TRUE(found.ok()) << found.status().message();
  const Identity& identity = (*found)->identity();
  EXPECT_EQ(identity.job, "75.0");
  EXPECT_EQ(identity.rank, 2u);
  EXPECT_EQ(identity.job_ranks, 4u);
  EXPECT_EQ(identity.universe_ranks, 6u);
  EXPECT_EQ(identity.app, 0u);
  EXPECT_EQ(identity.local_rank, 0u);
  EXPECT_EQ(identity.local_peers, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(identity.node, "node2");
  EXPECT_EQ(*(*found)->Node(1), 0u);
  EXPECT_EQ(*(*found)->Node(3), 1u);
  EXPECT_FALSE((*found)->Node(4).ok());
}

TEST(Pmi2, CardsTravel) {
  Server server;
  Result<std::unique_ptr<Bootstrap>> found = Find(server.ForClient());
  ASSERT_TRUE(found.ok());
  std::vector<std::byte> card(3000, std::byte{0x5a});
  ASSERT_TRUE((*found)->Publish(card).ok());
  EXPECT_EQ(server.fences_, 1);
  Result<std::vector<std::byte>> back = (*found)->Card(2);
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(*back, card);
  EXPECT_EQ((*found)->Card(1).status().message(), "the PMI-2 server has no card of rank 1");
  EXPECT_TRUE((*found)->Leave().ok());
  EXPECT_TRUE((*found)->Return(0).ok());
}

// Servers other than Slurm's take an end without "finalize" for an accident.
TEST(Pmi2, LeavingElsewhereIsForGood) {
  Server server;
  Environment environment = server.ForClient();
  environment.Unset("SLURM_STEP_ID");
  Result<std::unique_ptr<Bootstrap>> found = Find(environment);
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE((*found)->Leave().ok());
  EXPECT_EQ(server.finalized_, 1);
  EXPECT_FALSE((*found)->Return(0).ok());
}

TEST(Pmi2, APortIsRefusedLoudly) {
  EXPECT_FALSE(Find(Environment({"PMI_PORT=head:4711", "PMI_ID=0"})).ok());
}

TEST(Pmi2, ARefusalIsASentence) {
  Server server;
  server.fence_result_ = "14";
  Result<std::unique_ptr<Bootstrap>> found = Find(server.ForClient());
  ASSERT_TRUE(found.ok());
  EXPECT_EQ((*found)->Publish({}).message(), "the PMI-2 server refuses kvs-fence: rc=14");
}

TEST(Pmi2, AnOlderServerIsNamed) {
  Server server("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1");
  Result<std::unique_ptr<Bootstrap>> found = Find(server.ForClient());
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.status().message().find("speaks PMI, but not PMI-2"), std::string_view::npos);
}

TEST(Pmi2, AServerThatIsNotThere) {
  EXPECT_FALSE(Find(Environment({"PMI_FD=none"})).ok());
  EXPECT_FALSE(Find(Environment({"PMI_FD=1023"})).ok());
}

}  // namespace
}  // namespace lamina::bootstrap
