// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/pmix/server.h"

#include <event2/event.h>
#include <fcntl.h>
#include <hwloc.h>
#include <net/if.h>
#include <pmix.h>
#include <pmix_server.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "launcher/plan/topology.h"
#include "launcher/pmix/gatekeeper.h"
#include "launcher/pmix/hub.h"
#include "launcher/pmix/job_description.h"
#include "launcher/pmix/mailbox.h"
#include "launcher/pmix/upcalls.h"
#include "runtime/base/check.h"
#include "runtime/base/environment.h"
#include "runtime/base/log.h"
#include "runtime/base/node_memory.h"
#include "runtime/base/roster.h"
#include "runtime/base/text.h"

namespace lamina::launcher::pmix {
namespace {

// Nothing is ever put there, because the hash store keeps no files and no rendezvous file is asked
// for.
constexpr const char* kDirectory = "/tmp";
// libpmix keeps its data like this. The alternative, ds21, puts large files into the file system
// and delays the first client; it is faster only for ranks that get the data of all others, which
// ours do not.
constexpr const char* kStore = "hash";

Result<std::string> RandomName() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
    return SystemError(Code::kResource, errno, "cannot get random numbers");
  std::string name;
  for (const unsigned char byte : bytes) name += Format("%02x", byte);
  return name;
}

// Takes "4.2.2rc2" out of "OpenPMIx 4.2.2rc2, repo rev: …".
std::string LibraryVersion() {
  const std::string_view text = PMIx_Get_version();
  const std::size_t begin = text.find_first_of("0123456789");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_first_of(", ", begin) - begin));
}

// Is the interface down that libpmix listens on?
bool LoopbackIsDown() {
  const int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (any < 0) return false;
  ifreq loopback{};
  std::strcpy(loopback.ifr_name, "lo");
  const bool asked = ioctl(any, SIOCGIFFLAGS, &loopback) == 0;
  close(any);
  return asked && (loopback.ifr_flags & IFF_UP) == 0;
}

// Waits for the answers of libpmix's operations, which come on its own thread.
class Answers {
 public:
  static void Come(pmix_status_t status, void* self) {
    auto* answers = static_cast<Answers*>(self);
    const std::lock_guard lock(answers->mutex_);
    answers->Note(status);
    ++answers->come_;
    answers->arrived_.notify_one();
  }
  // `begun` is what the call that was given Come() returned.
  void Expect(pmix_status_t begun) {
    const std::lock_guard lock(mutex_);
    if (begun == PMIX_SUCCESS)
      ++expected_;
    else if (begun != PMIX_OPERATION_SUCCEEDED)
      Note(begun);
  }
  // Returns the first failure, if any.
  pmix_status_t Await() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return come_ == expected_; });
    return status_;
  }

 private:
  void Note(pmix_status_t status) {
    if (status_ == PMIX_SUCCESS) status_ = status;
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::size_t expected_ = 0;
  std::size_t come_ = 0;
  pmix_status_t status_ = PMIX_SUCCESS;
};

class LibpmixServer final : public Server {
 public:
  LibpmixServer(Seat seat, event_base* loop, const Plan& plan, const Params& params, void* topology,
                Hearings hearings)
      : seat_(std::move(seat)),
        loop_(loop),
        plan_(plan),
        params_(params),
        hearings_(std::move(hearings)) {
    for (const RankPlan& rank : plan_.ranks)
      if (rank.host == seat_.host) local_.push_back(rank.rank);
    topology_.source = const_cast<char*>("hwloc");
    topology_.topology = static_cast<hwloc_topology_t>(topology);
  }
  ~LibpmixServer() override;

  Status Open();
  const std::string& name() const override { return name_; }
  std::vector<std::string> EnvironmentOf(std::uint32_t rank) const override;
  int roster() const override { return roster_; }
  int node_memory() const override { return node_memory_; }
  bool started() const override { return started_; }
  Status Start() override;
  Status Receive(std::string_view letter) override;

 private:
  void OpenDesk();
  Status OpenRoster();
  void OpenNodeMemory();
  bool KnowsLibrary() const;
  Status InitLibrary();
  void EnsureTopology();
  Status RegisterJob();
  Status RegisterRanks();
  std::vector<std::string> ForeseenEnvironmentOf(std::uint32_t rank) const;
  std::vector<std::string> LibraryEnvironmentOf(std::uint32_t rank) const;
  std::vector<std::string> PmixEnvironmentOf(std::uint32_t rank) const;
  Status FindServerPort();
  void CompareEnvironments() const;

