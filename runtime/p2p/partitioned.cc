// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/partitioned.h"

#include <algorithm>
#include <typeinfo>
#include <vector>

#include "runtime/p2p/engine.h"

namespace lamina::p2p {
namespace {

// What the sender says about its side, in the only message outside the channel.
struct Setup {
  std::uint64_t channel;
  std::uint64_t partition_bytes;
  std::uint64_t partitions;
};

// Holds a Setup for a request that may outlive its transfer, because freeing a transfer waits for
// nobody.
struct Letter final : core::Activity {
  explicit Letter(const Setup& what) : setup(what) {}
  Setup setup;
};

Buffer Bytes(void* address, std::int64_t bytes) {
  return {address, bytes, datatype::FindDatatype(MPI_BYTE)};
}

std::int64_t PartitionBytes(const Partitioned& arguments) {
  return arguments.count * arguments.type->size;
}

class PartitionedSend final : public core::Activity {
 public:
  explicit PartitionedSend(const Partitioned& arguments)
      : arguments_(arguments),
        channel_(NewContext()),
        ready_(static_cast<std::size_t>(arguments.partitions)) {
    if (arguments.peer.peer == MPI_PROC_NULL) return;
    messages_ = std::vector<Request>(static_cast<std::size_t>(arguments.partitions));
    Letter* letter =
        new Letter({Index(channel_), static_cast<std::uint64_t>(PartitionBytes(arguments)),
                    static_cast<std::uint64_t>(arguments.partitions)});
    Request* request = core::NewRequest(arguments.peer.comm);
    request->activity = letter;
    request->orphan = true;
    PrepareSend(request, arguments.peer, Bytes(&letter->setup, sizeof letter->setup),
                Request::Mode::kStandard);
    p2p::Start(request);
  }

  int Start(Request* owner) override {
    owner_ = owner;
    std::fill(ready_.begin(), ready_.end(), false);
    ready_count_ = 0;
    next_ = 0;
    if (messages_.empty()) core::Finish(owner, MPI_SUCCESS);
    return MPI_SUCCESS;
  }

  void Advance() override {
    if (messages_.empty() || owner_ == nullptr || owner_->complete || ready_count_ < partitions())
      return;
    // All messages before `next_` are complete.
    while (next_ < messages_.size() && messages_[next_].complete) ++next_;
    if (next_ < messages_.size()) return;
    int error = MPI_SUCCESS;
    for (const Request& message : messages_)
      if (message.error != MPI_SUCCESS) error = message.error;
    core::Finish(owner_, error);
  }
  bool MustComplete() const override { return true; }

  int partitions() const { return arguments_.partitions; }
  bool IsReady(int partition) const { return ready_[static_cast<std::size_t>(partition)]; }
  void MarkReady(int partition) {
    ready_[static_cast<std::size_t>(partition)] = true;
    ++ready_count_;
    if (messages_.empty()) return;
    Request* message = &messages_[static_cast<std::size_t>(partition)];
    const Buffer data{
        datatype::At(arguments_.address, partition * arguments_.count * arguments_.type->extent),
        arguments_.count, arguments_.type};
    PrepareSend(message, {arguments_.peer.comm, channel_, arguments_.peer.peer, partition}, data,
                Request::Mode::kStandard);
    message->watcher = this;
    p2p::Start(message);
  }

 private:
  const Partitioned arguments_;
  const ContextId channel_;
  Request* owner_ = nullptr;
  std::vector<Request> messages_;  // by partition; empty if there is no peer
  std::vector<bool> ready_;
  int ready_count_ = 0;
  std::size_t next_ = 0;
};

class PartitionedReceive final : public core::Activity {
 public:
  explicit PartitionedReceive(const Partitioned& arguments)
      : arguments_(arguments), total_bytes_(PartitionBytes(arguments) * arguments.partitions) {
    if (arguments.peer.peer == MPI_PROC_NULL) return;
    letter_ = new Letter({});
    setup_request_ = core::NewRequest(arguments.peer.comm);
    setup_request_->activity = letter_;
    PrepareReceive(setup_request_, arguments.peer, Bytes(&letter_->setup, sizeof letter_->setup));
    setup_request_->watcher = this;
    p2p::Start(setup_request_);
  }
  ~PartitionedReceive() override {
    if (setup_request_ == nullptr) return;
    if (known_) TheEngine().delivery().spaces().Drop(ContextId{setup().channel});
    setup_request_->watcher = nullptr;
    if (setup_request_->complete)
      core::FreeRequest(setup_request_);
    else
      setup_request_->orphan = true;  // it still has to take the setup that is meant for it
  }

  int Start(Request* owner) override {
    owner_ = owner;
    posted_ = false;
    next_ = 0;
    owner->source = arguments_.peer.peer;
    owner->tag = arguments_.peer.peer == MPI_PROC_NULL ? MPI_ANY_TAG : arguments_.peer.tag;
    owner->bytes = 0;
    if (setup_request_ == nullptr) {
      core::Finish(owner, MPI_SUCCESS);
      return MPI_SUCCESS;
    }
    Advance();
    return MPI_SUCCESS;
  }

  void Advance() override {
    if (!known_ && setup_request_->complete && setup_request_->error == MPI_SUCCESS) Learn();
    if (owner_ == nullptr || !owner_->active || owner_->complete) return;
    if (setup_request_->complete && setup_request_->error != MPI_SUCCESS)
      return core::Finish(owner_, setup_request_->error);
    if (!known_) return;
    if (!posted_) Post();
    // All messages before `next_` are complete and in place.
    for (; next_ < messages_.size() && messages_[next_].complete; ++next_) Settle(next_);
    if (next_ < messages_.size()) return;
    int error = MPI_SUCCESS;
    for (const Request& message : messages_) {
      owner_->bytes += message.bytes;
      if (message.error != MPI_SUCCESS) error = message.error;
    }
    core::Finish(owner_, error);
  }
  bool MustComplete() const override { return true; }

