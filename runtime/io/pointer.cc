// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/io/pointer.h"

#include <sys/mman.h>

#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include "runtime/core/activity.h"
#include "runtime/core/request.h"
#include "runtime/p2p/p2p.h"

namespace lamina::io {
namespace {

class Alone final : public SharedPointer {
 public:
  Failure Claim(std::int64_t bytes, std::int64_t* first) override {
    *first = std::exchange(position_, position_ + bytes);
    return {};
  }
  Failure Set(std::int64_t position) override {
    position_ = position;
    return {};
  }

 private:
  std::int64_t position_ = 0;
};

class OnNode final : public SharedPointer {
 public:
  OnNode(std::optional<memory::Sealed> own, const memory::SealedName& name)
      : own_(std::move(own)), name_(name) {}
  ~OnNode() override {
    if (word_ != nullptr) munmap(word_, memory::kPageBytes);
  }

  Failure Claim(std::int64_t bytes, std::int64_t* first) override {
    if (Failure failure = Map(); !failure.ok()) return failure;
    *first = word_->fetch_add(bytes);
    return {};
  }
  Failure Set(std::int64_t position) override {
    if (Failure failure = Map(); !failure.ok()) return failure;
    word_->store(position);
    return {};
  }

 private:
  using Word = std::atomic<std::int64_t>;
  static_assert(Word::is_always_lock_free);

  Failure Map() {
    if (word_ != nullptr) return {};
    if (own_.has_value()) return MapFrom(*own_);
    const Result<memory::Sealed> found = memory::OpenSealed(name_, memory::kPageBytes, nullptr);
    return found.ok() ? MapFrom(*found) : Failed(found.status());
  }
  Failure MapFrom(const memory::Sealed& page) {
    Result<std::byte*> mapped = page.Map(0, memory::kPageBytes);
    if (!mapped.ok()) return Failed(mapped.status());
    word_ = reinterpret_cast<Word*>(*mapped);
    return {};
  }
  static Failure Failed(const Status& status) {
    return Fail(MPI_ERR_IO, "the memory of the shared file pointer: %s",
                std::string(status.message()).c_str());
  }

  const std::optional<memory::Sealed> own_;
  const memory::SealedName name_;
  Word* word_ = nullptr;
};

// What goes to rank 0: add this to the pointer, or set it to this.
struct Claim {
  std::int64_t bytes;
  std::int64_t sets;  // 1: set
};
constexpr int kClaimTag = 1;
constexpr int kAnswerTag = 2;

datatype::Buffer Words(void* words, std::int64_t count) {
  return {words, count, datatype::FindDatatype(MPI_INT64_T)};
}

// Rank 0 answers claims. A receive is always posted; its end notifies the activity, which belongs
// to a request that never completes.
class Owner final : public core::Activity {
 public:
  explicit Owner(core::Comm* comm) : comm_(comm) { Post(); }
  ~Owner() override {
    posted_->watcher = nullptr;
    if (posted_->complete || p2p::Cancel(posted_)) core::FreeRequest(posted_);
  }

  std::int64_t Take(const Claim& claim) {
    return std::exchange(position_, claim.sets != 0 ? claim.bytes : position_ + claim.bytes);
  }

  void Advance() override {
    if (!posted_->complete) return;
    std::int64_t answer = Take(claim_);
    const Rank from = posted_->source;
    const int error = posted_->error;
    core::FreeRequest(posted_);
    Post();
    // A claimant waits for its answer in a posted receive, so a short message does not block.
    if (error == MPI_SUCCESS)
      static_cast<void>(p2p::Send({comm_, comm_->context, from, kAnswerTag}, Words(&answer, 1),
                                  core::Request::Mode::kStandard));
  }

 private:
  void Post() {
    posted_ = core::NewRequest(comm_);
    p2p::PrepareReceive(posted_, {comm_, comm_->context, MPI_ANY_SOURCE, kClaimTag},
                        Words(&claim_, 2));
    posted_->watcher = this;
    p2p::Start(posted_);
  }

  core::Comm* const comm_;
  core::Request* posted_ = nullptr;
  Claim claim_{};
  std::int64_t position_ = 0;
};

class Owned final : public SharedPointer {
 public:
  explicit Owned(core::Comm* comm) : comm_(comm) {
    if (comm->rank == 0) owner_ = std::make_unique<Owner>(comm);
  }

  Failure Claim(std::int64_t bytes, std::int64_t* first) override { return Ask({bytes, 0}, first); }
  Failure Set(std::int64_t position) override {
    std::int64_t before = 0;
    return Ask({position, 1}, &before);
  }

 private:
  Failure Ask(io::Claim claim, std::int64_t* before) {
    if (owner_ != nullptr) {
      *before = owner_->Take(claim);
      return {};
    }
    int error = p2p::Send({comm_, comm_->context, 0, kClaimTag}, Words(&claim, 2),
                          core::Request::Mode::kStandard);
    if (error == MPI_SUCCESS)
      error =
          p2p::Receive({comm_, comm_->context, 0, kAnswerTag}, Words(before, 1), MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS) return {};
    return Fail(error, "rank 0 of the file, which has the shared file pointer, did not answer");
  }

  core::Comm* const comm_;
  std::unique_ptr<Owner> owner_;  // on rank 0
};

}  // namespace

std::unique_ptr<SharedPointer> MakeAlone() { return std::make_unique<Alone>(); }

std::unique_ptr<SharedPointer> MakeOnNode(std::optional<memory::Sealed> own,
                                          const memory::SealedName& name) {
  return std::make_unique<OnNode>(std::move(own), name);
}

Result<memory::MadeSealed> MakeNodePage() {
  return memory::MakeSealed("lamina-file", memory::kPageBytes, nullptr);
}

std::unique_ptr<SharedPointer> MakeOwned(core::Comm* comm) { return std::make_unique<Owned>(comm); }

}  // namespace lamina::io
