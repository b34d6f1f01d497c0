// SPDX-License-Identifier: BSD-3-Clause
// Latency and stream rate of one transport between two processes, without MPI on top.
//
// usage: benchmark [TRANSPORT] [indirection] [--param name=value]...     TRANSPORT: shm (default),
// ucx
//
// `indirection`: only what the component's interface costs (shm), which else comes last.
//
// Two forked processes, pinned to the first two CPUs they may use. Prints, for each payload size,
// half the round trip of a frame (lowest and median of the batches), frames per second of a one-way
// stream, and half the round trip of a rendezvous by Get (announce, fetch, done). Compare only
// figures of one run, and with the floor printed first: a cache line sent to and fro.
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/environment.h"
#include "transports/shm/endpoint.h"
#include "transports/shm/local_transport.h"
#include "transports/shm/shm_transport.h"
#include "transports/transport.h"
#include "transports/ucx/ucx_transport.h"

namespace lamina {
namespace {

// Many short ones, so that the lowest is undisturbed even on a machine that has other things to do.
constexpr int kBatches = 151;

double Now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void Pin(int wanted) {
  cpu_set_t allowed, one;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  int last = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE && wanted >= 0; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) last = cpu, --wanted;
  CPU_ZERO(&one);
  CPU_SET(last, &one);
  sched_setaffinity(0, sizeof one, &one);
}

struct Figures {
  double low;
  double median;
};
Figures Sorted(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values.front(), values[values.size() / 2]};
}

// Counts what arrives; remembers what a rendezvous announced.
class Counter final : public transport::Inbox {
 public:
  PeerId Identify(transport::ProcessName) override { return PeerId{0}; }
  void Arrived(PeerId, const transport::Header& header,
               std::span<const std::byte> payload) override {
    ++arrived;
    header_ = header;
    if (!payload.empty() && payload.size() <= into.size())
      std::memcpy(into.data(), payload.data(), payload.size());
  }
  void Offered(PeerId, const transport::Header&, std::size_t bytes,
               transport::Parcel* parcel) override {
    fetched_.counter = this;
    fetched_.done = [](transport::Completion* self, Code) {
      ++static_cast<Fetched*>(self)->counter->arrived;
    };
    parcel->Accept({into.data(), bytes}, &fetched_);
  }
  void Lost(PeerId, Status why) override {
    std::fprintf(stderr, "lost: %s\n", std::string(why.message()).c_str());
    _exit(1);
  }
  const transport::Header& header() const { return header_; }

  std::uint64_t arrived = 0;
  std::vector<std::byte> into = std::vector<std::byte>(8u << 20);

 private:
  struct Fetched : transport::Completion {
    Counter* counter = nullptr;
  };
  Fetched fetched_;
  transport::Header header_{};
};

// One of the two processes.
class Side {
 public:
  Side(const transport::Component& component, const param::Settings& settings, int socket,
       bool first)
      : first_(first), environment_(Environment::OfThisProcess()) {
    transport::Context context;
    context.settings = &settings;
    context.environment = &environment_;
    context.self = transport::ProcessName{first ? 1u : 2u};
    context.local_ranks = context.job_ranks = 2;
    context.inbox = &counter_;
    auto made = component.make(context);
    if (!made.ok()) Fail(made.status());
    transport_ = *std::move(made);
    auto address = transport_->LocalAddress();
    if (!address.ok()) Fail(address.status());
    std::byte buffer[4096];
    if (send(socket, address->data(), address->size(), 0) < 0) _exit(1);
    const ssize_t got = recv(socket, buffer, sizeof buffer, 0);
    if (got <= 0) _exit(1);
    auto endpoint = transport_->Connect(PeerId{0}, {buffer, static_cast<std::size_t>(got)});
    if (!endpoint.ok()) Fail(endpoint.status());
    endpoint_ = *std::move(endpoint);
    for (std::byte& byte : data_) byte = std::byte{1};
  }

  void Send(std::size_t bytes, transport::Header header = {}) {
    SendBy(*endpoint_, *transport_, bytes, header);
  }
  void Await(std::uint64_t frames) { AwaitFrom(*transport_, frames); }