  int partitions() const { return arguments_.partitions; }
  bool HasArrived(int partition) {
    if (owner_->complete) return true;
    if (!posted_) return false;
    const auto messages = static_cast<std::int64_t>(messages_.size());
    std::int64_t first, end;
    if (message_bytes_ == 0 || total_bytes_ == 0) {
      first = partition * messages / partitions();
      end = (partition + 1) * messages / partitions();
    } else {
      const std::int64_t bytes = PartitionBytes(arguments_);
      first = partition * bytes / message_bytes_;
      end = std::min(((partition + 1) * bytes + message_bytes_ - 1) / message_bytes_, messages);
    }
    for (std::int64_t i = first; i < end; ++i)
      if (!messages_[static_cast<std::size_t>(i)].complete) return false;
    for (std::int64_t i = first; i < end; ++i) Settle(static_cast<std::size_t>(i));
    return first < messages;
  }

 private:
  const Setup& setup() const { return letter_->setup; }
  // Reads the setup. The sender's side is known from now on.
  void Learn() {
    known_ = true;
    message_bytes_ = static_cast<std::int64_t>(setup().partition_bytes);
    messages_ = std::vector<Request>(setup().partitions);
    const std::int64_t size = arguments_.type->size;
    if (arguments_.type->contiguous || size == 0 || message_bytes_ % size == 0) return;
    // Messages end within elements of a type with holes, so they are received beside the buffer.
    staging_.resize(static_cast<std::size_t>(message_bytes_) * messages_.size());
    settled_.resize(messages_.size());
  }

  // Where message `i` belongs. It is cut to what the receive buffer has room for.
  Buffer PlaceOf(std::size_t i) {
    const std::int64_t from = static_cast<std::int64_t>(i) * message_bytes_;
    const std::int64_t bytes = std::clamp<std::int64_t>(total_bytes_ - from, 0, message_bytes_);
    if (!staging_.empty()) return Bytes(staging_.data() + from, bytes);
    const datatype::Datatype& type = *arguments_.type;
    if (type.contiguous || type.size == 0)
      return Bytes(datatype::At(arguments_.address, type.true_lower + from), bytes);
    return {datatype::At(arguments_.address, from / type.size * type.extent), bytes / type.size,
            &type};
  }

  void Post() {
    posted_ = true;
    std::fill(settled_.begin(), settled_.end(), false);
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      Request* message = &messages_[i];
      PrepareReceive(message,
                     {arguments_.peer.comm, ContextId{setup().channel}, arguments_.peer.peer,
                      static_cast<int>(i)},
                     PlaceOf(i));
      message->watcher = this;
      p2p::Start(message);
    }
  }

  // Moves a message that was received beside the buffer into it.
  void Settle(std::size_t i) {
    if (staging_.empty() || settled_[i]) return;
    settled_[i] = true;
    const std::int64_t from = static_cast<std::int64_t>(i) * message_bytes_;
    datatype::Unpack(
        {staging_.data() + from, static_cast<std::size_t>(messages_[i].bytes)}, from,
        {arguments_.address, arguments_.partitions * arguments_.count, arguments_.type});
  }

  const Partitioned arguments_;
  const std::int64_t total_bytes_;
  Letter* letter_ = nullptr;          // owned by `setup_request_`
  Request* setup_request_ = nullptr;  // null if there is no peer
  bool known_ = false;                // the setup has arrived
  bool posted_ = false;               // this round's receives are posted
  Request* owner_ = nullptr;
  std::vector<Request> messages_;  // by the sender's partition
  std::int64_t message_bytes_ = 0;
  std::vector<std::byte> staging_;  // empty unless messages cannot be received into place
  std::vector<bool> settled_;
  std::size_t next_ = 0;
};

template <class Kind>
Kind* As(const Request& request) {
  if (request.activity == nullptr || typeid(*request.activity) != typeid(Kind)) return nullptr;
  return static_cast<Kind*>(request.activity);
}

template <class Kind>
Request* Make(const Partitioned& arguments) {
  Request* request = core::NewRequest(arguments.peer.comm);
  core::Hold(request, arguments.type);
  request->type = Request::Type::kActivity;
  request->persistent = true;
  request->peer = arguments.peer.peer;
  request->match_tag = arguments.peer.tag;
  request->activity = new Kind(arguments);
  return request;
}

}  // namespace

Request* MakePartitionedSend(const Partitioned& arguments) {
  return Make<PartitionedSend>(arguments);
}
Request* MakePartitionedReceive(const Partitioned& arguments) {
  return Make<PartitionedReceive>(arguments);
}

int SendPartitions(const Request& request) {
  const PartitionedSend* send = As<PartitionedSend>(request);
  return send != nullptr ? send->partitions() : -1;
}
int ReceivePartitions(const Request& request) {
  const PartitionedReceive* receive = As<PartitionedReceive>(request);
  return receive != nullptr ? receive->partitions() : -1;
}

bool IsReady(const Request& request, int partition) {
  return As<PartitionedSend>(request)->IsReady(partition);
}
void MarkReady(Request* request, int partition) {
  As<PartitionedSend>(*request)->MarkReady(partition);
}

bool HasArrived(Request* request, int partition) {
  PartitionedReceive* receive = As<PartitionedReceive>(*request);
  if (receive->HasArrived(partition)) return true;
  if (!Progress()) TestedInVain();
  return receive->HasArrived(partition);
}

}  // namespace lamina::p2p
