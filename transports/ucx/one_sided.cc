// SPDX-License-Identifier: BSD-3-Clause
// A key is kMagic, the address and length of the memory, the lengths of the two that
// follow, the worker's address, and UCX's key of the memory. A peer that cannot take it does
// without.
#include "transports/ucx/one_sided.h"

#include <ucp/api/ucp.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "transports/ucx/devices.h"
#include "transports/ucx/library.h"
#include "transports/ucx/tuning.h"
#include "transports/ucx/worker.h"

namespace lamina::ucx {
namespace {

constexpr std::uint64_t kMagic = 0x79656b6564697331u;  // "1sidekey"

struct KeyHead {
  std::uint64_t magic = kMagic;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t worker_bytes = 0;
  std::uint32_t key_bytes = 0;
};

// One peer's endpoint, kept until the end: several windows use it.
struct Way {
  std::vector<std::byte> address;
  ucp_ep_h endpoint = nullptr;
  bool lost = false;
};

class Impl;

class UcxExposed final : public transport::Exposed {
 public:
  UcxExposed(Impl* owner, ucp_mem_h memory, std::vector<std::byte> key)
      : owner_(owner), memory_(memory), key_(std::move(key)) {}
  ~UcxExposed() override;
  std::span<const std::byte> key() const override { return key_; }

 private:
  Impl* const owner_;
  const ucp_mem_h memory_;
  const std::vector<std::byte> key_;
};

class UcxRemote final : public transport::Remote {
 public:
  UcxRemote(Impl* owner, Way* way, ucp_rkey_h key, std::uint64_t address, std::uint64_t bytes)
      : owner_(owner), way_(way), key_(key), address_(address), bytes_(bytes) {}
  ~UcxRemote() override;
  std::uint64_t bytes() const override { return bytes_; }
  Code Put(std::uint64_t offset, std::span<const std::byte> from,
           transport::Completion* done) override;
  Code Get(std::uint64_t offset, std::span<std::byte> into, transport::Completion* done) override;
  Code Flush(transport::Completion* done) override;

 private:
  bool Has(std::uint64_t offset, std::size_t bytes) const {
    return offset <= bytes_ && bytes <= bytes_ - offset;
  }

  Impl* const owner_;
  Way* const way_;
  const ucp_rkey_h key_;
  const std::uint64_t address_;
  const std::uint64_t bytes_;
};

class Impl final : public OneSidedWorker {
 public:
  Impl(const Params& params, const transport::Context& context)
      : params_(params), context_of_job_(context) {}
  ~Impl() override;

  Result<std::unique_ptr<transport::Exposed>> Expose(std::span<std::byte> memory) override;
  Result<std::unique_ptr<transport::Remote>> Open(std::span<const std::byte> key) override;
  std::uint32_t Progress() override {
    return worker_ != nullptr ? library_->ucp_worker_progress(worker_) : 0;
  }
  int descriptor() const override { return descriptor_; }
  Code Arm() override {
    if (worker_ == nullptr) return Code::kOk;
    return library_->ucp_worker_arm(worker_) == UCS_OK ? Code::kOk : Code::kAgain;
  }

  // What UCX has returned: it is over, under way, or failed. `done` is told unless it failed.
  Code Begun(Way* way, void* request, transport::Completion* done) {
    if (request == nullptr) {
      done->done(done, Code::kOk);
      return Code::kOk;
    }
    if (!UCS_PTR_IS_ERR(request)) return Code::kOk;
    const ucs_status_t status = UCS_PTR_STATUS(request);
    if (status == UCS_ERR_NO_RESOURCE || status == UCS_ERR_NO_MEMORY) return Code::kAgain;
    way->lost = true;
    return Code::kPeerLost;
  }
  static ucp_request_param_t With(transport::Completion* done) {
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.cb.send = OnDone;
    param.user_data = done;
    return param;
  }
  const OneSidedLibrary& memory_library() const { return *memory_library_; }
  const Library& library() const { return *library_; }
  ucp_context_h context() const { return context_; }

 private:
  Status Start();
  Result<Way*> WayTo(std::span<const std::byte> address);
  static void OnDone(void* request, ucs_status_t status, void* completion);
  static void OnLost(void* way, ucp_ep_h, ucs_status_t) { static_cast<Way*>(way)->lost = true; }