  Figures PingPong(std::size_t bytes, int rounds) {
    return Batches(rounds, [&] { Ping(bytes); });
  }
  // One batch of them. `directly`: not through the interface; shm only.
  double PingPongBatch(std::size_t bytes, int rounds, bool directly) {
    auto& endpoint = static_cast<shm::Endpoint&>(*endpoint_);
    auto& transport = static_cast<shm::LocalTransport&>(*transport_);
    return directly ? Batch(rounds, [&] { PingBy(endpoint, transport, bytes); })
                    : Batch(rounds, [&] { Ping(bytes); });
  }

  // Announce, fetch, done, in both directions by turns.
  Figures Rendezvous(std::size_t bytes, int rounds) {
    return Batches(rounds, [&] {
      if (first_)
        Announce(bytes), Fetch(bytes);
      else
        Fetch(bytes), Announce(bytes);
    });
  }

  // Seconds per frame of a one-way stream; the receiver answers each window.
  Figures Stream(std::size_t bytes, int windows) {
    constexpr int kWindow = 64;
    Figures figures = Batches(windows, [&] {
      if (first_) {
        for (int i = 0; i < kWindow; ++i) Send(bytes);
        Await(1);
      } else {
        Await(kWindow);
        Send(0);
      }
    });
    return {figures.low * 2 / kWindow, figures.median * 2 / kWindow};
  }

  const transport::EndpointCaps caps() const { return endpoint_->caps(); }
  bool first() const { return first_; }

 private:
  [[noreturn]] static void Fail(const Status& status) {
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    _exit(1);
  }
  void Announce(std::size_t) {
    Send(24, {{reinterpret_cast<std::uintptr_t>(data_.data()), 0}});
    Await(1);
  }
  void Fetch(std::size_t bytes) {
    Await(1);
    transport::Completion done{[](transport::Completion*, Code) {}};
    const transport::Region region{counter_.header().words[0], bytes};
    if (endpoint_->Get(region, 0, {counter_.into.data(), bytes}, &done) != Code::kOk) _exit(3);
    Send(0);
  }
  template <class To, class Through>
  void SendBy(To& endpoint, Through& transport, std::size_t bytes, transport::Header header) {
    const transport::Frame frame{header, {data_.data(), bytes}};
    Code code;
    while ((code = endpoint.SendShort(frame)) == Code::kAgain) transport.Progress(16);
    if (code != Code::kOk) _exit(2);
  }
  template <class From>
  void AwaitFrom(From& transport, std::uint64_t frames) {
    expected_ += frames;
    while (counter_.arrived < expected_) transport.Progress(16);
  }
  template <class To, class Through>
  void PingBy(To& endpoint, Through& transport, std::size_t bytes) {
    if (first_)
      SendBy(endpoint, transport, bytes, {}), AwaitFrom(transport, 1);
    else
      AwaitFrom(transport, 1), SendBy(endpoint, transport, bytes, {});
  }
  void Ping(std::size_t bytes) { PingBy(*endpoint_, *transport_, bytes); }
  // Half the time of one `round`, in the mean of so many.
  template <class Round>
  static double Batch(int rounds, const Round& round) {
    const double begin = Now();
    for (int i = 0; i < rounds; ++i) round();
    return (Now() - begin) / rounds / 2;
  }
  template <class Round>
  static Figures Batches(int rounds, const Round& round) {
    std::vector<double> values;
    Batch(rounds, round);
    for (int batch = 0; batch < kBatches; ++batch) values.push_back(Batch(rounds, round));
    return Sorted(values);
  }

  const bool first_;
  Counter counter_;
  Environment environment_;
  std::unique_ptr<transport::Transport> transport_;
  std::unique_ptr<transport::Endpoint> endpoint_;
  std::vector<std::byte> data_ = std::vector<std::byte>(8u << 20);
  std::uint64_t expected_ = 0;
};

struct alignas(64) Line {
  std::atomic<std::uint32_t> value;
  char rest[124];  // the neighbour line too: it is fetched along
};

void Floor(Line* lines, bool first) {
  std::vector<double> values;
  std::uint32_t turn = 0;
  constexpr int kRounds = 300;
  for (int batch = -1; batch < kBatches; ++batch) {
    const double begin = Now();
    for (int i = 0; i < kRounds; ++i) {
      ++turn;
      if (first) lines[0].value.store(turn, std::memory_order_release);
      while (lines[first ? 1 : 0].value.load(std::memory_order_acquire) != turn) continue;
      if (!first) lines[1].value.store(turn, std::memory_order_release);
    }
    if (batch >= 0) values.push_back((Now() - begin) / kRounds / 2);
  }
  const Figures figures = Sorted(values);
  if (first)
    std::printf("floor: cache line one way %.3f / %.3f us\n", figures.low * 1e6,
                figures.median * 1e6);
}

