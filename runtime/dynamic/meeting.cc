// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/dynamic/meeting.h"

#include <algorithm>
#include <utility>

#include "runtime/agreement/channel.h"
#include "runtime/agreement/make.h"
#include "runtime/agreement/roll.h"
#include "runtime/base/bytes.h"
#include "runtime/base/place.h"
#include "runtime/core/process.h"
#include "runtime/dynamic/await.h"
#include "runtime/p2p/other_jobs.h"
#include "runtime/p2p/p2p.h"

namespace lamina::dynamic {

Status (*widen)(transport::Reach reach) = nullptr;

namespace {

// The other root has this long for each of its steps, in which its group takes part.
constexpr std::uint64_t kStepMs = 60'000;

using Bytes = std::vector<std::byte>;

Bytes BytesOf(const std::string& text) {
  const auto* at = reinterpret_cast<const std::byte*>(text.data());
  return {at, at + text.size()};
}

std::string TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// One meeting, as one member of one of the groups goes through it.
class Walk {
 public:
  Walk(core::Comm* comm, int root, int failure_class)
      : comm_(comm),
        root_(root),
        failure_class_(failure_class),
        channel_(comm, comm->CollectiveContext(), comm->NextTag()) {}

  Encounter Run(const std::function<Arrangement()>& arrange) {
    if (int error = Begin(arrange); error != MPI_SUCCESS)
      Fail(error, "a member of the group is lost");
    if (encounter_.error_class != MPI_SUCCESS || !meets_) return std::move(encounter_);
    if (int error = Join(); error != MPI_SUCCESS) Fail(error, "a member of the group is lost");
    return std::move(encounter_);
  }

 private:
  bool IsRoot() const { return comm_->rank == root_; }

  std::string Explain(const Status& status) const {
    const std::string why(status.message());
    return explain_ != nullptr ? explain_(why) : why;
  }

  void Fail(int error_class, std::string why) {
    if (encounter_.error_class != MPI_SUCCESS) return;
    encounter_.error_class = error_class;
    encounter_.why = std::move(why);
  }

  // The root gets what all members have, by rank.
  int Gather(const Bytes& own, std::vector<Bytes>* all) {
    if (!IsRoot()) return channel_.Send(root_, own);
    all->assign(static_cast<std::size_t>(comm_->size), own);
    for (Rank rank = 0; rank < comm_->size; ++rank)
      if (rank != root_)
        if (int error = channel_.Receive(rank, &(*all)[static_cast<std::size_t>(rank)]);
            error != MPI_SUCCESS)
          return error;
    return MPI_SUCCESS;
  }

  // All take part in this, whatever has failed before, so that nobody waits for one who has left.
  int Tell(Bytes* told) { return Spread(channel_, agreement::Everyone(*comm_), root_, told); }

  // The root arranges the meeting and says hello; everybody learns what came of it.
  int Begin(const std::function<Arrangement()>& arrange) {
    Bytes own;
    Append(&own, PlaceNumber());
    std::vector<Bytes> places;
    const int gathered = Gather(own, &places);
    Bytes told;
    if (IsRoot() && gathered == MPI_SUCCESS) told = Arrange(arrange, places);
    if (int error = Tell(&told); error != MPI_SUCCESS) return error;
    return gathered != MPI_SUCCESS ? gathered : Hear(told);
  }

  Bytes Arrange(const std::function<Arrangement()>& arrange, std::vector<Bytes> places) {
    Arrangement arrangement = arrange();
    std::uint32_t far = 0;
    if (arrangement.error_class == MPI_SUCCESS && arrangement.meets) {
      stream_ = std::move(arrangement.stream);
      explain_ = std::move(arrangement.explain);
      if (Status status = SayHello(std::move(places), &far); !status.ok()) {
        arrangement.error_class = failure_class_;
        arrangement.why = Explain(status);
      }
    }
    Bytes told;
    Append(&told, static_cast<std::int32_t>(arrangement.error_class));
    Append(&told, std::uint32_t{arrangement.meets});
    Append(&told, far);
    Append(&told, static_cast<std::uint32_t>(arrangement.codes.size()));
    for (const int code : arrangement.codes) Append(&told, static_cast<std::int32_t>(code));
    const Bytes why = BytesOf(arrangement.why);
    told.insert(told.end(), why.begin(), why.end());
    return told;
  }

  // The roots tell each other where their groups are. `far` becomes 1 if not all can share memory.
  Status SayHello(std::vector<Bytes> places, std::uint32_t* far) {
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    Bytes hello;
    for (const Bytes& place : places) hello.insert(hello.end(), place.begin(), place.end());
    Result<Bytes> theirs = stream_->Swap(hello, MomentIn(kStepMs));
    if (!theirs.ok()) return std::move(theirs).status();
    *far = places.size() != 1 || *theirs != hello ? 1 : 0;
    return {};
  }

