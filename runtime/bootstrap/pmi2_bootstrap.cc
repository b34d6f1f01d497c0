// SPDX-License-Identifier: BSD-3-Clause
// This asks the server for little, for two reasons. Only two attributes of Slurm's server can be
// trusted (others whose names sort after them return the node's addresses). Its fence, unlike
// PMIx's there, is a barrier, so cards are put and one fence, the only one, makes them visible.
#include "runtime/bootstrap/pmi2_bootstrap.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "runtime/base/text.h"
#include "runtime/bootstrap/pmi2_wire.h"

namespace lamina::bootstrap {
namespace {

using pmi2::Answer;
using pmi2::Pairs;

constexpr std::size_t kGreetingBytesMax = 1024;

std::string CardKey(std::uint32_t rank, std::size_t piece) {
  return Format("lamina.card.%u.%zu", rank, piece);
}

class Pmi2Bootstrap final : public Bootstrap {
 public:
  Pmi2Bootstrap(int socket, std::string job, bool forgiving)
      : socket_(socket), forgiving_(forgiving) {
    identity_.job = std::move(job);
  }

  Status Greet(const Environment& environment) {
    if (Status status = Send("cmd=init pmi_version=2 pmi_subversion=0\n"); !status.ok())
      return status;
    Result<std::string> greeting = ReceiveLine();
    if (!greeting.ok()) return std::move(greeting).status();
    if (greeting->find("pmi_version=2") == std::string::npos ||
        greeting->find("rc=0") == std::string::npos)
      return Error(Code::kUnsupported,
                   "the launcher that started this process speaks PMI, but not PMI-2 (\"%s\"); use "
                   "mpiexec, or srun --mpi=pmix or --mpi=pmi2",
                   greeting->substr(0, 80).c_str());
    Result<Answer> answer = Ask({{"cmd", "fullinit"},
                                 {"pmijobid", identity_.job},
                                 {"pmirank", environment.Get("PMI_RANK").value_or("0")},
                                 {"threaded", "FALSE"}});
    if (!answer.ok()) return std::move(answer).status();
    const auto rank = ParseInteger((*answer)["rank"]);
    const auto size = ParseInteger((*answer)["size"]);
    if (!rank || !size || *rank < 0 || *size < 1 || *rank >= *size || *size > INT32_MAX)
      return Error(Code::kUnsupported, "the PMI-2 server does not say who this process is");
    identity_.rank = static_cast<std::uint32_t>(*rank);
    identity_.job_ranks = static_cast<std::uint32_t>(*size);
    if (const auto app = ParseInteger((*answer)["appnum"]); app && *app > 0)
      identity_.app = static_cast<std::uint32_t>(*app);
    return ReadPlaces(environment);
  }

  const Identity& identity() const override { return identity_; }

  Status Publish(std::span<const std::byte> card) override {
    const std::vector<std::string> values = pmi2::EncodeBytes({card.begin(), card.end()});
    for (std::size_t i = 0; i < values.size(); ++i) {
      Result<Answer> answer =
          Ask({{"cmd", "kvs-put"}, {"key", CardKey(identity_.rank, i)}, {"value", values[i]}});
      if (!answer.ok()) return std::move(answer).status();
    }
    return std::move(Ask({{"cmd", "kvs-fence"}})).status();
  }

  Result<std::vector<std::byte>> Card(std::uint32_t rank) override {
    std::vector<std::string> values;
    for (std::size_t i = 0, count = 1; i < count; ++i) {
      Result<Answer> answer = Ask({{"cmd", "kvs-get"},
                                   {"jobid", identity_.job},
                                   {"srcid", "-1"},
                                   {"key", CardKey(rank, i)}});
      if (!answer.ok()) return std::move(answer).status();
      if ((*answer)["flag"] != "TRUE" && (*answer)["found"] != "TRUE")
        return Error(Code::kPeerLost, "the PMI-2 server has no card of rank %u", rank);
      values.push_back((*answer)["value"]);
      if (i > 0) continue;
      Result<std::size_t> pieces = pmi2::CountOf(values[0]);
      if (!pieces.ok()) return std::move(pieces).status();
      count = *pieces;
    }
    return pmi2::DecodeBytes(values);
  }

  Result<std::uint32_t> Node(std::uint32_t rank) override {
    if (rank < nodes_.size()) return nodes_[rank];
    return Error(Code::kUnsupported, "the PMI-2 server does not say on which node rank %u is",
                 rank);
  }

  const std::vector<ProcessSet>& ProcessSets() override { return no_sets_; }

  // The exit code has no place in this protocol.
  void Abort(int code, const char* why) override {
    (void)Send(pmi2::EncodeRequest(
        {{"cmd", "abort"},
         {"isworld", "TRUE"},
         {"msg", Format("exit code %d: %s", code, why == nullptr ? "" : why)}}));
  }

  // After "finalize" a server closes the connection for good, so a session that follows could not
  // ask for cards. If a process ends without it, Slurm lets the others live, but other servers do
  // not.
  Status Leave() override {
    if (forgiving_) return {};
    return std::move(Ask({{"cmd", "finalize"}})).status();
  }
  Status Return(std::uint32_t) override {
    if (forgiving_) return {};
    return Error(
        Code::kUnsupported,
        "the launcher that started this process does not let it back in after MPI_Finalize; "
        "Lamina's mpiexec does");
  }

