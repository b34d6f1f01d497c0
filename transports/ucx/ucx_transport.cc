// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ucx/ucx_transport.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/base/anonymous_file.h"
#include "transports/ucx/address.h"
#include "transports/ucx/params.h"
#include "transports/ucx/tuning.h"
#include "transports/ucx/worker.h"

namespace lamina::ucx {

namespace {

class UcxEndpoint final : public transport::Endpoint {
 public:
  UcxEndpoint(Worker* worker, Line* line) : worker_(worker), line_(line) {}
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

 private:
  Worker* const worker_;
  Line* const line_;
};

// Starts UCX when it is first asked for its address or for a peer; until then it costs nothing.
class UcxTransport final : public transport::Transport {
 public:
  UcxTransport(const Params& params, const transport::Context& context)
      : params_(params), context_(context) {}
  ~UcxTransport() override {
    if (event_ >= 0) close(event_);
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
        std::make_unique<UcxEndpoint>(worker_.get(), *line));
  }

  std::uint32_t Progress(std::uint32_t events_max) override {
    return worker_ ? worker_->Progress(events_max) : 0;
  }

  Code Arm(bool, transport::Bell* bell) override {
    if (!worker_ && event_ < 0) event_ = OutOfTheWay(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    armed_.store(true);
    const Code code = worker_ ? worker_->Arm() : event_ >= 0 ? Code::kOk : Code::kAgain;
    if (code != Code::kOk)
      armed_.store(false);
    else
      bell->descriptor = worker_ ? worker_->descriptor() : event_;
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

  const Params params_;
  const transport::Context context_;
  std::unique_ptr<Worker> worker_;
  std::atomic<bool> armed_{false};
  int event_ = -1;  // to sleep on until UCX runs
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

transport::Component Describe() {
  return {{"ucx", "1.0.0", "built in"},      Query, Make, Rows, Check,
          {transport::Reach::kNetwork, true}};
}

}  // namespace lamina::ucx
