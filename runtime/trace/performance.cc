// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/trace/performance.h"

#include <algorithm>
#include <cstring>

namespace lamina::trace {
namespace {

using Source = PerformanceVariable::Source;

constexpr PerformanceVariable Counted(const char* name, Counter counter, int var_class,
                                      const char* description) {
  return {.name = name,
          .description = description,
          .source = Source::kCounter,
          .index = static_cast<std::uint32_t>(counter),
          .var_class = var_class};
}

constexpr PerformanceVariable Gauged(const char* name, Gauge gauge, int var_class, int bind,
                                     const char* description) {
  return {.name = name,
          .description = description,
          .source = Source::kGauge,
          .index = static_cast<std::uint32_t>(gauge),
          .var_class = var_class,
          .bind = bind};
}

constexpr PerformanceVariable Levelled(const char* name, Source source, Level level, int var_class,
                                       const char* description) {
  return {.name = name,
          .description = description,
          .source = source,
          .index = static_cast<std::uint32_t>(level),
          .var_class = var_class};
}

constexpr int kCounter = MPI_T_PVAR_CLASS_COUNTER;
constexpr int kAggregate = MPI_T_PVAR_CLASS_AGGREGATE;
constexpr int kLevel = MPI_T_PVAR_CLASS_LEVEL;
constexpr int kMark = MPI_T_PVAR_CLASS_HIGHWATERMARK;
constexpr int kNone = MPI_T_BIND_NO_OBJECT;

constexpr PerformanceVariable kVariables[] = {
    Counted("p2p.sent.eager.messages", Counter::kEagerSent, kCounter,
            "Messages that went at once, with their data."),
    Counted("p2p.sent.eager.bytes", Counter::kEagerSentBytes, kAggregate,
            "Bytes of data in messages that went at once."),
    Counted("p2p.sent.rendezvous.messages", Counter::kRendezvousSent, kCounter,
            "Messages that were offered to the receiver before their data moved."),
    Counted("p2p.sent.rendezvous.bytes", Counter::kRendezvousSentBytes, kAggregate,
            "Bytes of data in messages that were offered."),
    Counted("p2p.sent.zero_copy.pieces", Counter::kZeroCopySent, kCounter,
            "Pieces of long messages that the transport took out of the user's buffer itself."),
    Counted("p2p.sent.zero_copy.bytes", Counter::kZeroCopySentBytes, kAggregate,
            "Bytes that the transport took out of the user's buffer itself."),
    Counted("p2p.received.eager.messages", Counter::kEagerReceived, kCounter,
            "Received messages that came with their data."),
    Counted("p2p.received.eager.bytes", Counter::kEagerReceivedBytes, kAggregate,
            "Bytes of data in received messages that came with it."),
    Counted("p2p.received.rendezvous.messages", Counter::kRendezvousReceived, kCounter,
            "Received messages that were offered before their data moved."),
    Counted("p2p.received.rendezvous.bytes", Counter::kRendezvousReceivedBytes, kAggregate,
            "Bytes of data in received messages that were offered."),
    Counted("p2p.received.zero_copy.messages", Counter::kZeroCopyReceived, kCounter,
            "Received messages that were fetched from the sender's memory in one copy."),
    Counted("p2p.received.zero_copy.bytes", Counter::kZeroCopyReceivedBytes, kAggregate,
            "Bytes that were fetched from the sender's memory in one copy."),
    Counted("p2p.unexpected.messages", Counter::kUnexpected, kCounter,
            "Messages that arrived before their receive was posted."),
    Levelled("p2p.unexpected.length", Source::kLevel, Level::kUnexpected, kLevel,
             "Messages that wait for their receive."),
    Levelled("p2p.unexpected.length_max", Source::kMark, Level::kUnexpected, kMark,
             "Most messages that have waited for their receive at one time."),
    Levelled("p2p.unexpected.bytes", Source::kLevel, Level::kUnexpectedBytes, kLevel,
             "Memory held for the data of messages that wait for their receive."),
    Gauged("p2p.unexpected.length_comm", Gauge::kCommUnexpected, kLevel, MPI_T_BIND_MPI_COMM,
           "Messages on this communicator that wait for their receive."),
    Levelled("p2p.posted.length", Source::kLevel, Level::kPosted, kLevel,
             "Receives that wait for their message."),
    Gauged("p2p.posted.length_comm", Gauge::kCommPosted, kLevel, MPI_T_BIND_MPI_COMM,
           "Receives on this communicator that wait for their message."),
    Levelled("p2p.peer.connected", Source::kLevel, Level::kConnected, kLevel,
             "Processes this one has spoken with, itself included."),
    Gauged("p2p.peer.processes", Gauge::kPeers, MPI_T_PVAR_CLASS_SIZE, kNone,
           "Processes of the job."),
    Levelled("core.request.live", Source::kLevel, Level::kRequests, kLevel,
             "Requests that were made and not yet freed."),
    Gauged("core.process.state", Gauge::kState, MPI_T_PVAR_CLASS_STATE, kNone,
           "Whether MPI is up."),
    Counted("p2p.wait.polls", Counter::kPolls, kCounter,
            "Times the transports were asked for news."),
    Counted("p2p.wait.waits", Counter::kWaits, kCounter, "Times a call had to wait for a message."),
    Counted("p2p.wait.yields", Counter::kYields, kCounter, "Times a waiting call gave up its CPU."),
    Counted("p2p.wait.sleeps", Counter::kSleeps, kCounter, "Times a waiting call slept."),
    Counted("p2p.wait.slept", Counter::kSleptNs, MPI_T_PVAR_CLASS_TIMER,
            "Time that waiting calls slept, in seconds."),
    Counted("collective.plan.hits", Counter::kPlanHits, kCounter,
            "Collective operations whose plan was there from an earlier one."),
    Counted("collective.plan.misses", Counter::kPlanMisses, kCounter,
            "Collective operations that had to be planned."),
    Counted("rma.mapped.accesses", Counter::kMappedAccesses, kCounter,
            "One-sided accesses to memory that is mapped here."),
    Counted("rma.mapped.bytes", Counter::kMappedBytes, kAggregate,
            "Bytes of the target in accesses to memory that is mapped here."),
    Counted("rma.copied.accesses", Counter::kCopiedAccesses, kCounter,
            "One-sided accesses to memory of other processes, by system calls."),
    Counted("rma.copied.bytes", Counter::kCopiedBytes, kAggregate,
            "Bytes of the target in accesses by system calls."),
    Counted("rma.framed.accesses", Counter::kFramedAccesses, kCounter,
            "One-sided accesses by messages that the target answers."),
    Counted("rma.framed.bytes", Counter::kFramedBytes, kAggregate,
            "Bytes of the target in accesses by messages."),
    Counted("rma.device.accesses", Counter::kDeviceAccesses, kCounter,
            "One-sided accesses by a device that reaches the target's memory."),
    Counted("rma.device.bytes", Counter::kDeviceBytes, kAggregate,
            "Bytes of the target in accesses by a device."),
    Counted("rma.served.requests", Counter::kRequestsServed, kCounter,
            "Messages of other processes' one-sided calls that were carried out here."),
    Counted("rma.lock.waits", Counter::kLockWaits, kCounter,
            "Times a lock of this node was not free at once."),
    Counted("rma.zone.waits", Counter::kZoneWaits, kCounter,
            "Times an accumulate waited for another one to the same memory."),
    Counted("rma.agent.turns", Counter::kAgentTurns, kCounter,
            "Times the agent began to serve others because the program computed."),
    Counted("file.read.accesses", Counter::kFileReads, kCounter, "Reads of files that have ended."),
    Counted("file.read.bytes", Counter::kFileReadBytes, kAggregate,
            "Bytes of data that were read from files."),
    Counted("file.written.accesses", Counter::kFileWrites, kCounter,
            "Writes to files that have ended."),
    Counted("file.written.bytes", Counter::kFileWrittenBytes, kAggregate,
            "Bytes of data that were written to files, by this process or for it."),
    Counted("file.written.exchanges", Counter::kFileExchanges, kCounter,
            "Collective writes whose data some processes collected and wrote for all."),
    Counted("file.written.windows", Counter::kFileWindows, kCounter,
            "Windows of files that this process collected from all and wrote."),
    Counted("file.written.patches", Counter::kFilePatches, kCounter,
            "Windows of files that were read, changed in pieces and written back."),
};

}  // namespace

std::span<const PerformanceVariable> PerformanceVariables() { return kVariables; }

MPI_Datatype PerformanceVariable::datatype() const {
  if (var_class == MPI_T_PVAR_CLASS_STATE) return MPI_INT;
  if (var_class == MPI_T_PVAR_CLASS_TIMER) return MPI_DOUBLE;
  return MPI_UNSIGNED_LONG_LONG;
}

const Enumeration* PerformanceVariable::enumeration() const {
  static const Enumeration* const states = new Enumeration{
      "core.process.state", {{0, "not initialized"}, {1, "initialized"}, {2, "finalized"}}};
  return var_class == MPI_T_PVAR_CLASS_STATE ? states : nullptr;
}

Performances::~Performances() { FreeAll(); }

void Performances::FreeAll() {
  while (sessions_ != nullptr) Free(&sessions_->session);
}

PerformanceSession* Performances::MakeSession() {
  sessions_ = new Node{{}, sessions_};
  return &sessions_->session;
}

void Performances::Free(PerformanceSession* session) {
  while (session->first != nullptr) Free(session->first);
  for (Node** link = &sessions_; *link != nullptr; link = &(*link)->next) {
    if (&(*link)->session != session) continue;
    Node* node = *link;
    *link = node->next;
    delete node;
    return;
  }
}

bool Performances::Has(const PerformanceSession* session) const {
  for (const Node* node = sessions_; node != nullptr; node = node->next)
    if (&node->session == session) return true;
  return false;
}

PerformanceHandle* Performances::MakeHandle(PerformanceSession* session,
                                            const PerformanceVariable& variable,
                                            std::uint64_t context) {
  auto* handle = new PerformanceHandle{
      .variable = &variable, .session = session, .context = context, .next = session->first};
  session->first = handle;
  return handle;
}

void Performances::Free(PerformanceHandle* handle) {
  PerformanceHandle** link = &handle->session->first;
  while (*link != handle) link = &(*link)->next;
  *link = handle->next;
  delete handle;
}

bool Performances::Has(const PerformanceSession& session, const PerformanceHandle* handle) {
  for (const PerformanceHandle* one = session.first; one != nullptr; one = one->next)
    if (one == handle) return true;
  return false;
}

// The mark in trace.h serves all handles, so before one of them lowers it, the others take what it
// says.
void Performances::KeepMarks(std::uint32_t level) {
  for (Node* node = sessions_; node != nullptr; node = node->next)
    for (PerformanceHandle* handle = node->session.first; handle != nullptr; handle = handle->next)
      if (handle->variable->source == Source::kMark && handle->variable->index == level &&
          handle->started)
        handle->kept = std::max(handle->kept, numbers.marks[level]);
  numbers.marks[level] = numbers.levels[level];
}

std::uint64_t Performances::Value(const PerformanceHandle& handle) const {
  const std::uint32_t index = handle.variable->index;
  switch (handle.variable->source) {
    case Source::kCounter:
      return handle.kept + (handle.started ? numbers.counters[index] - handle.base : 0);
    case Source::kMark:
      return handle.started ? std::max(handle.kept, numbers.marks[index]) : handle.kept;
    case Source::kLevel:
      return numbers.levels[index];
    case Source::kGauge:
      return read_gauge_(static_cast<Gauge>(index), handle.context);
  }
  return 0;
}

void Performances::Start(PerformanceHandle* handle) {
  if (handle->started) return;
  const std::uint32_t index = handle->variable->index;
  if (handle->variable->source == Source::kMark) {
    KeepMarks(index);
    handle->kept = std::max(handle->kept, numbers.levels[index]);
  } else {
    handle->base = numbers.counters[index];
  }
  handle->started = true;
}

void Performances::Stop(PerformanceHandle* handle) {
  handle->kept = Value(*handle);
  handle->started = false;
}

void Performances::Reset(PerformanceHandle* handle) {
  const std::uint32_t index = handle->variable->index;
  if (handle->variable->source == Source::kMark) {
    KeepMarks(index);
    handle->kept = numbers.levels[index];
  } else {
    handle->kept = 0;
    handle->base = numbers.counters[index];
  }
}

void Performances::Write(PerformanceHandle* handle, const void* buffer) {
  Reset(handle);
  if (handle->variable->var_class == MPI_T_PVAR_CLASS_TIMER) {
    double seconds;
    std::memcpy(&seconds, buffer, sizeof seconds);
    handle->kept = static_cast<std::uint64_t>(std::max(0.0, seconds * 1e9));
  } else {
    std::memcpy(&handle->kept, buffer, sizeof handle->kept);
  }
}

void Performances::Read(const PerformanceHandle& handle, void* buffer) const {
  const std::uint64_t value = Value(handle);
  if (handle.variable->var_class == MPI_T_PVAR_CLASS_STATE) {
    const int state = static_cast<int>(value);
    std::memcpy(buffer, &state, sizeof state);
  } else if (handle.variable->var_class == MPI_T_PVAR_CLASS_TIMER) {
    const double seconds = static_cast<double>(value) * 1e-9;
    std::memcpy(buffer, &seconds, sizeof seconds);
  } else {
    std::memcpy(buffer, &value, sizeof value);
  }
}

}  // namespace lamina::trace
