// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/exchange.h"

#include <utility>

namespace lamina::p2p {
namespace {

class ExchangeActivity final : public core::Activity {
 public:
  explicit ExchangeActivity(std::unique_ptr<std::byte[]> packed) : packed_(std::move(packed)) {}
  ~ExchangeActivity() override {
    if (receive_ != nullptr) core::FreeRequest(receive_);
    if (send_ != nullptr) core::FreeRequest(send_);
  }

  void Begin(Request* owner, const Exchange& exchange) {
    owner_ = owner;
    if (exchange.from.peer != MPI_PROC_NULL) {
      receive_ = core::NewRequest(exchange.from.comm);
      core::Hold(receive_, exchange.in.type);
      PrepareReceive(receive_, exchange.from, exchange.in);
      receive_->watcher = this;
      p2p::Start(receive_);
    }
    if (exchange.to.peer != MPI_PROC_NULL) {
      send_ = core::NewRequest(exchange.to.comm);
      core::Hold(send_, exchange.out.type);
      PrepareSend(send_, exchange.to, exchange.out, Request::Mode::kStandard);
      send_->watcher = this;
      p2p::Start(send_);
    }
    Advance();
  }

  void Advance() override {
    if (owner_->complete || !Ended(receive_) || !Ended(send_)) return;
    owner_->source = receive_ != nullptr ? receive_->source : MPI_PROC_NULL;
    owner_->tag = receive_ != nullptr ? receive_->tag : MPI_ANY_TAG;
    owner_->bytes = receive_ != nullptr ? receive_->bytes : 0;
    const int send_error = ErrorOf(send_);
    if (send_error != MPI_SUCCESS) owner_->source = send_->peer;
    core::Finish(owner_, send_error != MPI_SUCCESS ? send_error : ErrorOf(receive_));
  }

 private:
  static bool Ended(const Request* half) { return half == nullptr || half->complete; }
  static int ErrorOf(const Request* half) { return half == nullptr ? MPI_SUCCESS : half->error; }

  std::unique_ptr<std::byte[]> packed_;
  Request* owner_ = nullptr;
  Request* receive_ = nullptr;
  Request* send_ = nullptr;
};

}  // namespace

core::Request* StartExchange(Exchange exchange) {
  auto* activity = new ExchangeActivity(std::move(exchange.packed));
  Request* owner = core::NewRequest(exchange.from.comm);
  owner->type = Request::Type::kActivity;
  owner->activity = activity;
  owner->active = true;
  activity->Begin(owner, exchange);
  return owner;
}

}  // namespace lamina::p2p
