// SPDX-License-Identifier: BSD-3-Clause
#include "transports/self/self_transport.h"

#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <optional>

#include "runtime/base/anonymous_file.h"
#include "transports/self/frame_queue.h"
#include "transports/self/params.h"

namespace lamina::self {

namespace {

// The token is random and tells this transport from any other.
struct AddressBytes {
  std::array<char, 4> magic = {'L', 'S', 'L', 'F'};
  std::uint16_t version = 1;
  std::uint16_t bytes = 24;
  std::uint64_t token[2] = {};
};
static_assert(sizeof(AddressBytes) == 24);

class SelfTransport final : public transport::Transport {
 public:
  SelfTransport(const Params& params, transport::Inbox* inbox, const AddressBytes& address)
      : params_(params), inbox_(inbox), address_(address) {}
  ~SelfTransport() override {
    if (event_ >= 0) close(event_);
  }

  Result<std::vector<std::byte>> LocalAddress() override {
    const auto bytes = std::as_bytes(std::span(&address_, 1));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  }
  Result<std::unique_ptr<transport::Endpoint>> Connect(PeerId peer,
                                                       std::span<const std::byte> remote) override;

  std::uint32_t Progress(std::uint32_t events_max) override {
    if (!queue_ || in_progress_) return 0;
    in_progress_ = true;
    std::uint32_t handled = 0;
    for (; handled < events_max && !queue_->empty(); ++handled)
      queue_->Pop([this](const transport::Header& header, std::span<const std::byte> payload) {
        inbox_->Arrived(peer_, header, payload);
      });
    in_progress_ = false;
    return handled;
  }

  Code Arm(bool need_descriptor, transport::Bell* bell) override {
    if (!Drained()) return Code::kAgain;
    if (need_descriptor && event_ < 0) event_ = OutOfTheWay(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (need_descriptor && event_ < 0) return Code::kAgain;
    bell->word = &word_;
    bell->value = word_.load();
    bell->descriptor = need_descriptor ? event_ : -1;
    armed_.store(need_descriptor ? kOnDescriptor : kOnWord);
    return Code::kOk;
  }
  void Disarm() override {
    armed_.store(kAwake);
    std::uint64_t count;
    while (event_ >= 0 && read(event_, &count, sizeof count) > 0) continue;
  }
  void Wake() override {
    const std::uint32_t how = armed_.exchange(kAwake);
    if (how == kAwake) return;
    word_.fetch_add(1);
    const std::uint64_t one = 1;
    if (how == kOnWord)
      syscall(SYS_futex, &word_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    else [[maybe_unused]]
      const ssize_t written = write(event_, &one, sizeof one);
  }
  bool Drained() override { return !queue_ || queue_->empty(); }

  const Params& params() const { return params_; }
  bool Push(const transport::Frame& frame) { return queue_->Push(frame); }

 private:
  enum Armed : std::uint32_t { kAwake, kOnWord, kOnDescriptor };

  const Params params_;
  transport::Inbox* const inbox_;
  const AddressBytes address_;
  PeerId peer_ = kNoPeer;
  bool in_progress_ = false;
  std::optional<FrameQueue> queue_;  // made by Connect
  std::atomic<std::uint32_t> word_{0};
  std::atomic<std::uint32_t> armed_{kAwake};
  int event_ = -1;
};

class SelfEndpoint final : public transport::Endpoint {
 public:
  explicit SelfEndpoint(SelfTransport* transport) : transport_(transport) {}

  transport::EndpointCaps caps() const override {
    transport::EndpointCaps caps;
    caps.short_bytes_max = transport_->params().queue_bytes / 4;
    caps.eager_bytes_max = std::min(transport_->params().eager_bytes_max, caps.short_bytes_max);
    caps.get_bytes_max = UINT64_MAX;
    return caps;
  }
  Code SendShort(const transport::Frame& frame) override {
    return transport_->Push(frame) ? Code::kOk : Code::kAgain;
  }
  Code SendZeroCopy(const transport::Frame&, transport::Completion*) override {
    return Code::kUnsupported;  // caps() says so
  }
  Code Get(const transport::Region& from, std::uint64_t offset, std::span<std::byte> into,
           transport::Completion* done) override {
    if (offset > from.bytes || into.size() > from.bytes - offset) return Code::kInvalid;
    // The two regions may overlap.
    std::memmove(into.data(), reinterpret_cast<const std::byte*>(from.address + offset),
                 into.size());
    done->done(done, Code::kOk);
    return Code::kOk;
  }
  // Memory of this node is reached by loads and stores.
  transport::OneSided* one_sided() override { return nullptr; }

 private:
  SelfTransport* const transport_;
};

Result<std::unique_ptr<transport::Endpoint>> SelfTransport::Connect(
    PeerId peer, std::span<const std::byte> remote) {
  AddressBytes address;
  if (remote.size() != sizeof address)
    return Error(Code::kInvalid, "self address of %zu bytes, need %zu", remote.size(),
                 sizeof address);
  std::memcpy(&address, remote.data(), sizeof address);
  if (address.magic != address_.magic || address.version != address_.version ||
      address.bytes != address_.bytes)
    return Error(Code::kInvalid, "not a self address of version %u", address_.version);
  if (std::memcmp(address.token, address_.token, sizeof address.token) != 0)
    return Error(Code::kUnsupported, "it is another process");
  peer_ = peer;
  if (!queue_) queue_.emplace(params_.queue_bytes);
  return std::unique_ptr<transport::Endpoint>(std::make_unique<SelfEndpoint>(this));
}

component::Offer Query(const transport::Context&) { return {100, "from a process to itself"}; }

Result<std::unique_ptr<transport::Transport>> Make(const transport::Context& context) {
  Params params;
  if (Status status = param::Load(*context.settings, kFields, &params); !status.ok()) return status;
  AddressBytes address;
  if (getrandom(address.token, sizeof address.token, 0) != sizeof address.token)
    return SystemError(Code::kResource, errno, "getrandom");
  return std::unique_ptr<transport::Transport>(
      std::make_unique<SelfTransport>(params, context.inbox, address));
}

Status Check(const param::Settings& settings) {
  Params params;
  return param::Load(settings, kFields, &params);
}

std::vector<param::Row> Rows(const param::Settings& settings) {
  return param::Rows<Params>(settings, kFields);
}

}  // namespace

transport::Component Describe() {
  return {{"self", "1.0.0", "built in"},      Query, Make, Rows, Check,
          {transport::Reach::kProcess, false}};
}

}  // namespace lamina::self