  Seat seat_;
  event_base* loop_;
  const Plan& plan_;
  Params params_;
  std::vector<std::uint32_t> local_;  // ranks served here
  Hearings hearings_;
  pmix_topology_t topology_{};
  std::string name_;
  std::string server_name_;
  std::string version_;
  std::uint16_t server_port_ = 0;
  int roster_ = -1;
  int node_memory_ = -1;
  bool started_ = false;
  bool library_runs_ = false;
  std::unique_ptr<Mailbox> mailbox_;
  std::unique_ptr<Gatekeeper> gatekeeper_;
  std::unique_ptr<Hub> hub_;  // of a job on one host
  Desk desk_;
};

Status LibpmixServer::Open() {
  name_ = seat_.job;
  if (name_.empty()) {
    Result<std::string> name = RandomName();
    if (!name.ok()) return std::move(name).status();
    name_ = *std::move(name);
  }
  server_name_ = name_ + ".server." + std::to_string(seat_.host);
  version_ = LibraryVersion();
  Result<std::unique_ptr<Mailbox>> mailbox = Mailbox::Open(loop_);
  if (!mailbox.ok()) return std::move(mailbox).status();
  mailbox_ = *std::move(mailbox);
  Result<std::unique_ptr<Gatekeeper>> gatekeeper =
      Gatekeeper::Open(loop_, name_, local_.size(), [this] {
        if (started_) return;
        if (Status status = Start(); !status.ok()) hearings_.failed(status);
      });
  if (!gatekeeper.ok()) return std::move(gatekeeper).status();
  gatekeeper_ = *std::move(gatekeeper);
  OpenDesk();
  if (Status status = OpenRoster(); !status.ok()) return status;
  OpenNodeMemory();
  if (params_.start == "early" || (params_.start == "auto" && !KnowsLibrary())) return Start();
  return {};
}

Status LibpmixServer::OpenRoster() {
  if (params_.roster == "no" || local_.size() != plan_.ranks.size()) return {};
  std::vector<std::uint32_t> apps;
  for (const RankPlan& rank : plan_.ranks) apps.push_back(rank.app);
  const std::uint32_t universe = UniverseRanks(plan_);
  Result<int> roster = MakeRoster(name_, plan_.hosts[seat_.host].name, universe, apps);
  if (!roster.ok()) return std::move(roster).status();
  roster_ = *roster;
  return {};
}

// Ranks that can open each other's memory do without.
void LibpmixServer::OpenNodeMemory() {
  if (!params_.node_memory || local_.size() < 2) return;
  Result<int> memory = MakeNodeMemory(name_);
  if (memory.ok())
    node_memory_ = *memory;
  else
    Log(Level::kInfo, "pmix", "ranks have no memory of the node in common: %s",
        std::string(memory.status().message()).c_str());
}

void LibpmixServer::OpenDesk() {
  desk_.mailbox = mailbox_.get();
  desk_.send = seat_.send;
  if (desk_.send != nullptr) return;
  // Answers are posted, so that nobody is answered before the question is complete.
  hub_ = std::make_unique<Hub>(
      plan_, std::vector<Hub::Edge>(plan_.hosts.size(), seat_.host), true,
      Hub::Outlets{[this](Hub::Edge, const std::string& letter) {
                     mailbox_->Post([this, letter] { (void)Receive(letter); });
                   },
                   [this](std::uint32_t rank, int code, std::string message) {
                     hearings_.abort(rank, code, std::move(message));
                   }});
  desk_.send = [this](const std::string& letter) {
    if (Status status = hub_->Receive(seat_.host, letter); !status.ok())
      Log(Level::kWarn, "pmix", "%s", std::string(status.message()).c_str());
  };
}

Status LibpmixServer::Receive(std::string_view bytes) {
  Result<Letter> letter = DecodeLetter(bytes);
  if (!letter.ok()) return std::move(letter).status();
  // Somebody on another node may want a card before anybody here has knocked.
  if (letter->subject == Subject::kModex)
    if (Status status = Start(); !status.ok()) return status;
  pmix::Receive(&desk_, name_, *letter);
  return {};
}

// Can ForeseenEnvironmentOf() foresee the environment that this libpmix sets?
bool LibpmixServer::KnowsLibrary() const { return version_.starts_with("4.2."); }

// libpmix is left running until the process exits: it has put nothing anywhere that needs cleaning,
// and PMIx_server_finalize() of 4.2.2 often hangs when clients have died. It may still look at the
// topology.
LibpmixServer::~LibpmixServer() {
  SitAt(nullptr);
  if (roster_ >= 0) close(roster_);
  if (node_memory_ >= 0) close(node_memory_);
}