  const Params params_;
  const transport::Context context_of_job_;
  const Library* library_ = nullptr;
  const OneSidedLibrary* memory_library_ = nullptr;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  int descriptor_ = -1;
  std::list<Way> ways_;
};

// The callback has no object of ours but the completion.
void Impl::OnDone(void* request, ucs_status_t status, void* completion) {
  auto* const done = static_cast<transport::Completion*>(completion);
  (*Load())->ucp_request_free(request);
  done->done(done, status == UCS_OK ? Code::kOk : Code::kPeerLost);
}

[[gnu::cold]] Status Impl::Start() {
  if (worker_ != nullptr) return {};
  auto library = Load();
  if (!library.ok()) return std::move(library).status();
  auto more = LoadOneSided();
  if (!more.ok()) return std::move(more).status();
  library_ = *library;
  memory_library_ = *more;
  ucp_config_t* config = nullptr;
  if (library_->ucp_config_read(nullptr, nullptr, &config) != UCS_OK)
    return Error(Code::kUnsupported, "ucp_config_read for one-sided access");
  Status configured = Worker::Configure(*library_, params_, context_of_job_, config);
  ucp_params_t wanted{};
  wanted.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
  wanted.features = UCP_FEATURE_RMA | UCP_FEATURE_WAKEUP;
  wanted.estimated_num_eps = context_of_job_.job_ranks;
  ucs_status_t status = UCS_OK;
  if (configured.ok())
    status = library_->ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &wanted, config, &context_);
  library_->ucp_config_release(config);
  if (!configured.ok()) return configured;
  const auto error = [this](ucs_status_t why, const char* call) {
    return Error(Code::kUnsupported, "%s for one-sided access: %s", call,
                 library_->ucs_status_string(why));
  };
  if (status != UCS_OK) {
    context_ = nullptr;
    return error(status, "ucp_init");
  }
  ucp_worker_params_t worker{};
  worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  worker.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  status = library_->ucp_worker_create(context_, &worker, &worker_);
  if (status == UCS_OK) status = library_->ucp_worker_get_efd(worker_, &descriptor_);
  if (status == UCS_OK) return {};
  if (worker_ != nullptr) library_->ucp_worker_destroy(std::exchange(worker_, nullptr));
  library_->ucp_cleanup(std::exchange(context_, nullptr));
  descriptor_ = -1;
  return error(status, "ucp_worker_create");
}

// Peers may be gone, so nobody is waited for.
Impl::~Impl() {
  if (worker_ == nullptr) return;
  const auto until = std::chrono::steady_clock::now() + kCloseTimeout;
  std::vector<void*> closing;
  for (const Way& way : ways_) {
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_EP_CLOSE_FLAG_FORCE;
    void* const request = library_->ucp_ep_close_nbx(way.endpoint, &param);
    if (request != nullptr && !UCS_PTR_IS_ERR(request)) closing.push_back(request);
  }
  while (!closing.empty() && std::chrono::steady_clock::now() < until) {
    library_->ucp_worker_progress(worker_);
    std::erase_if(closing, [this](void* request) {
      if (library_->ucp_request_check_status(request) == UCS_INPROGRESS) return false;
      library_->ucp_request_free(request);
      return true;
    });
  }
  library_->ucp_worker_destroy(worker_);
  library_->ucp_cleanup(context_);
}

Result<std::unique_ptr<transport::Exposed>> Impl::Expose(std::span<std::byte> memory) {
  if (Status status = Start(); !status.ok()) return status;
  ucp_mem_map_params_t params{};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
  params.address = memory.data();
  params.length = memory.size();
  ucp_mem_h handle = nullptr;
  if (const ucs_status_t status = memory_library_->ucp_mem_map(context_, &params, &handle);
      status != UCS_OK)
    return Error(Code::kUnsupported, "ucp_mem_map of %zu bytes: %s", memory.size(),
                 library_->ucs_status_string(status));
  void* packed = nullptr;
  std::size_t packed_bytes = 0, worker_bytes = 0;
  ucp_address_t* worker = nullptr;
  if (memory_library_->ucp_rkey_pack(context_, handle, &packed, &packed_bytes) != UCS_OK) {
    memory_library_->ucp_mem_unmap(context_, handle);
    return Error(Code::kUnsupported, "ucp_rkey_pack failed");
  }
  std::vector<std::byte> key;
  if (library_->ucp_worker_get_address(worker_, &worker, &worker_bytes) == UCS_OK) {
    const KeyHead head{kMagic, reinterpret_cast<std::uintptr_t>(memory.data()), memory.size(),
                       static_cast<std::uint32_t>(worker_bytes),
                       static_cast<std::uint32_t>(packed_bytes)};
    key.resize(sizeof head + worker_bytes + packed_bytes);
    std::memcpy(key.data(), &head, sizeof head);
    std::memcpy(key.data() + sizeof head, worker, worker_bytes);
    std::memcpy(key.data() + sizeof head + worker_bytes, packed, packed_bytes);
    library_->ucp_worker_release_address(worker_, worker);
  }
  memory_library_->ucp_rkey_buffer_release(packed);
  if (key.empty()) {
    memory_library_->ucp_mem_unmap(context_, handle);
    return Error(Code::kUnsupported, "ucp_worker_get_address failed");
  }
  return std::unique_ptr<transport::Exposed>(new UcxExposed(this, handle, std::move(key)));
}

UcxExposed::~UcxExposed() { owner_->memory_library().ucp_mem_unmap(owner_->context(), memory_); }

Result<Way*> Impl::WayTo(std::span<const std::byte> address) {
  for (Way& way : ways_)
    if (!way.lost &&
        std::equal(address.begin(), address.end(), way.address.begin(), way.address.end()))
      return &way;
  Way& way = ways_.emplace_back();
  way.address.assign(address.begin(), address.end());
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(way.address.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler = {OnLost, &way};
  ucs_status_t status = library_->ucp_ep_create(worker_, &params, &way.endpoint);
  if (status == UCS_ERR_UNREACHABLE) {
    // No device notices a peer's end, as between processes of one node.
    params.err_mode = UCP_ERR_HANDLING_MODE_NONE;
    status = library_->ucp_ep_create(worker_, &params, &way.endpoint);
  }
  if (status == UCS_OK) return &way;
  ways_.pop_back();
  return Error(Code::kUnsupported, "ucp_ep_create for one-sided access: %s",
               library_->ucs_status_string(status));
}

Result<std::unique_ptr<transport::Remote>> Impl::Open(std::span<const std::byte> key) {
  KeyHead head;
  if (key.size() < sizeof head) return Error(Code::kInvalid, "a key of %zu bytes", key.size());
  std::memcpy(&head, key.data(), sizeof head);
  if (head.magic != kMagic || head.bytes > UINT64_MAX - head.address ||
      key.size() - sizeof head != std::uint64_t{head.worker_bytes} + head.key_bytes)
    return Error(Code::kInvalid, "the key is not UCX's, or damaged");
  if (Status status = Start(); !status.ok()) return status;
  auto way = WayTo(key.subspan(sizeof head, head.worker_bytes));
  if (!way.ok()) return std::move(way).status();
  ucp_rkey_h opened = nullptr;
  const ucs_status_t status = memory_library_->ucp_ep_rkey_unpack(
      (*way)->endpoint, key.data() + sizeof head + head.worker_bytes, &opened);
  if (status != UCS_OK)
    return Error(Code::kUnsupported, "ucp_ep_rkey_unpack: %s", library_->ucs_status_string(status));
  return std::unique_ptr<transport::Remote>(
      new UcxRemote(this, *way, opened, head.address, head.bytes));
}

UcxRemote::~UcxRemote() { owner_->memory_library().ucp_rkey_destroy(key_); }

Code UcxRemote::Put(std::uint64_t offset, std::span<const std::byte> from,
                    transport::Completion* done) {
  if (!Has(offset, from.size())) return Code::kInvalid;
  if (way_->lost) return Code::kPeerLost;
  const ucp_request_param_t param = Impl::With(done);
  return owner_->Begun(
      way_,
      owner_->memory_library().ucp_put_nbx(way_->endpoint, from.data(), from.size(),
                                           address_ + offset, key_, &param),
      done);
}

Code UcxRemote::Get(std::uint64_t offset, std::span<std::byte> into, transport::Completion* done) {
  if (!Has(offset, into.size())) return Code::kInvalid;
  if (way_->lost) return Code::kPeerLost;
  const ucp_request_param_t param = Impl::With(done);
  return owner_->Begun(
      way_,
      owner_->memory_library().ucp_get_nbx(way_->endpoint, into.data(), into.size(),
                                           address_ + offset, key_, &param),
      done);
}

Code UcxRemote::Flush(transport::Completion* done) {
  if (way_->lost) return Code::kPeerLost;
  const ucp_request_param_t param = Impl::With(done);
  return owner_->Begun(way_, owner_->library().ucp_ep_flush_nbx(way_->endpoint, &param), done);
}

// UCX may use devices of RDMA unless it is told which transports to use, and these are others.
bool MayUseRdma(const std::string& tls) {
  if (tls.empty() || tls.front() == '^') return tls.find("ib") == std::string::npos;
  for (const char* name : {"all", "ib", "rc", "dc"})
    if (tls.find(name) != std::string::npos) return true;
  return false;
}

}  // namespace

bool WantsOneSided(const Params& params) {
  if (params.one_sided != "auto") return params.one_sided == "on";
  return MayUseRdma(params.tls) && !FindDevices({}, "/sys/class").usable.empty();
}

const char* ExplainOneSided(const Params& params) {
  if (params.one_sided == "on") return "by it (transport.ucx.one_sided is on)";
  if (params.one_sided == "off") return "by messages (transport.ucx.one_sided is off)";
  return WantsOneSided(params) ? "by it, because there is an RDMA adapter"
                               : "by messages, because there is no RDMA adapter";
}

std::unique_ptr<OneSidedWorker> OneSidedWorker::Make(const Params& params,
                                                     const transport::Context& context) {
  return std::make_unique<Impl>(params, context);
}

}  // namespace lamina::ucx
