// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/agreement/duplication.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "collectives/select/table.h"
#include "runtime/core/activity.h"
#include "runtime/datatype/datatype.h"
#include "runtime/p2p/p2p.h"

namespace lamina::agreement {
namespace {

using core::Comm;
using core::Request;

class Duplication final : public core::Activity {
 public:
  Duplication(Comm* parent, Comm* made, Request* owner)
      : parent_(parent),
        made_(made),
        local_(parent->is_inter() ? parent->local : parent),
        owner_(owner),
        tag_(local_->NextTag()),
        cross_tag_(parent->is_inter() ? parent->NextTag() : tag_) {
    Retain(made_);
  }
  ~Duplication() override { static_cast<void>(Release(made_)); }

  void Begin() {
    if (local_->rank == 0) {
      words_[0] = Index(p2p::NewContext());
      words_[1] = Index(p2p::NewContext());
      if (parent_->is_inter()) Cross();
    } else {
      Hear();
    }
    Advance();
  }

  std::string Explain() const override { return "the connection to one of the ranks is lost"; }

  void Advance() override {
    for (;;) {
      for (const Request* request : pending_)
        if (!request->complete) return;
      int error = MPI_SUCCESS;
      for (Request* request : pending_) {
        if (request->error != MPI_SUCCESS) error = request->error;
        core::FreeRequest(request);
      }
      pending_.clear();
      if (error == MPI_SUCCESS && words_[0] == 0) error = MPI_ERR_PROC_ABORTED;
      if (error_ == MPI_SUCCESS) error_ = error;
      if (told_) return error_ == MPI_SUCCESS ? End() : core::Finish(owner_, error_);
      if (error_ != MPI_SUCCESS)
        words_ = {};  // so that all go on who wait below this one
      else if (local_->rank == 0 && parent_->is_inter())
        words_[0] = std::min(words_[0], other_);
      Tell();
    }
  }

 private:
  // Returns the distance to the parent in the binomial tree, which is also how many ranks from this
  // one on are its own subtree.
  int Reach() const {
    int mask = 1;
    while (mask < local_->size && (local_->rank & mask) == 0) mask <<= 1;
    return mask;
  }
  void Post(Comm* comm, Rank peer, int tag, std::uint64_t* words, int count, bool send) {
    Request* request = core::NewRequest(comm);
    const p2p::Envelope envelope{comm, comm->CollectiveContext(), peer, tag};
    const datatype::Buffer data{words, count, datatype::FindDatatype(MPI_UINT64_T)};
    if (send)
      p2p::PrepareSend(request, envelope, data, Request::Mode::kStandard);
    else
      p2p::PrepareReceive(request, envelope, data);
    request->watcher = this;
    pending_.push_back(request);
    p2p::Start(request);
  }
  void Cross() {
    other_ = words_[0];
    proposal_ = words_[0];
    Post(parent_, 0, cross_tag_, &other_, 1, false);
    Post(parent_, 0, cross_tag_, &proposal_, 1, true);
  }
  void Hear() { Post(local_, local_->rank - Reach(), tag_, words_.data(), 2, false); }
  void Tell() {
    told_ = true;
    for (int mask = Reach() >> 1; mask > 0; mask >>= 1)
      if (local_->rank + mask < local_->size)
        Post(local_, local_->rank + mask, tag_, words_.data(), 2, true);
  }
  void End() {
    made_->context = ContextId{words_[0]};
    if (made_->local != nullptr) {
      made_->local->context = ContextId{words_[1]};
      collective::Attach(made_->local);
    }
    collective::Attach(made_);
    core::Finish(owner_, MPI_SUCCESS);  // may delete this
  }

  Comm* const parent_;  // held by the owner
  Comm* const made_;
  Comm* const local_;
  Request* const owner_;
  const int tag_;
  const int cross_tag_;
  bool told_ = false;
  int error_ = MPI_SUCCESS;
  std::array<std::uint64_t, 2> words_{};  // the new context, and that of the local communicator
  std::uint64_t other_ = 0;               // what the other leader proposes
  std::uint64_t proposal_ = 0;
  std::vector<Request*> pending_;
};

}  // namespace

Request* StartDuplication(Comm* parent, Comm* made) {
  Request* owner = core::NewRequest(parent);
  owner->type = Request::Type::kActivity;
  owner->active = true;
  auto* duplication = new Duplication(parent, made, owner);
  owner->activity = duplication;
  duplication->Begin();
  return owner;
}

}  // namespace lamina::agreement
