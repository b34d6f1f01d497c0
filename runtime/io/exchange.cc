// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/io/exchange.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/bootstrap/bootstrap.h"
#include "runtime/core/process.h"
#include "runtime/core/request.h"
#include "runtime/p2p/p2p.h"
#include "runtime/trace/trace.h"

namespace lamina::io::exchange {
namespace {

constexpr int kParcelTag = 3;
// Domains end at whole pages, so that no two aggregators write to one.
constexpr std::int64_t kUnitBytes = 4096;

datatype::Buffer BufferOf(std::vector<std::byte>* bytes) {
  return {bytes->data(), static_cast<std::int64_t>(bytes->size()),
          datatype::FindDatatype(MPI_BYTE)};
}

// The first rank of each node writes for others; in a communicator that spans jobs, which number
// nodes each in its own way, rank 0 alone does.
std::vector<Rank> Aggregators(const core::Comm& comm) {
  std::vector<Rank> aggregators;
  std::vector<std::uint32_t> nodes;
  bootstrap::Bootstrap* bootstrap = core::process->bootstrap.get();
  for (Rank rank = 0; rank < comm.size; ++rank) {
    if (bootstrap == nullptr) break;
    if (Index(comm.peers[rank]) >= core::process->identity.job_ranks) return {0};  // another job's
    Result<std::uint32_t> node = bootstrap->Node(Index(comm.peers[rank]));
    if (!node.ok()) break;
    if (std::find(nodes.begin(), nodes.end(), *node) != nodes.end()) continue;
    nodes.push_back(*node);
    aggregators.push_back(rank);
  }
  if (aggregators.empty()) aggregators.push_back(0);
  return aggregators;
}

// The windows of this rank, if it is an aggregator.
class Aggregator {
 public:
  Aggregator(const Place& place, std::int64_t window_bytes)
      : place_(place),
        window_(
            std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(window_bytes))) {}

  void Begin(const Range& range) {
    range_ = range;
    coverage_.Reset(range.end - range.first);
  }
  void Take(std::span<const std::byte> parcel) {
    if (TakeParcel(parcel, range_.first, Window(), &coverage_) || !failure_.ok()) return;
    failure_ = Fail(MPI_ERR_INTERN, "a rank has sent data that is not of this window of %s",
                    place_.path.c_str());
  }
  // Receives the parcel of another rank.
  void Receive(Rank from) {
    MPI_Status status;
    p2p::Message* message =
        p2p::WaitProbe({place_.comm, place_.comm->context, from, kParcelTag}, true, &status);
    if (message == nullptr) {
      if (failure_.ok())
        failure_ = Fail(MPI_ERR_PROC_ABORTED, "rank %d is gone and has not sent its data", from);
      return;
    }
    std::vector<std::byte> parcel(static_cast<std::size_t>(core::StatusBytes(status)));
    core::Request* request = core::NewRequest(place_.comm);
    p2p::StartMatchedReceive(request, message, BufferOf(&parcel));
    p2p::Wait(request);
    const int error = request->error;
    core::FreeRequest(request);
    if (error == MPI_SUCCESS) return Take(parcel);
    if (failure_.ok()) failure_ = Fail(error, "rank %d did not send its data", from);
  }
  // Writes what was given and nothing else.
  void End() {
    if (!failure_.ok()) return;
    trace::Count(trace::Counter::kFileWindows);
    const core::Unlocked unlocked;
    const Run window{range_.first, range_.end - range_.first};
    int error = place_.locks == nullptr ? 0 : place_.locks->Lock(window, false);
    if (error != 0) return Fails("lock", window, error);
    WriteRuns();
    error = place_.locks == nullptr ? 0 : place_.locks->Unlock();
    if (error != 0) Fails("unlock", window, error);
  }
  const Failure& failure() const { return failure_; }

