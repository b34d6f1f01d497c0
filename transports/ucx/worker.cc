// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ucx/worker.h"

#include <poll.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "runtime/base/log.h"
#include "runtime/base/text.h"
#include "transports/ucx/devices.h"
#include "transports/ucx/segments.h"
#include "transports/ucx/tuning.h"

namespace lamina::ucx {

namespace {

constexpr unsigned kMessageId = 0x4c;

// Adds to a status of UCX the line that it logged, because that names the device.
std::string Explain(const char* status) {
  const std::string line = TakeLastError();
  return line.empty() ? status : Format("%s (%s)", status, line.c_str());
}

std::string Listed(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ",") + name;
  return list;
}

// A value for UCX_NET_DEVICES; empty: UCX may use all devices. From version 1.16 on UCX leaves such
// bridges out itself.
std::string AllButInnerBridges() {
  std::vector<std::string> names;
  for (const AddressedDevice& device : AddressedDevices())
    if (names.empty() || names.back() != device.name) names.push_back(device.name);
  const Devices devices = FindDevices(names, "/sys/class");
  if (devices.inner_bridges.empty() || devices.usable.empty()) return "";
  Log(Level::kDebug, "ucx", "%s is left out: a bridge of this node's containers or machines",
      Listed(devices.inner_bridges).c_str());
  return Listed(devices.usable);
}

Result<std::string> DevicesFor(const Params& params) {
  if (!params.net_devices.empty()) return params.net_devices;
  if (params.network.empty()) return AllButInnerBridges();
  Result<std::vector<std::string>> devices = DevicesIn(params.network, AddressedDevices());
  if (!devices.ok()) return std::move(devices).status().Within("transport.ucx.network");
  return Listed(*devices);
}

}  // namespace

std::string DeviceWords(const Params& params) {
  const Result<std::string> chosen = DevicesFor(params);
  if (!chosen.ok()) return std::string(chosen.status().message());
  std::string words;
  const auto add = [&words](const std::string& word) {
    words += (words.empty() ? "" : ", ") + word;
  };
  if (chosen->empty()) {
    for (const AddressedDevice& device : AddressedDevices())
      add(device.name + " " + device.address);
    return words;
  }
  for (const std::string_view name : Split(*chosen, ',')) {
    bool addressed = false;
    for (const AddressedDevice& device : AddressedDevices())
      if (device.name == name) {
        add(device.name + " " + device.address);
        addressed = true;
      }
    if (!addressed) add(std::string(name));  // a port of an adapter
  }
  return words;
}

namespace {

Status UcxError(const Library& library, Code code, ucs_status_t status, const char* call) {
  return Error(code, "%s: %s", call, Explain(library.ucs_status_string(status)).c_str());
}

}  // namespace

Result<std::unique_ptr<Worker>> Worker::Start(const Params& params,
                                              const transport::Context& context) {
  auto library = Load();
  if (!library.ok()) return std::move(library).status();
  std::unique_ptr<Worker> worker(new Worker(**library, params, context));
  if (Status status = worker->Open(context); !status.ok()) return status;
  return worker;
}

Worker::Worker(const Library& library, const Params& params, const transport::Context& context)
    : library_(library),
      params_(params),
      self_(context.self),
      inbox_(context.inbox),
      small_(kSmallBytes, params.sends_max),
      large_(params.short_bytes_max, params.large_sends_max) {}

Status Worker::Configure(const Library& library, const Params& params,
                         const transport::Context& context, ucp_config_t* config) {
  const auto set = [&](const char* name, const std::string& value) -> Status {
    if (value.empty() || context.environment->Get(std::string("UCX_") + name)) return {};
    const ucs_status_t status = library.ucp_config_modify(config, name, value.c_str());
    if (status == UCS_OK) return {};
    return Error(Code::kInvalid, "UCX refuses %s %s: %s", name, value.c_str(),
                 library.ucs_status_string(status));
  };
  Status status = set("TLS", params.tls);
  if (!status.ok()) return status;
  Result<std::string> devices = DevicesFor(params);
  if (!devices.ok()) return std::move(devices).status();
  status = set("NET_DEVICES", *devices);
  // A receiver must have room for a whole segment, so both are set or neither. (ucp_config_modify
  // knows them without the TCP_ in front; no other device of UCX has such names.)
  if (status.ok() && !context.environment->Get("UCX_TCP_RX_SEG_SIZE") &&
      !context.environment->Get("UCX_TCP_TX_SEG_SIZE")) {
    status =
        set("RX_SEG_SIZE", std::to_string(ReceiveBytes(params, context.job_ranks,
                                                       context.local_ranks, CongestionControl())));
    if (status.ok()) status = set("TX_SEG_SIZE", std::to_string(params.tcp_segment_bytes));
  }
  // Frames to one peer must arrive in order, so they take one rail.
  if (status.ok()) status = set("MAX_EAGER_RAILS", "1");
  // Drained() asks whether everything has left, and not whether the peers have read it: see
  // README.md.
  if (status.ok()) status = set("FLUSH_WORKER_EPS", "n");
  return status;
}

