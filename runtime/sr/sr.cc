// SPDX-License-Identifier: BSD-3-Clause
// lamina/sr.h over MPI's own functions. A message's type is its tag. A message that is longer than
// a few lines travels as a Reference: its receiver copies the bytes out of the sender's pool, or
// receives them on a communicator beside. Messages that are not wanted yet wait here in their
// order.
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <mutex>
#include <vector>

#include "runtime/base/environment.h"
#include "runtime/base/param.h"
#include "runtime/base/quiet_thread.h"
#include "runtime/sr/params.h"
#include "runtime/sr/pool.h"

#pragma GCC visibility push(default)
#include <lamina/sr.h>
#include <mpi.h>
#pragma GCC visibility pop

#define LAMINA_EXPORT __attribute__((visibility("default")))

namespace lamina::sr {
namespace {

// Tags beside the types; LAMINA_SR_EXIT is one of them. A Reference has kReference plus the type.
enum { kStop = LAMINA_SR_EXIT + 1, kDone, kGo, kReference };

// A longer message is a Reference if its receiver maps the memory.
constexpr std::size_t kCopiedBytes = 256;
// A longer message is a Reference in any case.
constexpr std::size_t kRoomBytes = 4096;
// Messages whose bytes travel on the other communicator are numbered up to this, for their tags.
constexpr std::uint64_t kSerials = 1u << 30;

param::Settings UsersSettings() {
  return param::Settings::FromEnvironment(Environment::OfThisProcess());
}

// A message that has come.
struct Arrival {
  int node;
  int type;
  bool is_reference;
  std::size_t bytes;
  Reference reference;
};

struct Held {
  Arrival arrival;
  std::vector<std::byte> data;  // unless that is a reference
};

struct Sending {
  MPI_Request request;
  void* buffer;  // to be freed afterwards
};

class Node {
 public:
  int Init(lamina_sr_config* config);
  int Send(void* buffer, int node, std::size_t bytes, int type);
  int Receive(unsigned types, bool wait, lamina_sr_place place, void* context,
              lamina_sr_message* message);
  [[noreturn]] void Exit(int code);
  void* Allocate(std::size_t bytes);
  void Free(void* buffer) {
    if (buffer != nullptr) pool_.Release(HeadOf(buffer));
  }

  int arrived = 0;  // by atomic accesses, because it is the caller's to read

 private:
  bool is_host() const { return id_ == 0; }
  Arrival Take(MPI_Status* status);
  int Next(bool wait, Arrival* arrival);
  void Keep(const Arrival& arrival);
  int Move(const Arrival& arrival, const std::byte* data, void* to);
  void Watch();
  void StopWatching();
  std::list<Held>::iterator Find(unsigned types);
  void SetArrived(bool has) { __atomic_store_n(&arrived, has ? 1 : 0, __ATOMIC_RELEASE); }
  void Notify(int node, int tag) { Start(nullptr, node, 0, tag); }
  void Start(void* buffer, int node, std::size_t bytes, int tag);
  void StartReference(void* buffer, int node, std::size_t bytes, int type);
  void SendOn(MPI_Comm comm, const void* data, std::size_t bytes, int node, int tag, void* buffer);
  void Reap();
  void TellAll();
  void Drop(int* done, int* code, std::vector<bool>* came);
  void Await(int count, int* code);

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm data_ = MPI_COMM_NULL;  // for the bytes of references
  Pool pool_;
  std::uint64_t serial_ = 0;
  // Where the next message comes to; `watches`: used by that thread alone.
  alignas(Reference) std::array<std::byte, kRoomBytes> room_;
  int id_ = 0;
  int nodes_ = 1;
  bool watches_ = false;
  bool told_ = false;  // the host has told all, or this node knows of an exit
  double exit_seconds_ = 0;
  void (*out_of_memory_)() = nullptr;
  std::vector<Sending> sending_;

