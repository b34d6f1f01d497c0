// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ucx/ucx_transport.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/base/anonymous_file.h"
#include "transports/ucx/address.h"
#include "transports/ucx/one_sided.h"
#include "transports/ucx/params.h"
#include "transports/ucx/tuning.h"
#include "transports/ucx/worker.h"

namespace lamina::ucx {

namespace {

// What reaches memory of peers, made when somebody first asks for it.
class OneSidedOwner {
 public:
  OneSidedOwner(const Params& params, const transport::Context& context)
      : params_(params), context_(context) {}
  [[gnu::cold]] transport::OneSided* one_sided() {
    if (!worker_ && WantsOneSided(params_)) worker_ = OneSidedWorker::Make(params_, context_);
    return worker_.get();
  }
  // Null: nobody has asked.
  OneSidedWorker* worker() const { return worker_.get(); }

 private:
  const Params& params_;
  const transport::Context& context_;
  std::unique_ptr<OneSidedWorker> worker_;
};

class UcxEndpoint final : public transport::Endpoint {
 public:
  UcxEndpoint(Worker* worker, Line* line, OneSidedOwner* memory)
      : worker_(worker), line_(line), memory_(memory) {}
  ~UcxEndpoint() override { worker_->Abandon(line_); }

  transport::EndpointCaps caps() const override {
    transport::EndpointCaps caps;
    caps.short_bytes_max = caps.eager_bytes_max = worker_->params().short_bytes_max;
    caps.zero_copy_bytes_max = std::uint64_t{1} << 30;
    return caps;
  }

  Code SendShort(const transport::Frame& frame) override {
    if (line_->lost) return Code::kPeerLost;
    if (!worker_->IsUp(*line_)) [[unlikely]]
      return Code::kAgain;
    const std::size_t bytes = frame.payload.size();
    if (bytes > worker_->params().short_bytes_max) return Code::kInvalid;
    if (worker_->SendAtOnce(*line_, frame)) return Code::kOk;
    Slot* const slot = (bytes <= kSmallBytes ? worker_->small() : worker_->large()).Take();
    if (slot == nullptr) return Code::kAgain;
    if (bytes > 0) std::memcpy(slot->payload, frame.payload.data(), bytes);
    return worker_->Send(*line_, slot, frame.header, {slot->payload, bytes},
                         UCP_AM_SEND_FLAG_EAGER);
  }

  Code SendZeroCopy(const transport::Frame& frame, transport::Completion* done) override {
    if (line_->lost) return Code::kPeerLost;
    if (!worker_->IsUp(*line_)) return Code::kAgain;
    Slot* const slot = worker_->small().Take();
    if (slot == nullptr) return Code::kAgain;
    slot->done = done;
    return worker_->Send(*line_, slot, frame.header, frame.payload, UCP_AM_SEND_FLAG_RNDV);
  }

  Code Get(const transport::Region&, std::uint64_t, std::span<std::byte>,
           transport::Completion*) override {
    return Code::kUnsupported;  // caps() says so
  }
  transport::OneSided* one_sided() override { return memory_->one_sided(); }

 private:
  Worker* const worker_;
  Line* const line_;
  OneSidedOwner* const memory_;
};

// Starts UCX when it is first asked for its address or for a peer; until then it costs nothing.
class UcxTransport final : public transport::Transport {
 public:
  UcxTransport(const Params& params, const transport::Context& context)
      : params_(params), context_(context), memory_(params_, context_) {}
  ~UcxTransport() override {
    if (event_ >= 0) close(event_);
    if (both_ >= 0) close(both_);
  }

  Result<std::vector<std::byte>> LocalAddress() override {
    if (Status status = Start(); !status.ok()) return status;
    auto worker = worker_->LocalAddress();
    if (!worker.ok()) return std::move(worker).status();
    return Encode({context_.node, *std::move(worker), worker_->secret()});
  }