Status Worker::Open(const transport::Context& context) {
  if (getrandom(&secret_, sizeof secret_, 0) != sizeof secret_)
    return SystemError(Code::kResource, errno, "getrandom");
  ucp_config_t* config = nullptr;
  ucs_status_t status = library_.ucp_config_read(nullptr, nullptr, &config);
  if (status != UCS_OK) return UcxError(library_, Code::kUnsupported, status, "ucp_config_read");
  Status configured = Configure(library_, params_, context, config);
  ucp_params_t wanted{};
  wanted.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
  wanted.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  wanted.estimated_num_eps = context.job_ranks;
  if (configured.ok())
    status = library_.ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &wanted, config, &context_);
  library_.ucp_config_release(config);
  if (!configured.ok()) return configured;
  if (status != UCS_OK) {
    context_ = nullptr;
    return UcxError(library_, Code::kUnsupported, status, "ucp_init");
  }

  ucp_worker_params_t worker{};
  worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  worker.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  status = library_.ucp_worker_create(context_, &worker, &worker_);
  if (status != UCS_OK) {
    worker_ = nullptr;
    return UcxError(library_, Code::kUnsupported, status, "ucp_worker_create");
  }
  status = library_.ucp_worker_get_efd(worker_, &descriptor_);
  if (status != UCS_OK) return UcxError(library_, Code::kUnsupported, status, "ucp_worker_get_efd");
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                       UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = kMessageId;
  handler.cb = OnMessage;
  handler.arg = this;
  status = library_.ucp_worker_set_am_recv_handler(worker_, &handler);
  if (status != UCS_OK)
    return UcxError(library_, Code::kUnsupported, status, "ucp_worker_set_am_recv_handler");
  return {};
}

// A rendezvous that the peer has begun. It deletes itself at its end.
class Worker::Rendezvous final : public transport::Parcel {
 public:
  Rendezvous(Worker* worker, void* descriptor, bool* ended)
      : worker_(worker), descriptor_(descriptor), ended_(ended) {}

  void Accept(std::span<std::byte> into, transport::Completion* done) override {
    into_ = into;
    done_ = done;
    const bool has_waited = ended_ == nullptr;
    if (worker_->SendsToo() && has_waited) return worker_->PutOff(this);
    if (const auto ended = Begin()) End(*ended);
  }
  // Asks for the data. Returns how it ended if UCX was done at once.
  std::optional<Code> Begin() {
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.cb.recv_am = OnFetched;
    param.user_data = this;
    void* const request = worker_->library_.ucp_am_recv_data_nbx(
        worker_->worker_, descriptor_, into_.data(), into_.size(), &param);
    if (request == nullptr) return Code::kOk;
    if (UCS_PTR_IS_ERR(request)) return Code::kPeerLost;
    return std::nullopt;
  }
  void Drop() override {
    if (ended_ == nullptr) worker_->library_.ucp_am_data_release(worker_->worker_, descriptor_);
    End(Code::kOk);
  }
  void End(Code code) {
    if (ended_ != nullptr) *ended_ = true;
    ++worker_->handled_;
    transport::Completion* const done = worker_->ending_ ? nullptr : done_;
    delete this;
    if (done != nullptr) done->done(done, code);
  }
  // Called when UCX's callback is over; from now on UCX keeps the descriptor for this object.
  void Keep() { ended_ = nullptr; }

 private:
  static void OnFetched(void* request, ucs_status_t status, std::size_t, void* self) {
    auto* const rendezvous = static_cast<Rendezvous*>(self);
    rendezvous->worker_->library_.ucp_request_free(request);
    rendezvous->End(status == UCS_OK ? Code::kOk : Code::kPeerLost);
  }

  Worker* const worker_;
  void* const descriptor_;
  bool* ended_;  // set at the end; null once UCX's callback is over
  std::span<std::byte> into_;
  transport::Completion* done_ = nullptr;
};