  std::mutex lock_;  // guards held_ while a thread watches
  std::condition_variable more_;
  std::list<Held> held_;
  pthread_t watcher_{};
};

// It is never deleted, because its thread may live until the process ends.
Node& TheNode() {
  static Node* const node = new Node;
  return *node;
}

// Says what it is that has come into the room.
Arrival Node::Take(MPI_Status* status) {
  int bytes = 0;
  PMPI_Get_count(status, MPI_BYTE, &bytes);
  Arrival arrival{status->MPI_SOURCE,
                  status->MPI_TAG,
                  status->MPI_TAG >= kReference,
                  static_cast<std::size_t>(bytes),
                  {}};
  if (arrival.is_reference) {
    std::memcpy(&arrival.reference, room_.data(), sizeof arrival.reference);
    arrival.type -= kReference;
    arrival.bytes = arrival.reference.bytes;
  }
  return arrival;
}

// Takes the next message into the room; its type is LAMINA_SR_NONE if there is none.
int Node::Next(bool wait, Arrival* arrival) {
  MPI_Status status;
  int node = MPI_ANY_SOURCE;
  int tag = MPI_ANY_TAG;
  if (!wait) {
    int flag = 0;
    const int error = PMPI_Iprobe(node, tag, comm_, &flag, &status);
    arrival->type = LAMINA_SR_NONE;
    if (error != MPI_SUCCESS || flag == 0) return error;
    node = status.MPI_SOURCE;
    tag = status.MPI_TAG;
  }
  const int error = PMPI_Recv(room_.data(), kRoomBytes, MPI_BYTE, node, tag, comm_, &status);
  if (error == MPI_SUCCESS) *arrival = Take(&status);
  return error;
}

// Keeps what is in the room.
void Node::Keep(const Arrival& arrival) {
  const auto end = arrival.is_reference ? room_.begin() : room_.begin() + arrival.bytes;
  held_.push_back({arrival, {room_.begin(), end}});
  SetArrived(true);
}

// Moves a message to where it is wanted.
int Node::Move(const Arrival& arrival, const std::byte* data, void* to) {
  if (!arrival.is_reference) {
    std::copy_n(data, arrival.bytes, static_cast<std::byte*>(to));
    return MPI_SUCCESS;
  }
  if (arrival.reference.offset < 0)
    return PMPI_Recv_c(to, static_cast<MPI_Count>(arrival.bytes), MPI_BYTE, arrival.node,
                       static_cast<int>(arrival.reference.serial), data_, MPI_STATUS_IGNORE);
  Head* const cell = pool_.CellOf(arrival.node, arrival.reference.offset);
  std::memcpy(to, cell + 1, arrival.bytes);
  __atomic_store_n(&cell->returned, 1, __ATOMIC_RELEASE);
  return MPI_SUCCESS;
}

// The thread that waits for messages while the program computes.
void Node::Watch() {
  for (Arrival arrival; Next(true, &arrival) == MPI_SUCCESS && arrival.type != kStop;) {
    const std::lock_guard guard(lock_);
    Keep(arrival);
    more_.notify_one();
  }
}

void Node::StopWatching() {
  if (!watches_) return;
  PMPI_Send(nullptr, 0, MPI_BYTE, id_, kStop, comm_);
  pthread_join(watcher_, nullptr);
  watches_ = false;
}

int Node::Init(lamina_sr_config* config) {
  if (comm_ != MPI_COMM_NULL) return MPI_ERR_OTHER;
  Params params;
  if (!param::Load(UsersSettings(), kFields, &params).ok()) return MPI_ERR_ARG;
  if (params.watches) config->watches = 1;
  int initialized = 0;
  int provided = MPI_THREAD_SINGLE;
  PMPI_Initialized(&initialized);
  if (initialized == 0) {
    const int wanted = config->watches != 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED;
    if (const int error = PMPI_Init_thread(nullptr, nullptr, wanted, &provided);
        error != MPI_SUCCESS)
      return error;
  }
  PMPI_Query_thread(&provided);
  if (config->watches != 0 && provided != MPI_THREAD_MULTIPLE) return MPI_ERR_OTHER;
  if (const int error = PMPI_Comm_dup(MPI_COMM_WORLD, &comm_); error != MPI_SUCCESS) return error;
  PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  if (const int error = PMPI_Comm_dup(comm_, &data_); error != MPI_SUCCESS) return error;
  PMPI_Comm_rank(comm_, &id_);
  PMPI_Comm_size(comm_, &nodes_);
  if (config->buffer_bytes == 0) config->buffer_bytes = params.buffer_bytes;
  if (config->exit_seconds <= 0) config->exit_seconds = params.exit_ms / 1000.0;
  pool_.Init(comm_, config->buffer_bytes, params.pool_bytes);
  exit_seconds_ = config->exit_seconds;
  out_of_memory_ = config->out_of_memory;
  config->nodes = nodes_;
  config->my_id = id_;
  config->host_id = 0;
  config->is_host = is_host() ? 1 : 0;
  if (config->watches != 0) {
    const SignalsBlocked blocked;
    const auto body = [](void* node) -> void* {
      static_cast<Node*>(node)->Watch();
      return nullptr;
    };
    watches_ = pthread_create(&watcher_, nullptr, body, this) == 0;
    if (!watches_) return MPI_ERR_NO_MEM;
  }
  PMPI_Barrier(comm_);
  if (config->ready != nullptr) config->ready(config->context);
  return MPI_SUCCESS;
}

void* Node::Allocate(std::size_t bytes) {
  Head* const head = pool_.Allocate(bytes);
  if (head == nullptr) {
    if (out_of_memory_ != nullptr) {
      out_of_memory_();
      return nullptr;
    }
    lamina_sr_abort("there is no memory for a message");
  }
  return head + 1;
}

void Node::SendOn(MPI_Comm comm, const void* data, std::size_t bytes, int node, int tag,
                  void* buffer) {
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Isend_c(data, static_cast<MPI_Count>(bytes), MPI_BYTE, node, tag, comm, &request);
  int sent = 0;
  PMPI_Test(&request, &sent, MPI_STATUS_IGNORE);
  if (sent != 0)
    Free(buffer);
  else
    sending_.push_back({request, buffer});
}

void Node::Start(void* buffer, int node, std::size_t bytes, int tag) {
  if (bytes > kCopiedBytes && (bytes > kRoomBytes || (HeadOf(buffer)->is_cell && pool_.Maps(node))))
    return StartReference(buffer, node, bytes, tag);
  SendOn(comm_, buffer, bytes, node, tag, buffer);
}

void Node::StartReference(void* buffer, int node, std::size_t bytes, int type) {
  Head* const head = HeadOf(buffer);
  const bool is_lent = head->is_cell && pool_.Maps(node);
  const std::uint64_t serial = serial_++ % kSerials;
  head->reference = {bytes, is_lent ? pool_.OffsetOf(head) : -1, serial};
  SendOn(comm_, &head->reference, sizeof head->reference, node, kReference + type, nullptr);
  if (!is_lent) SendOn(data_, buffer, bytes, node, static_cast<int>(serial), buffer);
}

// Frees what has been sent.
void Node::Reap() {
  std::erase_if(sending_, [this](Sending& sending) {
    int sent = 0;
    PMPI_Test(&sending.request, &sent, MPI_STATUS_IGNORE);
    if (sent != 0) Free(sending.buffer);
    return sent != 0;
  });
}

int Node::Send(void* buffer, int node, std::size_t bytes, int type) {
  if (comm_ == MPI_COMM_NULL) return MPI_ERR_OTHER;
  if (node < 0 || node >= nodes_) return MPI_ERR_RANK;
  if (type < 0 || type >= LAMINA_SR_TYPES) return MPI_ERR_TAG;
  if (bytes > (buffer == nullptr ? 0 : HeadOf(buffer)->bytes)) return MPI_ERR_COUNT;
  if (!sending_.empty()) Reap();
  Start(buffer, node, bytes, type);
  return MPI_SUCCESS;
}

bool Passes(int type, unsigned types) {
  return type == LAMINA_SR_EXIT || (type < LAMINA_SR_TYPES && (types >> type & 1) != 0);
}

std::list<Held>::iterator Node::Find(unsigned types) {
  return std::ranges::find_if(held_,
                              [&](const Held& held) { return Passes(held.arrival.type, types); });
}

// The host tells everybody who has not been first.
void Node::TellAll() {
  if (told_) return;
  told_ = true;
  for (int node = 1; is_host() && node < nodes_; ++node) Notify(node, LAMINA_SR_EXIT);
}

int Node::Receive(unsigned types, bool wait, lamina_sr_place place, void* context,
                  lamina_sr_message* message) {
  if (comm_ == MPI_COMM_NULL) return MPI_ERR_OTHER;
  if (message == nullptr || place == nullptr) return MPI_ERR_ARG;
  if (!sending_.empty()) Reap();
  *message = {0, LAMINA_SR_NONE, 0, nullptr};
  std::unique_lock lock(lock_, std::defer_lock);
  if (watches_) lock.lock();
  auto found = held_.empty() ? held_.end() : Find(types);
  Arrival arrival;
  if (found == held_.end() && watches_) {
    for (; wait && found == held_.end(); found = Find(types)) more_.wait(lock);
    if (found == held_.end()) return MPI_SUCCESS;
  }
  while (found == held_.end()) {
    if (const int error = Next(wait, &arrival); error != MPI_SUCCESS) return error;
    if (arrival.type == LAMINA_SR_NONE) {
      SetArrived(!held_.empty());
      return MPI_SUCCESS;
    }
    if (Passes(arrival.type, types)) break;
    Keep(arrival);
  }
  const bool is_held = found != held_.end();
  if (is_held) arrival = found->arrival;
  *message = {arrival.node, arrival.type, arrival.bytes, nullptr};
  if (arrival.type != LAMINA_SR_EXIT) {
    message->data = place(context, arrival.bytes);
    if (message->data == nullptr) {
      message->type = LAMINA_SR_NONE;
      if (!is_held) Keep(arrival);
      return MPI_SUCCESS;
    }
  }
  const int error = Move(arrival, is_held ? found->data.data() : room_.data(), message->data);
  if (is_held) held_.erase(found);
  // Without a thread nobody knows whether more has come.
  SetArrived(!watches_ || !held_.empty());
  if (message->type == LAMINA_SR_EXIT) TellAll();
  return error;
}

// Drops what comes, and notes who has come to the exit.
void Node::Drop(int* done, int* code, std::vector<bool>* came) {
  for (Arrival arrival; Next(false, &arrival) == MPI_SUCCESS && arrival.type != LAMINA_SR_NONE;)
    Keep(arrival);
  for (Held& held : held_) {
    const Arrival& arrival = held.arrival;
    if (arrival.is_reference) held.data.resize(arrival.bytes);
    Move(arrival, held.data.data(), held.data.data());
    if (arrival.type != kDone && arrival.type != kGo) continue;
    int theirs = 0;
    if (arrival.bytes == sizeof theirs) std::memcpy(&theirs, held.data.data(), sizeof theirs);
    *code = std::max(*code, theirs);
    (*came)[static_cast<std::size_t>(arrival.node)] = true;
    ++*done;
  }
  held_.clear();
}

// Waits until so many nodes have said kDone or kGo, and until what this node has sent is received.
void Node::Await(int count, int* code) {
  const double end = PMPI_Wtime() + exit_seconds_;
  std::vector<bool> came(static_cast<std::size_t>(nodes_));
  for (int done = 0; done < count || !sending_.empty();) {
    Drop(&done, code, &came);
    Reap();
    if (PMPI_Wtime() > end) {
      for (int node = is_host() ? 1 : nodes_; node < nodes_; ++node)
        if (!came[static_cast<std::size_t>(node)])
          dprintf(STDERR_FILENO, "lamina_sr_exit: node %d has not called it\n", node);
      fflush(nullptr);  // as exit does
      lamina_sr_abort("lamina_sr_exit: some node has not left within exit_seconds");
    }
    sched_yield();
  }
}

void Node::Exit(int code) {
  if (comm_ == MPI_COMM_NULL) std::exit(code);
  StopWatching();
  if (is_host()) {
    TellAll();
    Await(nodes_ - 1, &code);
  } else {
    if (!told_) Notify(0, LAMINA_SR_EXIT);
    Await(0, &code);
  }
  const auto tell = [&](int node, int tag) {
    if (void* buffer = Allocate(sizeof code); buffer != nullptr) {
      std::memcpy(buffer, &code, sizeof code);
      Start(buffer, node, sizeof code, tag);
    }
  };
  if (is_host()) {
    for (int node = 1; node < nodes_; ++node) tell(node, kGo);
    while (!sending_.empty()) Reap();
  } else {
    tell(0, kDone);
    Await(1, &code);
  }
  pool_.Free();
  PMPI_Comm_free(&data_);
  PMPI_Comm_free(&comm_);
  int finalized = 0;
  PMPI_Finalized(&finalized);
  if (finalized == 0) PMPI_Finalize();
  std::exit(code);
}

}  // namespace
}  // namespace lamina::sr

