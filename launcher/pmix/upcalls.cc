// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/pmix/upcalls.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/base/log.h"

namespace lamina::launcher::pmix {
namespace {

constinit std::atomic<Desk*> desk_open{nullptr};

Desk* TheDesk() { return desk_open.load(std::memory_order_acquire); }

std::vector<char> Pack(const pmix_value_t& value) {
  pmix_data_buffer_t buffer;
  PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
  std::vector<char> bytes;
  if (PMIx_Data_pack(nullptr, &buffer, const_cast<pmix_value_t*>(&value), 1, PMIX_VALUE) ==
      PMIX_SUCCESS)
    bytes.assign(buffer.base_ptr, buffer.base_ptr + buffer.bytes_used);
  PMIX_DATA_BUFFER_DESTRUCT(&buffer);
  return bytes;
}

bool Unpack(const std::vector<char>& bytes, pmix_value_t* value) {
  pmix_data_buffer_t buffer;
  PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
  char* copy = static_cast<char*>(malloc(bytes.size()));
  if (copy == nullptr) return false;
  std::memcpy(copy, bytes.data(), bytes.size());
  pmix_byte_object_t object{copy, bytes.size()};
  std::int32_t count = 1;
  const bool done = PMIx_Data_load(&buffer, &object) == PMIX_SUCCESS &&
                    PMIx_Data_unpack(nullptr, &buffer, value, &count, PMIX_VALUE) == PMIX_SUCCESS;
  PMIX_DATA_BUFFER_DESTRUCT(&buffer);
  return done;
}

// "pmix.…" keys among published data are directions to the server, not data.
bool IsDirection(const pmix_info_t& info) { return std::strncmp(info.key, "pmix.", 5) == 0; }

std::vector<std::string> CopyOf(char** words) {
  std::vector<std::string> copy;
  for (char** word = words; word != nullptr && *word != nullptr; ++word) copy.emplace_back(*word);
  return copy;
}

pmix_status_t Connected(const pmix_proc_t*, void*, pmix_info_t*, std::size_t, pmix_op_cbfunc_t,
                        void*) {
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t Finalized(const pmix_proc_t*, void*, pmix_op_cbfunc_t, void*) {
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t Abort(const pmix_proc_t* who, void*, int code, const char message[], pmix_proc_t*,
                    std::size_t, pmix_op_cbfunc_t answer, void* answer_data) {
  Desk* desk = TheDesk();
  if (desk == nullptr) return PMIX_ERR_NOT_AVAILABLE;
  // A caller may name only some processes; ours always ends the whole job, as MPI_Abort may.
  std::string text = message == nullptr ? "" : message;
  desk->mailbox->Post([desk, rank = who->rank, code, text = std::move(text), answer, answer_data] {
    desk->abort(rank, code, text);
    if (answer != nullptr) answer(PMIX_SUCCESS, answer_data);
  });
  return PMIX_SUCCESS;
}

// All participants are ours, so libpmix completes fences by itself; this serves the standard's
// letter should it ask anyway: with one server, what it contributes is the whole result.
pmix_status_t Fence(const pmix_proc_t[], std::size_t, const pmix_info_t[], std::size_t, char* data,
                    std::size_t bytes, pmix_modex_cbfunc_t answer, void* answer_data) {
  Desk* desk = TheDesk();
  if (desk == nullptr) return PMIX_ERR_NOT_AVAILABLE;
  std::vector<char> copy(data, data + bytes);
  desk->mailbox->Post([copy = std::move(copy), answer, answer_data] {
    auto* owned = new std::vector<char>(copy);
    answer(
        PMIX_SUCCESS, owned->data(), owned->size(), answer_data,
        [](void* bytes_owned) { delete static_cast<std::vector<char>*>(bytes_owned); }, owned);
  });
  return PMIX_SUCCESS;
}

// Asked for processes of other servers only, and there are none.
pmix_status_t DirectModex(const pmix_proc_t*, const pmix_info_t[], std::size_t, pmix_modex_cbfunc_t,
                          void*) {
  return PMIX_ERR_NOT_FOUND;
}

pmix_status_t Publish(const pmix_proc_t* who, const pmix_info_t info[], std::size_t count,
                      pmix_op_cbfunc_t answer, void* answer_data) {
  Desk* desk = TheDesk();
  if (desk == nullptr) return PMIX_ERR_NOT_AVAILABLE;
  bool read_once = false;
  std::vector<std::pair<std::string, Notice>> notices;
  for (std::size_t i = 0; i < count; ++i) {
    if (PMIX_CHECK_KEY(&info[i], PMIX_PERSISTENCE))
      read_once = info[i].value.data.persist == PMIX_PERSIST_FIRST_READ;
    else if (!IsDirection(info[i]))
      notices.emplace_back(info[i].key, Notice{who->rank, Pack(info[i].value), false});
  }
  desk->mailbox->Post([desk, read_once, notices = std::move(notices), answer, answer_data] {
    pmix_status_t status = PMIX_SUCCESS;
    for (auto [name, notice] : notices) {
      notice.read_once = read_once;
      if (!desk->board.Publish(name, std::move(notice))) status = PMIX_ERR_DUPLICATE_KEY;
    }
    answer(status, answer_data);
  });
  return PMIX_SUCCESS;
}

void AnswerLookup(Desk* desk, const pmix_proc_t& asker, const std::vector<std::string>& names,
                  pmix_lookup_cbfunc_t answer, void* answer_data) {
  std::vector<pmix_pdata_t> found;
  for (const std::string& name : names) {
    const auto notice = desk->board.Lookup(name);
    if (!notice.has_value()) continue;
    pmix_pdata_t data;
    PMIX_PDATA_CONSTRUCT(&data);
    PMIX_LOAD_PROCID(&data.proc, asker.nspace, notice->owner);
    PMIX_LOAD_KEY(data.key, name.c_str());
    if (Unpack(notice->packed, &data.value)) found.push_back(data);
  }
  const pmix_status_t status = found.empty()                 ? PMIX_ERR_NOT_FOUND
                               : found.size() < names.size() ? PMIX_ERR_PARTIAL_SUCCESS
                                                             : PMIX_SUCCESS;
  answer(status, found.data(), found.size(), answer_data);
  for (pmix_pdata_t& data : found) PMIX_PDATA_DESTRUCT(&data);
}

pmix_status_t Lookup(const pmix_proc_t* who, char** keys, const pmix_info_t[], std::size_t,
                     pmix_lookup_cbfunc_t answer, void* answer_data) {
  Desk* desk = TheDesk();
  if (desk == nullptr) return PMIX_ERR_NOT_AVAILABLE;
  desk->mailbox->Post([desk, asker = *who, names = CopyOf(keys), answer, answer_data] {
    AnswerLookup(desk, asker, names, answer, answer_data);
  });
  return PMIX_SUCCESS;
}

pmix_status_t Unpublish(const pmix_proc_t* who, char** keys, const pmix_info_t[], std::size_t,
                        pmix_op_cbfunc_t answer, void* answer_data) {
  Desk* desk = TheDesk();
  if (desk == nullptr) return PMIX_ERR_NOT_AVAILABLE;
  desk->mailbox->Post([desk, rank = who->rank, names = CopyOf(keys), answer, answer_data] {
    bool all = true;
    for (const std::string& name : names) all = desk->board.Unpublish(name, rank) && all;
    if (names.empty()) desk->board.UnpublishAllOf(rank);
    answer(all ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND, answer_data);
  });
  return PMIX_SUCCESS;
}

void RefuseOnce(bool* said, std::uint32_t rank, const char* what) {
  if (*said) return;
  *said = true;
  Log(Level::kWarn, "pmix", "rank %u asked to %s: not yet, this version of Lamina cannot", rank,
      what);
}

pmix_status_t Spawn(const pmix_proc_t* who, const pmix_info_t[], std::size_t, const pmix_app_t[],
                    std::size_t, pmix_spawn_cbfunc_t, void*) {
  if (Desk* desk = TheDesk(); desk != nullptr)
    desk->mailbox->Post([desk, rank = who->rank] {
      RefuseOnce(&desk->spawn_refused, rank, "spawn processes (MPI_Comm_spawn)");
    });
  return PMIX_ERR_NOT_SUPPORTED;
}

pmix_status_t Connect(const pmix_proc_t who[], std::size_t count, const pmix_info_t[], std::size_t,
                      pmix_op_cbfunc_t, void*) {
  if (Desk* desk = TheDesk(); desk != nullptr)
    desk->mailbox->Post([desk, rank = count > 0 ? who[0].rank : 0] {
      RefuseOnce(&desk->connect_refused, rank, "connect to other jobs (MPI_Comm_connect)");
    });
  return PMIX_ERR_NOT_SUPPORTED;
}

pmix_status_t Disconnect(const pmix_proc_t[], std::size_t, const pmix_info_t[], std::size_t,
                         pmix_op_cbfunc_t, void*) {
  return PMIX_ERR_NOT_SUPPORTED;
}

pmix_status_t RegisterEvents(pmix_status_t*, std::size_t, const pmix_info_t[], std::size_t,
                             pmix_op_cbfunc_t, void*) {
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t DeregisterEvents(pmix_status_t*, std::size_t, pmix_op_cbfunc_t, void*) {
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t NotifyEvent(pmix_status_t, const pmix_proc_t*, pmix_data_range_t, pmix_info_t[],
                          std::size_t, pmix_op_cbfunc_t, void*) {
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_server_module_t MakeModule() {
  pmix_server_module_t module;
  std::memset(&module, 0, sizeof module);
  module.client_connected2 = Connected;
  module.client_finalized = Finalized;
  module.abort = Abort;
  module.fence_nb = Fence;
  module.direct_modex = DirectModex;
  module.publish = Publish;
  module.lookup = Lookup;
  module.unpublish = Unpublish;
  module.spawn = Spawn;
  module.connect = Connect;
  module.disconnect = Disconnect;
  module.register_events = RegisterEvents;
  module.deregister_events = DeregisterEvents;
  module.notify_event = NotifyEvent;
  return module;
}

}  // namespace

void SitAt(Desk* desk) { desk_open.store(desk, std::memory_order_release); }

const pmix_server_module_t& Module() {
  static const pmix_server_module_t module = MakeModule();
  return module;
}

}  // namespace lamina::launcher::pmix
