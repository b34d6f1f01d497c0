// SPDX-License-Identifier: BSD-3-Clause
// How a window is made and freed.
//
// The first member of each node collects what the others there wish for, makes the block and the
// memory that they share, and says where these are found. Then all members of the window agree in
// one allreduce whether everybody could do his part. If somebody could not share memory, all
// members reach each other by messages.
#include <mpi.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "collectives/exec/exec.h"
#include "runtime/agreement/make.h"
#include "runtime/base/log.h"
#include "runtime/base/node_memory.h"
#include "runtime/base/param.h"
#include "runtime/base/roster.h"
#include "runtime/base/text.h"
#include "runtime/core/errors.h"
#include "runtime/core/process.h"
#include "runtime/memory/peer_memory.h"
#include "runtime/p2p/p2p.h"
#include "runtime/rma/agent.h"
#include "runtime/rma/layout.h"
#include "runtime/rma/named_memory.h"
#include "runtime/rma/params.h"
#include "runtime/rma/window.h"

namespace lamina::rma {
namespace {

const Datatype* Bytes() { return datatype::FindDatatype(MPI_BYTE); }

// What a member tells the first one of its node.
struct Introduction {
  std::uint64_t address = 0;
  std::int64_t size = 0;
  std::int64_t disp_unit = 1;
  std::uint64_t probe = 0;
  std::int32_t pid = 0;
  std::int32_t noncontiguous = 0;
  std::uint32_t pid_namespace = 0;  // in which the process has that number
  std::uint32_t alignment = 1;      // of its part of the memory
};

// What the first one answers.
struct Opening {
  std::uint64_t token = 0;  // 0: there is no block
  memory::SealedName block;
  memory::SealedName memory;
  std::uint64_t memory_bytes = 0;
  std::uint32_t alignment = 1;       // of all of it
  std::int32_t error = MPI_SUCCESS;  // why there is no memory for the window
};

// What all members agree on: the largest of each number.
struct Consent {
  std::int64_t error = MPI_SUCCESS;
  std::int64_t cannot_share = 0;
  std::int64_t cannot_copy = 0;
  std::int64_t nodes_differ = 0;  // there are members on other nodes
};

// A process that dies later than it should takes the machine with it, so memory that can never be
// there is refused now.
bool CanEverFit(std::size_t bytes) {
  struct sysinfo info;
  if (sysinfo(&info) != 0) return true;
  return bytes / info.mem_unit <= info.totalram + info.totalswap;
}

std::byte* MapPrivate(std::size_t bytes) {
  if (!CanEverFit(bytes)) return nullptr;
  void* const base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return base == MAP_FAILED ? nullptr : static_cast<std::byte*>(base);
}

// Moves what is mapped to a multiple of `alignment`. Null: there are not enough addresses.
std::byte* Align(std::byte* mapped, std::size_t bytes, std::size_t alignment) {
  if (mapped == nullptr || alignment <= memory::kPageBytes) return mapped;
  void* const room = mmap(nullptr, bytes + alignment, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) {
    munmap(mapped, bytes);
    return nullptr;
  }
  auto* const begin = static_cast<std::byte*>(room);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(room) & (alignment - 1);
  // UCX puts a function of its own in the place of mremap, which forgets the new address.
  const long moved =
      syscall(SYS_mremap, mapped, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, begin + before);
  if (moved == -1) {
    munmap(room, bytes + alignment);
    munmap(mapped, bytes);
    return nullptr;
  }
  if (before != 0) munmap(begin, before);
  munmap(begin + before + bytes, alignment - before);
  return begin + before;
}

std::vector<Rank> RanksOnThisNode(const core::Comm& comm) {
  const std::vector<std::uint32_t>& local = core::process->identity.local_peers;
  std::vector<Rank> ranks;
  for (Rank rank = 0; rank < comm.size; ++rank)
    if (std::binary_search(local.begin(), local.end(), Index(comm.peers[rank])))
      ranks.push_back(rank);
  return ranks;
}

bool Allocates(int flavor) {
  return flavor == MPI_WIN_FLAVOR_ALLOCATE || flavor == MPI_WIN_FLAVOR_SHARED;
}

}  // namespace

class Window::Creation {
 public:
  Creation(core::Comm* comm, const Wish& wish)
      : comm_(comm), wish_(wish), window_(new Window(comm)), ranks_(RanksOnThisNode(*comm)) {
    window_->flavor_ = wish.flavor;
    window_->hints_ = wish.hints;
    static_cast<void>(param::Load(core::process->settings, kFields, &params_));
    self_ = static_cast<std::size_t>(std::find(ranks_.begin(), ranks_.end(), comm->rank) -
                                     ranks_.begin());
  }