Worker::~Worker() {
  ending_ = true;
  for (Rendezvous* const fetch : fetches_) fetch->Drop();
  for (const auto& [fetch, code] : fetched_) fetch->End(code);
  const auto deadline = std::chrono::steady_clock::now() + kCloseTimeout;
  // This progresses only while something is still to be sent; lines that were closed end with the
  // worker. UCX 1.13 fails an assertion of its own if it is progressed further while its peers end.
  const auto sends = [](const auto& line) { return line->handle != nullptr; };
  while (std::any_of(lines_.begin(), lines_.end(), sends)) {
    library_.ucp_worker_progress(worker_);
    ProgressClosing(std::chrono::steady_clock::now() > deadline);
    if (library_.ucp_worker_arm(worker_) != UCS_OK) continue;
    pollfd waiting{descriptor_, POLLIN, 0};
    poll(&waiting, 1, 10);
  }
  for (const std::unique_ptr<Line>& line : lines_)
    if (line->closing != nullptr) library_.ucp_request_free(line->closing);
  if (flush_ != nullptr) library_.ucp_request_free(flush_);
  if (worker_ != nullptr) library_.ucp_worker_destroy(worker_);
  if (context_ != nullptr) library_.ucp_cleanup(context_);
}

Result<std::vector<std::byte>> Worker::LocalAddress() {
  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  const ucs_status_t status = library_.ucp_worker_get_address(worker_, &address, &bytes);
  if (status != UCS_OK)
    return UcxError(library_, Code::kUnsupported, status, "ucp_worker_get_address");
  const auto* begin = reinterpret_cast<const std::byte*>(address);
  std::vector<std::byte> copy(begin, begin + bytes);
  library_.ucp_worker_release_address(worker_, address);
  return copy;
}

std::uint32_t Worker::Progress(std::uint32_t events_max) {
  if (in_progress_) return 0;  // the Inbox called this from inside
  in_progress_ = true;
  const std::uint64_t before = handled_;
  if (!fetches_.empty() || !fetched_.empty()) [[unlikely]] {
    BeginFetches();
    for (const auto& [fetch, code] : std::exchange(fetched_, {})) fetch->End(code);
  }
  std::uint32_t rounds = 0;
  // It stops at the first frame, because one more look is a system call for which the receiver of
  // that frame would wait.
  while (rounds < events_max && handled_ == before) {
    if (library_.ucp_worker_progress(worker_) == 0) break;
    ++rounds;
  }
  if (abandoned_ > 0) ProgressClosing(false);
  in_progress_ = false;
  if (put_off_) [[unlikely]]
    BeginAll();
  const std::uint32_t lost = losses_.empty() ? 0 : ReportLosses();
  return std::max(rounds, static_cast<std::uint32_t>(handled_ - before)) + lost;
}

Code Worker::Arm() {
  if (!losses_.empty()) return Code::kAgain;
  return library_.ucp_worker_arm(worker_) == UCS_OK ? Code::kOk : Code::kAgain;
}

bool Worker::Drained() {
  if (under_way_ > 0) return false;
  if (flush_ == nullptr) {
    if (!dirty_) return true;
    dirty_ = false;
    ucp_request_param_t param{};
    void* const request = library_.ucp_worker_flush_nbx(worker_, &param);
    if (request == nullptr || UCS_PTR_IS_ERR(request)) return true;
    flush_ = request;
  }
  if (!Finished(flush_)) return false;
  flush_ = nullptr;
  return !dirty_;
}

// Frees `request` if it has ended.
bool Worker::Finished(void* request) {
  if (library_.ucp_request_check_status(request) == UCS_INPROGRESS) return false;
  library_.ucp_request_free(request);
  return true;
}

bool Worker::SendAtOnce(const Line& line, const transport::Frame& frame) {
  const WireHeader wire{line.secret, self_, frame.header};
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL;
  param.flags = UCP_AM_SEND_FLAG_EAGER;
  if (library_.ucp_am_send_nbx(line.handle, kMessageId, &wire, sizeof wire, frame.payload.data(),
                               frame.payload.size(), &param) != nullptr)
    return false;
  dirty_ = true;
  return true;
}

