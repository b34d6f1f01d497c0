// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/io/closing.h"

#include <algorithm>

#include "runtime/p2p/p2p.h"

namespace lamina::io {

// The parent of a rank is that rank without its lowest bit.
Closing::Closing(core::Comm* comm, int tag, const Failure& mine, core::Activity* watcher)
    : comm_(comm), tag_(tag), watcher_(watcher), verdict_(VerdictOf(*comm, mine)) {
  const Rank lowest = comm->rank == 0 ? comm->size : comm->rank & -comm->rank;
  for (Rank bit = 1; bit < lowest && comm->rank + bit < comm->size; bit *= 2)
    children_.push_back(comm->rank + bit);
  for (const Rank child : children_) {
    theirs_.push_back(std::make_unique<Verdict>());
    Post(child, tag_, theirs_.back().get(), false);
  }
}

bool Closing::Step() {
  while (stage_ != Stage::kOver) {
    if (!AllOver()) return false;
    if (stage_ == Stage::kBelow) {
      for (std::size_t i = 0; i < children_.size(); ++i)
        verdict_ = FirstOf(verdict_, requests_[i]->error == MPI_SUCCESS
                                         ? *theirs_[i]
                                         : VerdictOf(*comm_, LostRank(requests_[i]->error)));
      Clear();
      stage_ = Stage::kAbove;
      if (comm_->rank == 0) continue;
      const Rank parent = comm_->rank & (comm_->rank - 1);
      Post(parent, tag_ + 1, &above_, false);
      Post(parent, tag_, &verdict_, true);
    } else if (stage_ == Stage::kAbove) {
      if (comm_->rank != 0) {
        const int error = requests_.front()->error;
        // Those below hear of a rank that is lost above.
        verdict_ = error == MPI_SUCCESS ? above_ : VerdictOf(*comm_, LostRank(error));
      }
      Clear();
      stage_ = Stage::kTell;
      for (const Rank child : children_) Post(child, tag_ + 1, &verdict_, true);
    } else {
      Clear();
      stage_ = Stage::kOver;
    }
  }
  return true;
}

void Closing::Post(Rank peer, int tag, Verdict* verdict, bool sends) {
  core::Request* request = core::NewRequest(comm_);
  const p2p::Envelope envelope{comm_, comm_->context, peer, tag};
  const datatype::Buffer buffer{verdict, sizeof *verdict, datatype::FindDatatype(MPI_BYTE)};
  if (sends)
    p2p::PrepareSend(request, envelope, buffer, core::Request::Mode::kStandard);
  else
    p2p::PrepareReceive(request, envelope, buffer);
  request->watcher = watcher_;
  p2p::Start(request);
  requests_.push_back(request);
}

bool Closing::AllOver() const {
  return std::all_of(requests_.begin(), requests_.end(),
                     [](const core::Request* request) { return request->complete; });
}

void Closing::Clear() {
  for (core::Request* request : requests_) core::FreeRequest(request);
  requests_.clear();
}

}  // namespace lamina::io