  Result<std::unique_ptr<transport::Endpoint>> Connect(PeerId peer,
                                                       std::span<const std::byte> remote) override {
    auto address = DecodeAddress(remote);
    if (!address.ok()) return std::move(address).status();
    if (Status status = Start(); !status.ok()) return status;
    auto line = worker_->OpenLine(peer, *address);
    if (!line.ok()) return std::move(line).status();
    return std::unique_ptr<transport::Endpoint>(
        std::make_unique<UcxEndpoint>(worker_.get(), *line, &memory_));
  }

  std::uint32_t Progress(std::uint32_t events_max) override {
    const std::uint32_t handled = worker_ ? worker_->Progress(events_max) : 0;
    OneSidedWorker* const memory = memory_.worker();
    return memory == nullptr ? handled : handled + memory->Progress();
  }

  Code Arm(bool, transport::Bell* bell) override {
    if (!worker_ && event_ < 0) event_ = OutOfTheWay(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    armed_.store(true);
    Code code = worker_ ? worker_->Arm() : event_ >= 0 ? Code::kOk : Code::kAgain;
    const bool has_memory = memory_.worker() != nullptr && memory_.worker()->descriptor() >= 0;
    if (has_memory && code == Code::kOk) code = memory_.worker()->Arm();
    if (code != Code::kOk)
      armed_.store(false);
    else
      bell->descriptor = has_memory ? BothDescriptors() : worker_ ? worker_->descriptor() : event_;
    return code;
  }
  void Disarm() override {
    armed_.store(false);
    std::uint64_t count;
    while (event_ >= 0 && read(event_, &count, sizeof count) > 0) continue;
  }
  void Wake() override {
    if (!armed_.exchange(false)) return;
    if (worker_) return worker_->Signal();
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(event_, &one, sizeof one);
  }
  bool Drained() override { return !worker_ || worker_->Drained(); }

 private:
  Status Start() {
    if (worker_) return {};
    auto worker = Worker::Start(params_, context_);
    if (!worker.ok()) return std::move(worker).status();
    worker_ = *std::move(worker);
    return {};
  }

  // Readable when one of the two workers has something. It stays the same, because neither ends
  // before this.
  [[gnu::cold]] int BothDescriptors() {
    if (both_ >= 0) return both_;
    both_ = OutOfTheWay(epoll_create1(EPOLL_CLOEXEC));
    for (const int each : {worker_->descriptor(), memory_.worker()->descriptor()}) {
      epoll_event wanted{};
      wanted.events = EPOLLIN;
      epoll_ctl(both_, EPOLL_CTL_ADD, each, &wanted);
    }
    return both_;
  }

  const Params params_;
  const transport::Context context_;
  OneSidedOwner memory_;
  std::unique_ptr<Worker> worker_;
  std::atomic<bool> armed_{false};
  int event_ = -1;  // to sleep on until UCX runs
  int both_ = -1;   // to sleep on once memory of peers is reached too
};

component::Offer Query(const transport::Context&) {
  return {50, "UCX (libucp.so.0), loaded when a process on another node is to be reached"};
}

Result<std::unique_ptr<transport::Transport>> Make(const transport::Context& context) {
  Params params;
  if (Status status = param::Load(*context.settings, kFields, &params); !status.ok()) return status;
  return std::unique_ptr<transport::Transport>(std::make_unique<UcxTransport>(params, context));
}

Status Check(const param::Settings& settings) {
  Params params;
  return param::Load(settings, kFields, &params);
}

std::vector<param::Row> Rows(const param::Settings& settings) {
  return param::Rows<Params>(settings, kFields);
}

}  // namespace

std::string DescribeDevices(const param::Settings& settings) {
  Params params;
  if (Status status = param::Load(settings, kFields, &params); !status.ok())
    return std::string(status.message());
  return DeviceWords(params);
}

std::string DescribeOneSided(const param::Settings& settings) {
  Params params;
  if (Status status = param::Load(settings, kFields, &params); !status.ok())
    return std::string(status.message());
  return std::string("windows put and get ") + ExplainOneSided(params);
}

transport::Component Describe() {
  return {{"ucx", "1.0.0", "built in"},      Query, Make, Rows, Check,
          {transport::Reach::kNetwork, true}};
}

}  // namespace lamina::ucx