Status LibpmixServer::Start() {
  if (started_) return {};
  started_ = true;  // whatever comes of it: it is not tried twice
  if (Status status = InitLibrary(); !status.ok()) return status;
  if (Status status = RegisterJob(); !status.ok()) return status;
  if (Status status = RegisterRanks(); !status.ok()) return status;
  if (Status status = FindServerPort(); !status.ok()) return status;
  if (KnowsLibrary()) CompareEnvironments();
  gatekeeper_->LeadTo(server_port_);
  return {};
}

// libpmix would load one by itself, with I/O devices, and spend its time reading PCI configuration
// space.
void LibpmixServer::EnsureTopology() {
  if (topology_.topology != nullptr) return;
  Result<Topology> topology = LoadTopology();
  if (!topology.ok()) {
    Log(Level::kInfo, "pmix", "%s", std::string(topology.status().message()).c_str());
    return;
  }
  topology_.topology = topology->release();  // libpmix looks at it until the process exits
}

// What libpmix logs is for its own developers: a rank that ends while it connects would be an
// error. What concerns the user comes back as a status and is said in our words. Whoever looks for
// a fault in libpmix sets the variable, to 2.
void SilenceLibrary() {
  const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nothing >= 0) setenv("PMIX_OUTPUT_STDERR_FD", std::to_string(nothing).c_str(), 0);
}

Status LibpmixServer::InitLibrary() {
  EnsureTopology();
  SilenceLibrary();
  setenv("PMIX_MCA_gds", kStore, 1);
  setenv("PMIX_MCA_psec", "native", 1);  // the gatekeeper knows who belongs here
  SitAt(&desk_);
  InfoList info;
  const bool no = false;
  const pmix_rank_t rank = 0;
  info.AddText(PMIX_SERVER_TMPDIR, kDirectory);
  info.AddText(PMIX_SYSTEM_TMPDIR, kDirectory);
  info.AddText(PMIX_SERVER_NSPACE, server_name_);
  info.Add(PMIX_SERVER_RANK, &rank, PMIX_PROC_RANK);
  info.Add(PMIX_SERVER_TOOL_SUPPORT, &no, PMIX_BOOL);
  info.AddText(PMIX_HOSTNAME, plan_.hosts[seat_.host].name);
  std::vector<pmix_info_t> all(info.data(), info.data() + info.size());
  pmix_info_t topology;  // by hand: loading it would copy the whole tree
  PMIX_INFO_CONSTRUCT(&topology);
  PMIX_LOAD_KEY(topology.key, PMIX_TOPOLOGY2);
  topology.value.type = PMIX_TOPO;
  topology.value.data.topo = &topology_;
  all.push_back(topology);
  static pmix_server_module_t module = Module();
  const pmix_status_t status = PMIx_server_init(&module, all.data(), all.size());
  if (status != PMIX_SUCCESS)
    return Error(Code::kResource, "cannot start the PMIx server: %s%s", PMIx_Error_string(status),
                 LoopbackIsDown() ? "; the network interface lo is down (ip link set lo up)" : "");
  library_runs_ = true;
  return {};
}

Status LibpmixServer::RegisterJob() {
  InfoList job;
  DescribeJob(plan_, name_, seat_.host, &job);
  Answers answers;
  answers.Expect(PMIx_server_register_nspace(name_.c_str(), static_cast<int>(local_.size()),
                                             job.data(), job.size(), Answers::Come, &answers));
  if (const pmix_status_t status = answers.Await(); status != PMIX_SUCCESS)
    return Error(Code::kResource, "PMIx does not take the job: %s", PMIx_Error_string(status));
  return {};
}

Status LibpmixServer::RegisterRanks() {
  Answers answers;
  for (const std::uint32_t rank : local_) {
    pmix_proc_t process;
    PMIX_LOAD_PROCID(&process, name_.c_str(), rank);
    answers.Expect(PMIx_server_register_client(&process, geteuid(), getegid(), nullptr,
                                               Answers::Come, &answers));
  }
  if (const pmix_status_t status = answers.Await(); status != PMIX_SUCCESS)
    return Error(Code::kResource, "PMIx does not take the ranks: %s", PMIx_Error_string(status));
  return {};
}

std::vector<std::string> LibpmixServer::LibraryEnvironmentOf(std::uint32_t rank) const {
  pmix_proc_t process;
  PMIX_LOAD_PROCID(&process, name_.c_str(), rank);
  char** variables = nullptr;
  std::vector<std::string> assignments;
  if (PMIx_server_setup_fork(&process, &variables) != PMIX_SUCCESS) return assignments;
  for (char** variable = variables; variable != nullptr && *variable != nullptr; ++variable)
    assignments.emplace_back(*variable);
  PMIX_ARGV_FREE(variables);
  return assignments;
}

