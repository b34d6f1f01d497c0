// SPDX-License-Identifier: BSD-3-Clause
// lamina/sr.h over MPI's own functions. A message's type is its tag. Messages that are not wanted
// yet stay with MPI, matched, and wait here in their order.
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
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

#pragma GCC visibility push(default)
#include <lamina/sr.h>
#include <mpi.h>
#pragma GCC visibility pop

#define LAMINA_EXPORT __attribute__((visibility("default")))

namespace lamina::sr {
namespace {

// Tags beside the types; LAMINA_SR_EXIT is one of them.
enum { kStop = LAMINA_SR_EXIT + 1, kDone, kGo };

param::Settings UsersSettings() {
  return param::Settings::FromEnvironment(Environment::OfThisProcess());
}

// What lies in front of the memory that the caller gets.
struct alignas(std::max_align_t) Head {
  std::size_t bytes;
};
Head* HeadOf(void* buffer) { return static_cast<Head*>(buffer) - 1; }

struct Held {
  MPI_Message message;
  int node;
  int type;
  std::size_t bytes;
};

struct Sending {
  MPI_Request request;
  void* buffer;
};

class Node {
 public:
  int Init(lamina_sr_config* config);
  int Send(void* buffer, int node, std::size_t bytes, int type);
  int Receive(unsigned types, bool wait, lamina_sr_place place, void* context,
              lamina_sr_message* message);
  [[noreturn]] void Exit(int code);
  void* Allocate(std::size_t bytes);

  int arrived = 0;  // by atomic accesses, because it is the caller's to read

 private:
  bool is_host() const { return id_ == 0; }
  void Keep(MPI_Message message, const MPI_Status& status);
  bool Look();
  void WaitForMore(std::unique_lock<std::mutex>* lock);
  void Watch();
  void StopWatching();
  std::list<Held>::iterator Find(unsigned types);
  void SetArrived() { __atomic_store_n(&arrived, held_.empty() ? 0 : 1, __ATOMIC_RELEASE); }
  void Notify(int node, int tag) { Start(nullptr, node, 0, tag); }
  void Start(void* buffer, int node, std::size_t bytes, int tag);
  void Reap();
  void TellAll();
  void Drop(int* done, int* code, std::vector<bool>* came);
  void Await(int count, int* code);

  MPI_Comm comm_ = MPI_COMM_NULL;
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

// What has come is in the hands of MPI until it is received.
void Node::Keep(MPI_Message message, const MPI_Status& status) {
  int bytes = 0;
  PMPI_Get_count(&status, MPI_BYTE, &bytes);
  held_.push_back({message, status.MPI_SOURCE, status.MPI_TAG, static_cast<std::size_t>(bytes)});
  SetArrived();
}

// Takes all that has come; says whether there was anything.
bool Node::Look() {
  bool found = false;
  for (;;) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    int flag = 0;
    PMPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &flag, &message, &status);
    if (flag == 0) return found;
    Keep(message, status);
    found = true;
  }
}

void Node::WaitForMore(std::unique_lock<std::mutex>* lock) {
  if (watches_) return more_.wait(*lock);
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  PMPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &message, &status);
  Keep(message, status);
}

// The thread that waits for messages while the program computes.
void Node::Watch() {
  for (;;) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    PMPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &message, &status);
    if (status.MPI_TAG == kStop) {
      PMPI_Mrecv(nullptr, 0, MPI_BYTE, &message, MPI_STATUS_IGNORE);
      return;
    }
    const std::lock_guard guard(lock_);
    Keep(message, status);
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
  PMPI_Comm_rank(comm_, &id_);
  PMPI_Comm_size(comm_, &nodes_);
  if (config->buffer_bytes == 0) config->buffer_bytes = params.buffer_bytes;
  if (config->exit_seconds <= 0) config->exit_seconds = params.exit_ms / 1000.0;
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
  auto* const head = static_cast<Head*>(
      bytes > SIZE_MAX - sizeof(Head) ? nullptr : std::malloc(sizeof(Head) + bytes));
  if (head == nullptr) {
    if (out_of_memory_ != nullptr) {
      out_of_memory_();
      return nullptr;
    }
    lamina_sr_abort("there is no memory for a message");
  }
  head->bytes = bytes;
  return head + 1;
}

void Node::Start(void* buffer, int node, std::size_t bytes, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Isend_c(buffer, static_cast<MPI_Count>(bytes), MPI_BYTE, node, tag, comm_, &request);
  int sent = 0;
  PMPI_Test(&request, &sent, MPI_STATUS_IGNORE);
  if (sent != 0)
    lamina_sr_free(buffer);
  else
    sending_.push_back({request, buffer});
}

// Frees what has been sent.
void Node::Reap() {
  std::erase_if(sending_, [](Sending& sending) {
    int sent = 0;
    PMPI_Test(&sending.request, &sent, MPI_STATUS_IGNORE);
    if (sent != 0) lamina_sr_free(sending.buffer);
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

std::list<Held>::iterator Node::Find(unsigned types) {
  return std::ranges::find_if(held_, [&](const Held& held) {
    return held.type == LAMINA_SR_EXIT ||
           (held.type < LAMINA_SR_TYPES && (types >> held.type & 1) != 0);
  });
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
  std::unique_lock lock(lock_, std::defer_lock);
  if (watches_) lock.lock();
  auto found = Find(types);
  while (found == held_.end()) {
    if (watches_ || !Look()) {
      *message = {0, LAMINA_SR_NONE, 0, nullptr};
      if (!wait) return MPI_SUCCESS;
      WaitForMore(&lock);
    }
    found = Find(types);
  }
  *message = {found->node, found->type, found->bytes, nullptr};
  if (found->type != LAMINA_SR_EXIT) {
    message->data = place(context, found->bytes);
    if (message->data == nullptr) {
      message->type = LAMINA_SR_NONE;
      return MPI_SUCCESS;
    }
  }
  MPI_Message taken = found->message;
  held_.erase(found);
  SetArrived();
  const int error = PMPI_Mrecv(message->data, static_cast<int>(message->bytes), MPI_BYTE, &taken,
                               MPI_STATUS_IGNORE);
  if (message->type == LAMINA_SR_EXIT) TellAll();
  return error;
}

// Drops what comes, and notes who has come to the exit.
void Node::Drop(int* done, int* code, std::vector<bool>* came) {
  Look();
  for (Held& held : held_) {
    std::vector<char> data(held.bytes);
    PMPI_Mrecv(data.data(), static_cast<int>(held.bytes), MPI_BYTE, &held.message,
               MPI_STATUS_IGNORE);
    if (held.type != kDone && held.type != kGo) continue;
    int theirs = 0;
    if (data.size() == sizeof theirs) std::memcpy(&theirs, data.data(), sizeof theirs);
    *code = std::max(*code, theirs);
    (*came)[static_cast<std::size_t>(held.node)] = true;
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

extern "C" LAMINA_EXPORT void lamina_sr_free(void* buffer) {
  if (buffer != nullptr) std::free(lamina::sr::HeadOf(buffer));
}

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