  // Returns the error class on which all members agree, or this process's own.
  int Run(std::string* why) {
    Consent consent;
    consent.error = wish_.error;
    consent.nodes_differ = static_cast<Rank>(ranks_.size()) != comm_->size;
    if (wish_.flavor == MPI_WIN_FLAVOR_SHARED && consent.nodes_differ != 0)
      Refuse(&consent, MPI_ERR_RMA_SHARED, why, "the members are not all on one node");
    if (const int error = Share(&consent, why); error != MPI_SUCCESS) return error;
    if (params_.path == "framed") consent.cannot_copy = 1;
    // The others may access this window as soon as all have agreed.
    if (window_->block_ != nullptr && window_->memory_ != nullptr)
      OwnRecord().address = reinterpret_cast<std::uint64_t>(OwnMemory());
    if (const int error = Agree(&consent); error != MPI_SUCCESS) return error;
    if (consent.cannot_share != 0 && consent.error == MPI_SUCCESS)
      if (const int error = FallBack(&consent); error != MPI_SUCCESS) return error;
    if (consent.error != MPI_SUCCESS) {
      if (why->empty()) *why = "another member of the communicator could not take part";
      return wish_.error != MPI_SUCCESS ? wish_.error : static_cast<int>(consent.error);
    }
    const bool several = consent.nodes_differ != 0 || consent.cannot_share != 0;
    if (several)
      if (const int error = FindNodes(); error != MPI_SUCCESS) return error;
    Furnish(consent, several);
    return MPI_SUCCESS;
  }
  std::unique_ptr<Window> Take() { return std::move(window_); }

 private:
  static void Refuse(Consent* consent, int error, std::string* why, const char* text) {
    if (consent->error != MPI_SUCCESS) return;
    consent->error = error;
    *why = text;
  }

  p2p::Envelope With(Rank rank) const { return window_->messages_.At(rank, kOpeningTag); }
  template <class Value>
  int Send(Rank rank, const Value& value) const {
    return p2p::Send(With(rank), {const_cast<Value*>(&value), sizeof value, Bytes()},
                     core::Request::Mode::kStandard);
  }
  template <class Value>
  int Receive(Rank rank, Value* value) const {
    return p2p::Receive(With(rank), {value, sizeof *value, Bytes()}, MPI_STATUS_IGNORE);
  }

  // Makes or opens what the members of this node share. Returns an error of the messages alone;
  // all others go into `consent`.
  int Share(Consent* consent, std::string* why) {
    Introduction own = Introduce();
    if (ranks_.size() == 1) {
      members_ = {own};
      UsePrivate(consent, why);
      return MPI_SUCCESS;
    }
    Opening opening;
    if (self_ != 0) {
      if (const int error = Send(ranks_[0], own); error != MPI_SUCCESS) return error;
      if (const int error = Receive(ranks_[0], &opening); error != MPI_SUCCESS) return error;
      Open(opening, consent, why);
      return MPI_SUCCESS;
    }
    members_.resize(ranks_.size());
    members_[0] = own;
    for (std::size_t i = 1; i < ranks_.size(); ++i)
      if (const int error = Receive(ranks_[i], &members_[i]); error != MPI_SUCCESS) return error;
    opening = Make(consent, why);
    for (std::size_t i = 1; i < ranks_.size(); ++i)
      if (const int error = Send(ranks_[i], opening); error != MPI_SUCCESS) return error;
    return MPI_SUCCESS;
  }

  Introduction Introduce() const {
    Introduction own;
    own.address = reinterpret_cast<std::uint64_t>(wish_.base);
    own.size = wish_.error == MPI_SUCCESS ? wish_.size : 0;
    own.disp_unit = wish_.disp_unit;
    own.probe = reinterpret_cast<std::uint64_t>(&probe_);
    own.pid = getpid();
    own.noncontiguous = wish_.hints.noncontiguous ? 1 : 0;
    own.pid_namespace = PidNamespaceOfProc();
    own.alignment = static_cast<std::uint32_t>(std::max<std::size_t>(wish_.hints.alignment, 1));
    return own;
  }

  bool IsDynamic() const { return wish_.flavor == MPI_WIN_FLAVOR_DYNAMIC; }
  std::size_t BlockBytes() const {
    return memory::WholePages(Block::BytesFor(ranks_.size(), IsDynamic()));
  }