  int Hear(std::span<const std::byte> told) {
    std::int32_t error_class;
    std::uint32_t meets, far, codes;
    if (!Take(&told, &error_class) || !Take(&told, &meets) || !Take(&told, &far) ||
        !Take(&told, &codes))
      return MPI_ERR_INTERN;
    for (std::int32_t code; codes > 0 && Take(&told, &code); --codes)
      encounter_.codes.push_back(code);
    if (error_class != MPI_SUCCESS) Fail(error_class, TextOf(told));
    meets_ = meets != 0;
    reach_ = far != 0 ? transport::Reach::kNetwork : transport::Reach::kNode;
    return MPI_SUCCESS;
  }

  // The groups get to know each other's members.
  int Join() {
    std::vector<Bytes> cards;
    const int gathered = Gather(OwnCard(), &cards);
    Bytes told;
    const ContextId own = p2p::NewContext();
    if (IsRoot() && gathered == MPI_SUCCESS) told = SwapRolls(cards, own);
    if (int error = Tell(&told); error != MPI_SUCCESS) return error;
    return gathered != MPI_SUCCESS ? gathered : Conclude(told);
  }

  // A card begins with 1; 0 stands before the reason why there is none.
  Bytes OwnCard() {
    p2p::OpenToOtherJobs();
    Status status = widen(reach_);
    Bytes card{std::byte{1}};
    if (status.ok()) {
      Result<p2p::Introduction> own = p2p::Introduce(core::process->self);
      if (own.ok()) {
        const Bytes roll = agreement::RollOf(std::span(&*own, 1));
        card.insert(card.end(), roll.begin(), roll.end());
        return card;
      }
      status = std::move(own).status();
    }
    card = BytesOf(std::string(status.message()));
    card.insert(card.begin(), std::byte{0});
    return card;
  }

  // What the roots swap: 1, a context, and the roll; or 0 and a reason.
  Bytes SwapRolls(const std::vector<Bytes>& cards, ContextId own) {
    Bytes mine = Proposal(cards, own);
    Result<Bytes> theirs = stream_->Swap(mine, MomentIn(kStepMs));
    Bytes told;
    const auto failed = [&told](const std::string& why) {
      told = BytesOf(why);
      told.insert(told.begin(), std::byte{0});
      return told;
    };
    if (!theirs.ok()) return failed(Explain(theirs.status()));
    if (mine[0] == std::byte{0}) return mine;
    if (theirs->empty() || (*theirs)[0] == std::byte{0})
      return failed("the other group: " +
                    TextOf(std::span(*theirs).subspan(std::min<std::size_t>(1, theirs->size()))));
    Append(&told, std::uint8_t{1});
    std::span<const std::byte> rest = std::span(*theirs).subspan(1);
    std::uint64_t other;
    if (!Take(&rest, &other)) return failed("what the other group says is cut short");
    Append(&told, std::min(Index(own), other));
    Append(&told, Index(p2p::NewContext()));
    told.insert(told.end(), rest.begin(), rest.end());
    return told;
  }

  static Bytes Proposal(const std::vector<Bytes>& cards, ContextId own) {
    std::vector<p2p::Introduction> members;
    for (const Bytes& card : cards) {
      if (card.empty() || card[0] == std::byte{0}) return card.empty() ? Bytes(1) : card;
      Result<std::vector<p2p::Introduction>> member =
          agreement::ReadRoll(std::span(card).subspan(1));
      if (!member.ok() || member->size() != 1) return Bytes(1);
      members.push_back(std::move(member->front()));
    }
    Bytes mine;
    Append(&mine, std::uint8_t{1});
    Append(&mine, Index(own));
    const Bytes roll = agreement::RollOf(members);
    mine.insert(mine.end(), roll.begin(), roll.end());
    return mine;
  }

  int Conclude(std::span<const std::byte> told) {
    std::uint8_t met;
    std::uint64_t context, local_context;
    if (!Take(&told, &met)) return MPI_ERR_INTERN;
    if (met == 0) {
      Fail(failure_class_, TextOf(told));
      return MPI_SUCCESS;
    }
    if (!Take(&told, &context) || !Take(&told, &local_context)) return MPI_ERR_INTERN;
    Result<std::vector<PeerId>> peers = agreement::MeetAll(told);
    if (!peers.ok()) {
      Fail(failure_class_, std::string(peers.status().message()));
      return MPI_SUCCESS;
    }
    core::Group* remote =
        core::MakeGroup(*std::move(peers), core::process->self, comm_->group->session);
    if (!agreement::AreDisjoint(*comm_->group, *remote))
      Fail(MPI_ERR_COMM, "the two groups have common members");
    else
      encounter_.made = agreement::MakeInter(comm_->group, remote, ContextId{context},
                                             ContextId{local_context}, comm_);
    Release(remote);
    return MPI_SUCCESS;
  }

  core::Comm* const comm_;
  const int root_;
  const int failure_class_;
  const agreement::Channel channel_;
  std::optional<Stream> stream_;
  std::function<std::string(std::string)> explain_;
  bool meets_ = true;
  transport::Reach reach_ = transport::Reach::kNode;
  Encounter encounter_;
};

}  // namespace

Encounter Meet(core::Comm* comm, int root, int failure_class,
               const std::function<Arrangement()>& arrange) {
  return Walk(comm, root, failure_class).Run(arrange);
}

}  // namespace lamina::dynamic