Status LibpmixServer::FindServerPort() {
  for (const std::string& assignment : LibraryEnvironmentOf(local_.front())) {
    if (!assignment.starts_with("PMIX_SERVER_URI")) continue;
    const auto port = ParseInteger(assignment.substr(assignment.rfind(':') + 1));
    if (!port.has_value() || *port <= 0 || *port > 65535) continue;
    server_port_ = static_cast<std::uint16_t>(*port);
    return {};
  }
  return Error(Code::kInternal, "the PMIx server does not say where it listens");
}

std::vector<std::string> LibpmixServer::ForeseenEnvironmentOf(std::uint32_t rank) const {
  const std::string where =
      server_name_ + ".0;tcp4://127.0.0.1:" + std::to_string(gatekeeper_->port());
  std::vector<std::string> assignments = {
      "PMIX_NAMESPACE=" + name_,
      "PMIX_RANK=" + std::to_string(rank),
      "PMIX_VERSION=" + version_,
      "PMIX_HOSTNAME=" + plan_.hosts[plan_.ranks[rank].host].name,
      "PMIX_SECURITY_MODE=native",
      std::string("PMIX_GDS_MODULE=") + kStore,
      "PMIX_BFROP_BUFFER_TYPE=PMIX_BFROP_BUFFER_NON_DESC",
      std::string("PMIX_SERVER_TMPDIR=") + kDirectory,
      std::string("PMIX_SYSTEM_TMPDIR=") + kDirectory,
  };
  for (const char* generation : {"2", "21", "3", "4", "41"})
    assignments.push_back(std::string("PMIX_SERVER_URI") + generation + "=" + where);
  return assignments;
}

// Returns what libpmix says, but with another port, because ranks come to our gatekeeper.
std::vector<std::string> LibpmixServer::PmixEnvironmentOf(std::uint32_t rank) const {
  if (!library_runs_) return ForeseenEnvironmentOf(rank);
  std::vector<std::string> assignments = LibraryEnvironmentOf(rank);
  const std::string theirs = ":" + std::to_string(server_port_);
  for (std::string& assignment : assignments)
    if (assignment.starts_with("PMIX_SERVER_URI") && assignment.ends_with(theirs))
      assignment.replace(assignment.size() - theirs.size(), theirs.size(),
                         ":" + std::to_string(gatekeeper_->port()));
  return assignments;
}

std::vector<std::string> LibpmixServer::EnvironmentOf(std::uint32_t rank) const {
  std::vector<std::string> assignments = PmixEnvironmentOf(rank);
  if (roster_ >= 0) assignments.push_back(RosterAssignment(roster_));
  if (node_memory_ >= 0) assignments.push_back(NodeMemoryAssignment(node_memory_));
  return assignments;
}

void LibpmixServer::CompareEnvironments() const {
  const Environment said(PmixEnvironmentOf(local_.front()));
  const Environment foreseen(ForeseenEnvironmentOf(local_.front()));
  if (said.Assignments() == foreseen.Assignments()) return;
  for (const std::string& assignment : said.Assignments()) {
    const std::string name = assignment.substr(0, assignment.find('='));
    const std::string value = assignment.substr(name.size() + 1);
    if (foreseen.Get(name) != value)
      Log(Level::kWarn, "pmix",
          "libpmix %s sets %s=%s, which ranks were not told; if they do not start, use "
          "--param launcher.pmix.start=early",
          version_.c_str(), name.c_str(), value.c_str());
  }
}

}  // namespace

Result<std::unique_ptr<Server>> Server::Make(event_base* loop, const Plan& plan,
                                             const Params& params, void* topology,
                                             Hearings hearings) {
  CHECK(!plan.ranks.empty());
  auto server = std::make_unique<LibpmixServer>(Seat{"", plan.ranks.front().host, nullptr}, loop,
                                                plan, params, topology, std::move(hearings));
  if (Status status = server->Open(); !status.ok()) return status;
  return std::unique_ptr<Server>(std::move(server));
}

Result<std::unique_ptr<Server>> Server::MakeAt(Seat seat, event_base* loop, const Plan& plan,
                                               const Params& params, Hearings hearings) {
  auto server = std::make_unique<LibpmixServer>(std::move(seat), loop, plan, params, nullptr,
                                                std::move(hearings));
  if (Status status = server->Open(); !status.ok()) return status;
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace lamina::launcher::pmix