  SharedLayout Arrange() const {
    std::vector<std::int64_t> sizes;
    bool pages = wish_.flavor == MPI_WIN_FLAVOR_ALLOCATE;
    for (const Introduction& member : members_) {
      sizes.push_back(member.size);
      pages = pages || member.noncontiguous != 0;
    }
    return LayOut(sizes, pages ? Arrangement::kPages : Arrangement::kContiguous, Alignment());
  }
  // The largest that a member asks for.
  std::uint32_t Alignment() const {
    return std::ranges::max_element(members_, {}, &Introduction::alignment)->alignment;
  }

  MemberRecord& OwnRecord() { return window_->block_->member(self_); }
  std::byte* OwnMemory() {
    const std::int64_t offset = OwnRecord().shared_offset;
    return offset < 0 ? nullptr : window_->memory_ + offset;
  }

  // The first member makes everything and fills in the records.
  Opening Make(Consent* consent, std::string* why) {
    Opening opening;
    // Locks are taken from members that have died, so their numbers must mean something here.
    for (const Introduction& member : members_)
      if (member.pid_namespace == 0 || member.pid_namespace != members_[0].pid_namespace)
        return CannotShare(
            consent,
            Error(Code::kUnsupported, "a member is in another pid namespace, as in a container"));
    Result<memory::MadeSealed> block = MakeSealed(BlockBytes());
    if (!block.ok()) return CannotShare(consent, block.status());
    if (!MapBlock(block->memory, consent)) return opening;
    SharedLayout layout;
    if (Allocates(wish_.flavor)) layout = Arrange();
    if (!layout.fits || !CanEverFit(layout.bytes)) {
      Refuse(consent, MPI_ERR_NO_MEM, why, "the machine has less memory than the members ask for");
      opening.error = MPI_ERR_NO_MEM;
    } else if (layout.bytes != 0) {
      opening.memory_bytes = memory::WholePages(layout.bytes);
      Result<memory::MadeSealed> memory = MakeSealed(opening.memory_bytes);
      if (!memory.ok()) return CannotShare(consent, memory.status());
      opening.memory = memory->name;
      opening.alignment = Alignment();
      if (!MapMemory(memory->memory, opening, consent)) return Opening{};
      Keep(std::move(memory->memory), opening.memory_bytes);
    }
    window_->block_->header().token = block->token;
    for (std::size_t i = 0; i < members_.size(); ++i)
      FillIn(i, members_[i], layout.bytes != 0 ? static_cast<std::int64_t>(layout.offsets[i]) : -1);
    opening.token = block->token;
    opening.block = block->name;
    Keep(std::move(block->memory), BlockBytes());
    probe_ = block->token;
    return opening;
  }

  static NodeMemory* NodeMemoryHere() {
    return IsSavedFromOutside(core::process->environment) ? nullptr
                                                          : core::process->node_memory.get();
  }
  Result<memory::MadeSealed> MakeSealed(std::size_t bytes) {
    const std::string folder = MemoryFolder(core::process->environment);
    if (folder.empty()) return memory::MakeSealed("lamina-window", bytes, NodeMemoryHere());
    window_->names_.emplace_back();
    return MakeNamed(folder, bytes, &window_->names_.back());
  }
  static Result<memory::Sealed> OpenSealed(const memory::SealedName& name, std::size_t bytes) {
    return MemoryFolder(core::process->environment).empty()
               ? memory::OpenSealed(name, bytes, NodeMemoryHere())
               : OpenNamed(name);
  }
  // What is the node's lasts until the window ends; anything else until everybody has opened it.
  void Keep(memory::Sealed shared, std::size_t bytes) {
    if (shared.in_node_memory())
      window_->shared_.push_back({std::move(shared), bytes});
    else
      held_.push_back(std::move(shared));
  }

  Opening CannotShare(Consent* consent, const Status& status) {
    Log(Level::kInfo, "rma", "members of a window cannot share memory: %s",
        std::string(status.message()).c_str());
    consent->cannot_share = 1;
    return Opening{};
  }

  void FillIn(std::size_t index, const Introduction& member, std::int64_t offset) {
    MemberRecord& record = window_->block_->member(index);
    record.address = member.address;
    record.size = member.size;
    record.disp_unit = member.disp_unit;
    record.shared_offset = offset;
    record.pid = member.pid;
    record.probe = member.probe;
  }

  bool MapBlock(const memory::Sealed& shared, Consent* consent) {
    Result<std::unique_ptr<Block>> block = Block::Map(shared, ranks_.size(), IsDynamic());
    if (block.ok())
      window_->block_ = *std::move(block);
    else
      CannotShare(consent, block.status());
    return block.ok();
  }