 private:
  void Fails(const char* call, const Run& range, int error) {
    if (failure_.ok())
      failure_ = TransferFailure(call, place_.path, range.offset, range.bytes, error);
  }
  void WriteRuns() {
    for (Run run = coverage_.Next(0); run.bytes > 0; run = coverage_.Next(run.offset + run.bytes)) {
      const std::int64_t offset = range_.first + run.offset;
      const Moved moved = place_.body->WriteAt(
          offset, {window_.get() + run.offset, static_cast<std::size_t>(run.bytes)});
      if (moved.error_number == 0) continue;
      return Fails("pwrite", {offset + moved.bytes, run.bytes - moved.bytes}, moved.error_number);
    }
  }
  std::span<std::byte> Window() {
    return {window_.get(), static_cast<std::size_t>(range_.end - range_.first)};
  }

  const Place& place_;
  const std::unique_ptr<std::byte[]> window_;
  Coverage coverage_;
  Range range_;
  Failure failure_;
};

// The parcels of one round that are on their way.
class Outbox {
 public:
  explicit Outbox(core::Comm* comm) : comm_(comm) {}
  void Send(Rank to, std::vector<std::byte> parcel, core::Request::Mode mode) {
    parcels_.push_back(std::make_unique<std::vector<std::byte>>(std::move(parcel)));
    core::Request* request = core::NewRequest(comm_);
    p2p::PrepareSend(request, {comm_, comm_->context, to, kParcelTag},
                     BufferOf(parcels_.back().get()), mode);
    p2p::Start(request);
    requests_.push_back(request);
  }
  // Waits for all and returns an MPI error class.
  int Empty() {
    int error = MPI_SUCCESS;
    for (core::Request* request : requests_) {
      p2p::Wait(request);
      if (error == MPI_SUCCESS) error = request->error;
      core::FreeRequest(request);
    }
    requests_.clear();
    parcels_.clear();
    return error;
  }

 private:
  core::Comm* const comm_;
  std::vector<std::unique_ptr<std::vector<std::byte>>> parcels_;
  std::vector<core::Request*> requests_;
};

}  // namespace

// In each round a rank starts all its sends before it receives, and waits for them after. So the
// rank that is furthest behind always finds what it waits for.
Failure Write(const Place& place, std::span<const Entry> table, const Share& share) {
  const core::Comm& comm = *place.comm;
  const Windows windows = Cut(table, Aggregators(comm), kUnitBytes);
  std::unique_ptr<Aggregator> own;
  for (const Domain& domain : windows.domains)
    if (domain.aggregator == comm.rank && domain.first < domain.end)
      own = std::make_unique<Aggregator>(place,
                                         std::min(windows.window_bytes, domain.end - domain.first));
  Outbox outbox(place.comm);
  int error = MPI_SUCCESS;
  for (std::int64_t round = 0; round < windows.rounds; ++round) {
    // A synchronous send keeps ranks from running more than a round ahead of their aggregator.
    const auto mode =
        round % 2 == 1 ? core::Request::Mode::kSynchronous : core::Request::Mode::kStandard;
    Range mine;
    for (const Domain& domain : windows.domains) {
      const Range window = WindowOf(windows, domain, round);
      if (window.empty()) continue;
      if (domain.aggregator == comm.rank) {
        mine = window;
        own->Begin(window);
      }
      if (!Meets(table[static_cast<std::size_t>(comm.rank)], window)) continue;
      if (domain.aggregator == comm.rank)
        own->Take(MakeParcel(share, window));
      else
        outbox.Send(domain.aggregator, MakeParcel(share, window), mode);
    }
    for (Rank rank = 0; rank < comm.size && !mine.empty(); ++rank)
      if (rank != comm.rank && Meets(table[static_cast<std::size_t>(rank)], mine))
        own->Receive(rank);
    if (!mine.empty()) own->End();
    if (const int failed = outbox.Empty(); error == MPI_SUCCESS) error = failed;
  }
  if (own != nullptr && !own->failure().ok()) return own->failure();
  if (error == MPI_SUCCESS) return {};
  return Fail(error, "data did not reach the rank that writes it");
}

}  // namespace lamina::io::exchange