using lamina::sr::TheNode;

extern "C" LAMINA_EXPORT int lamina_sr_init(lamina_sr_config* config) {
  return config == nullptr ? MPI_ERR_ARG : TheNode().Init(config);
}

extern "C" LAMINA_EXPORT int lamina_sr_options(const lamina_sr_option** options) {
  // They stay for whoever has asked, also while the process ends.
  static const auto* const rows = new std::vector<lamina::param::Row>(
      lamina::param::Rows<lamina::sr::Params>(lamina::sr::UsersSettings(), lamina::sr::kFields));
  static const auto* const list = [] {
    auto* const made = new std::vector<lamina_sr_option>;
    for (const lamina::param::Row& row : *rows)
      made->push_back({row.name.c_str(), row.help.c_str(), row.value.c_str()});
    return made;
  }();
  *options = list->data();
  return static_cast<int>(list->size());
}

extern "C" LAMINA_EXPORT void* lamina_sr_alloc(size_t bytes) { return TheNode().Allocate(bytes); }

extern "C" LAMINA_EXPORT void lamina_sr_free(void* buffer) { TheNode().Free(buffer); }

extern "C" LAMINA_EXPORT int lamina_sr_send(void* buffer, int node, size_t bytes, int type) {
  return TheNode().Send(buffer, node, bytes, type);
}

extern "C" LAMINA_EXPORT int lamina_sr_receive(unsigned types, int wait, lamina_sr_place place,
                                               void* context, lamina_sr_message* message) {
  return TheNode().Receive(types, wait != LAMINA_SR_LOOK, place, context, message);
}

extern "C" LAMINA_EXPORT int* lamina_sr_arrived(void) { return &TheNode().arrived; }

extern "C" LAMINA_EXPORT void lamina_sr_exit(int code) { TheNode().Exit(code); }

extern "C" LAMINA_EXPORT void lamina_sr_abort(const char* text) {
  // A rank that ends without MPI_Finalize ends the job.
  const char end = '\n';
  if (write(STDERR_FILENO, text, strlen(text)) < 0 || write(STDERR_FILENO, &end, 1) < 0) _exit(2);
  _exit(1);
}