  bool MapMemory(const memory::Sealed& shared, const Opening& opening, Consent* consent) {
    Result<std::byte*> base = shared.Map(0, opening.memory_bytes);
    if (!base.ok()) {
      CannotShare(consent, base.status());
      return false;
    }
    window_->memory_ = Align(*base, opening.memory_bytes, opening.alignment);
    window_->memory_bytes_ = opening.memory_bytes;
    if (window_->memory_ == nullptr)
      CannotShare(consent, SystemError(Code::kResource, errno, "moving %llu bytes of memory",
                                       static_cast<unsigned long long>(opening.memory_bytes)));
    return window_->memory_ != nullptr;
  }

  void Open(const Opening& opening, Consent* consent, std::string* why) {
    if (opening.error != MPI_SUCCESS)
      return Refuse(consent, opening.error, why, "there is less memory than the members ask for");
    if (opening.token == 0) {
      consent->cannot_share = 1;
      return;
    }
    Result<memory::Sealed> block = OpenSealed(opening.block, BlockBytes());
    if (!block.ok()) {
      CannotShare(consent, block.status());
      return;
    }
    if (!MapBlock(*block, consent)) return;
    probe_ = opening.token;
    if (opening.memory_bytes == 0) return;
    Result<memory::Sealed> memory = OpenSealed(opening.memory, opening.memory_bytes);
    if (memory.ok())
      MapMemory(*memory, opening, consent);
    else
      CannotShare(consent, memory.status());
  }

  // This process shares memory with nobody.
  void UsePrivate(Consent* consent, std::string* why) {
    window_->block_ = Block::MakePrivate(IsDynamic());
    const Introduction own = Introduce();
    if (window_->block_ == nullptr)
      return Refuse(consent, MPI_ERR_NO_MEM, why, "there is no memory for the window's own needs");
    std::int64_t offset = -1;
    if (Allocates(wish_.flavor) && own.size > 0) {
      const std::size_t bytes = memory::WholePages(static_cast<std::size_t>(own.size));
      window_->memory_ = Align(MapPrivate(bytes), bytes, own.alignment);
      if (window_->memory_ == nullptr)
        return Refuse(consent, MPI_ERR_NO_MEM, why, "there is not that much memory");
      window_->memory_bytes_ = bytes;
      offset = 0;
    }
    FillIn(0, own, offset);
  }

  // Somebody cannot share memory, so nobody does: each member is alone on its node.
  int FallBack(Consent* consent) {
    if (wish_.flavor == MPI_WIN_FLAVOR_SHARED) {
      consent->error = MPI_ERR_RMA_SHARED;
      return MPI_SUCCESS;
    }
    if (window_->memory_ != nullptr) munmap(window_->memory_, window_->memory_bytes_);
    window_->memory_ = nullptr;
    ranks_ = {comm_->rank};
    self_ = 0;
    std::string why;
    UsePrivate(consent, &why);
    return Agree(consent);
  }

  int Agree(Consent* consent) {
    consent->cannot_copy = consent->cannot_copy != 0 || !CanCopy();
    Consent all;
    collective::Invocation reduction;
    reduction.operation = collective::Operation::kAllreduce;
    reduction.comm = comm_;
    reduction.input = consent;
    reduction.output = &all;
    reduction.input_count = reduction.output_count = sizeof all / sizeof(std::int64_t);
    reduction.input_type = reduction.output_type = datatype::FindDatatype(MPI_INT64_T);
    reduction.op = datatype::FindOp(MPI_MAX);
    const int error = collective::Run(reduction);
    *consent = all;
    return error;
  }

  // Each member tries the next one's memory. The answer does not matter where nothing is copied.
  bool CanCopy() const {
    if (window_->block_ == nullptr || ranks_.size() == 1) return true;
    if (Allocates(wish_.flavor) && params_.path == "auto") return true;
    const MemberRecord& next = window_->block_->member((self_ + 1) % ranks_.size());
    std::uint64_t theirs = 0;
    const auto word = std::as_writable_bytes(std::span(&theirs, 1));
    return memory::ReadPeer(next.pid, next.probe, word) == memory::Access::kDone;
  }

  // Everybody tells who is the first of those that it shares memory with.
  int FindNodes() {
    const std::int32_t own = ranks_[0];
    std::vector<std::int32_t> firsts(static_cast<std::size_t>(comm_->size));
    collective::Invocation all;
    all.operation = collective::Operation::kAllgather;
    all.comm = comm_;
    all.input = &own;
    all.output = firsts.data();
    all.input_count = all.output_count = 1;
    all.input_type = all.output_type = datatype::FindDatatype(MPI_INT32_T);
    const int error = collective::Run(all);
    for (Rank rank = 0; rank < comm_->size; ++rank)
      if (rank != own && firsts[static_cast<std::size_t>(rank)] == rank) elsewhere_.push_back(rank);
    return error;
  }