 private:
  Status ReadPlaces(const Environment& environment) {
    identity_.universe_ranks = identity_.job_ranks;
    if (const auto universe = ParseInteger(Attribute("universeSize").value_or("")))
      if (*universe >= identity_.job_ranks && *universe <= INT32_MAX)
        identity_.universe_ranks = static_cast<std::uint32_t>(*universe);
    identity_.node = environment.Get("SLURMD_NODENAME").value_or("");
    if (identity_.node.empty()) {
      char name[256] = "";
      gethostname(name, sizeof name - 1);
      identity_.node = name;
    }
    const std::optional<std::string> mapping = Attribute("PMI_process_mapping");
    if (!mapping)
      return Error(Code::kUnsupported, "the PMI-2 server does not say which ranks share a node");
    Result<std::vector<std::uint32_t>> nodes = pmi2::NodesOfRanks(*mapping, identity_.job_ranks);
    if (!nodes.ok()) return std::move(nodes).status();
    nodes_ = std::move(*nodes);
    identity_.local_peers.clear();
    for (std::uint32_t rank = 0; rank < nodes_.size(); ++rank) {
      if (nodes_[rank] != nodes_[identity_.rank]) continue;
      if (rank == identity_.rank)
        identity_.local_rank = static_cast<std::uint32_t>(identity_.local_peers.size());
      identity_.local_peers.push_back(rank);
    }
    return {};
  }

  std::optional<std::string> Attribute(const char* key) {
    Result<Answer> answer = Ask({{"cmd", "info-getjobattr"}, {"key", key}});
    if (!answer.ok()) return std::nullopt;
    if ((*answer)["flag"] != "TRUE" && (*answer)["found"] != "TRUE") return std::nullopt;
    return (*answer)["value"];
  }

  Result<Answer> Ask(const Pairs& request) {
    if (Status status = Send(pmi2::EncodeRequest(request)); !status.ok()) return status;
    std::string columns(pmi2::kLengthColumns, '\0');
    if (Status status = Receive(&columns); !status.ok()) return status;
    const std::optional<std::size_t> bytes = pmi2::BodyBytes(columns);
    if (!bytes) return Error(Code::kInvalid, "the server on PMI_FD does not speak PMI-2");
    std::string body(*bytes, '\0');
    if (Status status = Receive(&body); !status.ok()) return status;
    Result<Answer> answer = pmi2::DecodeAnswer(body);
    if (!answer.ok()) return answer;
    const std::string& command = request.front().second;
    if ((*answer)["cmd"] != command + "-response")
      return Error(Code::kInvalid, "the PMI-2 server answered %s with %s", command.c_str(),
                   (*answer)["cmd"].c_str());
    if (answer->contains("rc") && (*answer)["rc"] != "0")
      return Error(
          Code::kResource, "the PMI-2 server refuses %s: %s%s", command.c_str(),
          answer->contains("errmsg") ? "" : "rc=",
          answer->contains("errmsg") ? (*answer)["errmsg"].c_str() : (*answer)["rc"].c_str());
    return answer;
  }

  Status Send(const std::string& bytes) {
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t count = send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0)
        return SystemError(Code::kPeerLost, errno,
                           "the PMI-2 server that started this process does not answer");
      sent += static_cast<std::size_t>(count);
    }
    return {};
  }

  Status Receive(std::string* bytes) {
    for (std::size_t had = 0; had < bytes->size();) {
      const ssize_t count = recv(socket_, bytes->data() + had, bytes->size() - had, 0);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0)
        return SystemError(Code::kPeerLost, errno,
                           "the PMI-2 server that started this process does not answer");
      if (count == 0)
        return Error(Code::kPeerLost, "the PMI-2 server that started this process has gone");
      had += static_cast<std::size_t>(count);
    }
    return {};
  }

  Result<std::string> ReceiveLine() {
    std::string line;
    std::string letter(1, '\0');
    while (line.size() < kGreetingBytesMax) {
      if (Status status = Receive(&letter); !status.ok()) return status;
      if (letter == "\n") return line;
      line += letter;
    }
    return Error(Code::kInvalid, "the server on PMI_FD does not speak PMI-2");
  }

  const int socket_;
  const bool forgiving_;
  Identity identity_;
  std::vector<std::uint32_t> nodes_;  // by rank
  std::vector<ProcessSet> no_sets_;
};

}  // namespace

Result<std::unique_ptr<Bootstrap>> ConnectPmi2(const Environment& environment) {
  const auto socket = ParseInteger(environment.Get("PMI_FD").value_or(""));
  if (!socket || *socket < 0 || *socket > 1 << 20)
    return Error(Code::kInvalid, "PMI_FD is not a descriptor");
  auto bootstrap = std::make_unique<Pmi2Bootstrap>(
      static_cast<int>(*socket), environment.Get("PMI_JOBID").value_or("singleton"),
      environment.Get("SLURM_STEP_ID").has_value());
  if (Status status = bootstrap->Greet(environment); !status.ok()) return status;
  return std::unique_ptr<Bootstrap>(std::move(bootstrap));
}

}  // namespace lamina::bootstrap