Code Worker::Send(Line& line, Slot* slot, const transport::Header& header,
                  std::span<const std::byte> payload, std::uint32_t flags) {
  slot->wire = {line.secret, self_, header};
  slot->worker = this;
  ucp_request_param_t param{};
  param.op_attr_mask =
      UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  param.cb.send = OnSent;
  param.user_data = slot;
  param.flags = flags;
  dirty_ = true;
  ++under_way_;
  void* const request =
      library_.ucp_am_send_nbx(line.handle, kMessageId, &slot->wire, sizeof slot->wire,
                               payload.data(), payload.size(), &param);
  if (!UCS_PTR_IS_ERR(request)) {
    if (request == nullptr) Sent(slot, UCS_OK);
    if (flags == UCP_AM_SEND_FLAG_RNDV) {
      sends_too_ = kSendsToo;
      BeginFetches();
    }
    return Code::kOk;
  }
  --under_way_;
  slot->pool->Give(slot);
  const ucs_status_t status = UCS_PTR_STATUS(request);
  if (status == UCS_ERR_NO_RESOURCE || status == UCS_ERR_NO_MEMORY) return Code::kAgain;
  Lose(line, library_.ucs_status_string(status));
  return Code::kPeerLost;
}

void Worker::OnSent(void* request, ucs_status_t status, void* slot) {
  Worker* const self = static_cast<Slot*>(slot)->worker;
  self->Sent(static_cast<Slot*>(slot), status);
  self->library_.ucp_request_free(request);
}

void Worker::Sent(Slot* slot, ucs_status_t status) {
  --under_way_;
  transport::Completion* const done = std::exchange(slot->done, nullptr);
  slot->pool->Give(slot);
  if (done != nullptr && !ending_) done->done(done, status == UCS_OK ? Code::kOk : Code::kPeerLost);
}

ucs_status_t Worker::OnMessage(void* self, const void* header, std::size_t header_bytes, void* data,
                               std::size_t bytes, const ucp_am_recv_param_t* param) {
  WireHeader wire;
  auto* const worker = static_cast<Worker*>(self);
  if (header_bytes == sizeof wire) std::memcpy(&wire, header, sizeof wire);
  if (header_bytes != sizeof wire || wire.secret != worker->secret_) [[unlikely]] {
    worker->SayStranger();
    return UCS_OK;  // the frame is dropped
  }
  return worker->Receive(wire, data, bytes, param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV);
}

// Said once, because a stranger may send any number of frames.
void Worker::SayStranger() {
  if (std::exchange(said_stranger_, true)) return;
  Log(Level::kWarn, "ucx",
      "a frame of somebody who is not in this job has arrived and is dropped, as others will be; "
      "transport.ucx.network chooses a network that strangers do not reach");
}

bool Worker::SendsToo() {
  if (sends_too_ == 0) return false;
  --sends_too_;
  return true;
}

void Worker::PutOff(Rendezvous* fetch) {
  fetches_.push_back(fetch);
  Signal();  // so that a sleeper begins it
}

void Worker::BeginFetches() {
  for (Rendezvous* const fetch : std::exchange(fetches_, {}))
    if (const auto ended = fetch->Begin()) fetched_.emplace_back(fetch, *ended);
}

ucs_status_t Worker::Receive(const WireHeader& wire, void* data, std::size_t bytes,
                             bool rendezvous) {
  ++handled_;
  if (ending_) return UCS_OK;  // it is dropped
  const PeerId peer = PeerOf(wire.sender);
  if (!rendezvous) {
    inbox_->Arrived(peer, wire.header, {static_cast<const std::byte*>(data), bytes});
    return UCS_OK;
  }
  bool ended = false;
  auto* const parcel = new Rendezvous(this, data, &ended);
  inbox_->Offered(peer, wire.header, bytes, parcel);
  if (ended) return UCS_OK;
  parcel->Keep();
  return UCS_INPROGRESS;
}

PeerId Worker::PeerOf(transport::ProcessName name) {
  if (name == last_name_ && last_peer_ != kNoPeer) return last_peer_;
  const auto [place, is_new] = peers_.try_emplace(static_cast<std::uint64_t>(name), kNoPeer);
  if (is_new) place->second = inbox_->Identify(name);
  last_name_ = name;
  last_peer_ = place->second;
  return last_peer_;
}

std::uint32_t Worker::ReportLosses() {
  std::uint32_t reported = 0;
  for (const Loss& loss : std::exchange(losses_, {})) {
    if (std::find(lost_.begin(), lost_.end(), loss.peer) != lost_.end()) continue;
    lost_.push_back(loss.peer);
    ++reported;
    inbox_->Lost(loss.peer, Status(Code::kPeerLost, loss.why));
  }
  return reported;
}