  void Furnish(const Consent& consent, bool several) {
    Window& window = *window_;
    const bool mapped = Allocates(wish_.flavor) && params_.path == "auto";
    bool serves = several;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      Near near{ranks_[i], kMapped, nullptr};
      const MemberRecord& record = window.block_->member(i);
      const bool is_self = i == self_;
      if (record.shared_offset >= 0) near.memory = window.memory_ + record.shared_offset;
      if (is_self && !Allocates(wish_.flavor)) near.memory = static_cast<std::byte*>(wish_.base);
      // Without a byte of memory the members' bases still have to lie between their neighbours'.
      if (Allocates(wish_.flavor) && near.memory == nullptr)
        near.memory = reinterpret_cast<std::byte*>(&window.block_->header());
      if (!is_self && !mapped) near.path = consent.cannot_copy == 0 ? kCopied : kFramed;
      serves = serves || near.path == kFramed;
      window.near_.push_back(near);
    }
    window.self_ = self_;
    window.locks_ = std::make_unique<Locks>(window.block_.get(), ranks_, self_, &window.messages_,
                                            &window.origin_, elsewhere_);
    if (!serves) return;
    if (!IsDynamic()) window.origin_.UseDevice();
    const MemberRecord& own = window.block_->member(self_);
    Served served{window.near_[self_].memory, own.size, own.disp_unit, nullptr};
    if (IsDynamic()) served.attached = &window.block_->attached(self_);
    served.is_ours = Allocates(wish_.flavor);
    window.service_ = std::make_unique<Service>(&window.messages_, window.locks_.get(),
                                                window.block_.get(), self_, served);
    window.locks_->Serve(window.service_.get());
    window.has_agent_ = !wish_.hints.no_locks && params_.agent == "auto";
    if (window.has_agent_) ServeWindow();
  }

  // The other members read this word to find out whether they can.
  static inline std::uint64_t probe_ = 0;

  core::Comm* const comm_;
  const Wish& wish_;
  std::unique_ptr<Window> window_;
  std::vector<Rank> ranks_;      // on this node
  std::size_t self_ = 0;         // among them
  std::vector<Rank> elsewhere_;  // one member of each other node
  Params params_;
  std::vector<Introduction> members_;
  std::vector<memory::Sealed> held_;  // until everybody has opened them
};

int Window::Create(core::Comm* over, const Wish& wish, core::Win** made, std::string* why) {
  ContextId context{};
  if (const int error = p2p::AgreeContext(over, &context); error != MPI_SUCCESS) {
    *why = "the processes could not agree on a context for the window";
    return error;
  }
  core::Comm* const comm = agreement::Make(over->group, context, over);
  int error = MPI_SUCCESS;
  std::unique_ptr<Window> window;
  {
    Creation creation(comm, wish);
    error = creation.Run(why);
    if (error == MPI_SUCCESS) window = creation.Take();
  }
  if (error != MPI_SUCCESS) {
    if (why->empty())
      *why = Format("the members could not meet to make the window: %s", core::ClassText(error));
    static_cast<void>(core::Release(comm));
    return error;
  }
  core::Win* const win = core::MakeWin(comm);
  win->flavor = wish.flavor;
  win->size = wish.size;
  win->disp_unit = wish.disp_unit;
  win->narrow_disp_unit =
      wish.disp_unit <= INT_MAX ? static_cast<int>(wish.disp_unit) : MPI_UNDEFINED;
  win->base = window->near_[window->self_].memory;
  win->window = window.release();
  *made = win;
  return MPI_SUCCESS;
}

int Window::Free(core::Win* win, Rank* gone) {
  Window* const window = win->window;
  int error = window->origin_.FlushAll();
  const int met = window->comm_->size > 1 ? window->Meet() : static_cast<int>(MPI_SUCCESS);
  if (error == MPI_SUCCESS) error = met;
  *gone = error == MPI_ERR_PROC_ABORTED ? window->FindGone(-1) : -1;
  // Nobody accesses it any more. Where they have not met, some may still do so.
  if (met == MPI_SUCCESS)
    for (const Shared& part : window->shared_) part.memory.Erase(0, part.bytes);
  if (window->has_agent_) ForgetWindow();
  delete window;
  core::FreeWin(win);
  return error;
}

}  // namespace lamina::rma