void Report(Side& side, Line* lines) {
  Floor(lines, side.first());
  if (side.first())
    std::printf(
        "short_bytes_max %u, eager_bytes_max %u, get_bytes_max %llu\n"
        "%8s  %18s  %12s  %10s  %18s\n",
        side.caps().short_bytes_max, side.caps().eager_bytes_max,
        static_cast<unsigned long long>(side.caps().get_bytes_max), "bytes", "short, us",
        "M frames/s", "MB/s", "rendezvous, us");
  for (std::size_t bytes : {0, 8, 16, 32, 40, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384,
                            32768, 65536, 1048576, 4194304}) {
    const bool is_short = bytes <= side.caps().short_bytes_max;
    const int rounds = bytes <= 1024 ? 300 : bytes <= 16384 ? 60 : bytes <= 65536 ? 20 : 2;
    Figures latency{}, stream{}, rendezvous{};
    if (is_short) latency = side.PingPong(bytes, rounds);
    if (is_short) stream = side.Stream(bytes, std::max(1, rounds / 20));
    if (bytes >= 512 && bytes <= side.caps().get_bytes_max)
      rendezvous = side.Rendezvous(bytes, rounds);
    if (!side.first()) continue;
    std::printf("%8zu  ", bytes);
    if (is_short)
      std::printf("%8.3f / %7.3f  %12.2f  %10.0f  ", latency.low * 1e6, latency.median * 1e6,
                  1e-6 / stream.low, static_cast<double>(bytes) / stream.low * 1e-6);
    else
      std::printf("%18s  %12s  %10s  ", "-", "-", "-");
    if (rendezvous.low > 0)
      std::printf("%8.3f / %7.3f", rendezvous.low * 1e6, rendezvous.median * 1e6);
    std::printf("\n");
    std::fflush(stdout);
  }
  Floor(lines, side.first());
}

// What the component's interface costs: shm called through it and directly. Short batches take
// turns and each is held against its neighbour, because a virtual machine's processors move apart
// and together meanwhile; the median of seven runs of many pairs.
void ReportIndirection(Side& side) {
  constexpr int kRuns = 7, kPairs = 1500, kRounds = 300;
  std::vector<double> more;
  double direct_us = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> ratios, direct;
    for (int pair = 0; pair < kPairs; ++pair) {
      double seconds[2];
      for (int turn = 0; turn < 2; ++turn) {
        const bool directly = turn == pair % 2;  // the first of a pair is not always the same
        seconds[directly] = side.PingPongBatch(8, kRounds, directly);
      }
      direct.push_back(seconds[1]);
      ratios.push_back(seconds[0] / seconds[1]);
    }
    direct_us = Sorted(direct).median * 1e6;
    more.push_back(100 * (Sorted(ratios).median - 1));
  }
  std::sort(more.begin(), more.end());
  if (side.first())
    std::printf("8 bytes, %.4f us directly, through the interface %+.1f %% (%+.1f to %+.1f)\n",
                direct_us, more[kRuns / 2], more.front(), more.back());
}

int Main(int count, char** arguments) {
  transport::Component component = shm::Describe();
  param::Settings settings;
  bool all = true;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    if (word == "ucx")
      component = ucx::Describe();
    else if (word == "indirection")
      all = false;
    else if (word == "--param" && i + 1 < count) {
      if (Status status = settings.AddCommandLine(arguments[++i]); !status.ok()) {
        std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
        return 1;
      }
    } else if (word != "shm") {
      std::fprintf(stderr, "usage: benchmark [shm|ucx] [indirection] [--param name=value]...\n");
      return 1;
    }
  }
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) return 1;
  auto* lines = static_cast<Line*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const pid_t child = fork();
  const bool first = child != 0;
  if (!first) prctl(PR_SET_PDEATHSIG, SIGKILL);
  Pin(first ? 0 : 1);
  {
    Side side(component, settings, sockets[first ? 0 : 1], first);
    if (all) Report(side, lines);
    if (component.info.name == std::string("shm")) ReportIndirection(side);
  }
  if (!first) _exit(0);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace
}  // namespace lamina

int main(int count, char** arguments) { return lamina::Main(count, arguments); }