Result<Line*> Worker::OpenLine(PeerId peer, const Address& remote) {
  auto line = std::make_unique<Line>(Line{this, peer, remote.node, remote.secret});
  line->address = remote.worker;
  if (in_progress_)
    put_off_ = true;
  else if (Status status = Begin(*line); !status.ok())
    return status;
  lines_.push_back(std::move(line));
  return lines_.back().get();
}

Status Worker::Begin(Line& line) {
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(line.address.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler = {OnError, &line};
  ucs_status_t status = library_.ucp_ep_create(worker_, &params, &line.handle);
  if (status == UCS_ERR_UNREACHABLE) {
    // No device notices a peer's end, as between processes of one node; so it is made without that.
    params.err_mode = UCP_ERR_HANDLING_MODE_NONE;
    status = library_.ucp_ep_create(worker_, &params, &line.handle);
  }
  if (status != UCS_OK) {
    line.handle = nullptr;
    return Error(Code::kUnsupported, "ucp_ep_create to a process on %s: %s", line.node.c_str(),
                 Explain(library_.ucs_status_string(status)).c_str());
  }
  line.address = {};
  ucp_request_param_t flush{};
  line.connecting = library_.ucp_ep_flush_nbx(line.handle, &flush);
  if (UCS_PTR_IS_ERR(line.connecting)) line.connecting = nullptr;
  line.connecting_until =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(params_.connect_ms);
  return {};
}

// Begins the connections that were put off while UCX called this worker.
void Worker::BeginAll() {
  put_off_ = false;
  for (const std::unique_ptr<Line>& line : lines_) {
    if (line->handle != nullptr || line->lost || line->abandoned) continue;
    if (Status status = Begin(*line); !status.ok()) {
      line->lost = true;
      losses_.push_back({line->peer, std::string(status.message())});
    }
  }
}

bool Worker::HasComeUp(Line& line) {
  if (line.handle == nullptr) return false;
  if (Finished(line.connecting)) {
    line.connecting = nullptr;
    return true;
  }
  // The peer may be computing. Then UCX keeps what is sent until both sides progress.
  if (std::chrono::steady_clock::now() < line.connecting_until) return false;
  library_.ucp_request_free(std::exchange(line.connecting, nullptr));
  return true;
}

void Worker::OnError(void* line, ucp_ep_h, ucs_status_t status) {
  auto& lost = *static_cast<Line*>(line);
  lost.worker->Lose(lost, lost.worker->library_.ucs_status_string(status));
}

void Worker::Lose(Line& line, const char* why) {
  if (std::exchange(line.lost, true) || line.abandoned) return;
  losses_.push_back({line.peer, Format("connection to a process on %s: %s", line.node.c_str(),
                                       Explain(why).c_str())});
}

void Worker::Abandon(Line* line) {
  line->abandoned = true;
  ++abandoned_;
  if (line->connecting != nullptr)
    library_.ucp_request_free(std::exchange(line->connecting, nullptr));
  ucp_request_param_t param{};
  if (line->handle == nullptr) return ProgressClosing(false);  // never begun
  if (!line->lost) line->closing = library_.ucp_ep_flush_nbx(line->handle, &param);
  if (line->closing == nullptr || UCS_PTR_IS_ERR(line->closing)) Close(*line);
  if (line->closing == nullptr) ProgressClosing(false);
}

// Closes without waiting for the peer. A flush under way ends with it.
void Worker::Close(Line& line) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = UCP_EP_CLOSE_FLAG_FORCE;
  line.closing = library_.ucp_ep_close_nbx(std::exchange(line.handle, nullptr), &param);
  if (UCS_PTR_IS_ERR(line.closing)) line.closing = nullptr;
}

// `at_once`: closes lines that still have something to send as well.
void Worker::ProgressClosing(bool at_once) {
  std::erase_if(lines_, [&](const std::unique_ptr<Line>& line) {
    if (!line->abandoned) return false;
    const bool flushing = line->handle != nullptr;
    if (flushing && at_once) {
      library_.ucp_request_free(line->closing);
      Close(*line);
    } else if (line->closing != nullptr && Finished(line->closing)) {
      line->closing = nullptr;
      if (flushing) Close(*line);
    }
    if (line->closing != nullptr) return false;
    --abandoned_;
    return true;
  });
}

}  // namespace lamina::ucx
