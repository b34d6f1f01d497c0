// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/pmix/upcalls.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/wire/bytes.h"
#include "runtime/base/log.h"

namespace lamina::launcher::pmix {
namespace {

constinit std::atomic<Desk*> desk_open{nullptr};

Desk* TheDesk() { return desk_open.load(std::memory_order_acquire); }

std::string Pack(const pmix_value_t& value) {
  pmix_data_buffer_t buffer;
  PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
  std::string bytes;
  if (PMIx_Data_pack(nullptr, &buffer, const_cast<pmix_value_t*>(&value), 1, PMIX_VALUE) ==
      PMIX_SUCCESS)
    bytes.assign(buffer.base_ptr, buffer.base_ptr + buffer.bytes_used);
  PMIX_DATA_BUFFER_DESTRUCT(&buffer);
  return bytes;
}

bool Unpack(std::string_view bytes, pmix_value_t* value) {
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

std::string BytesOf(const std::vector<std::string>& names) {
  wire::Writer writer;
  writer.U32(static_cast<std::uint32_t>(names.size()));
  for (const std::string& name : names) writer.Text(name);
  return writer.Take();
}

pmix_status_t Connected(const pmix_proc_t*, void*, pmix_info_t*, std::size_t, pmix_op_cbfunc_t,
                        void*) {
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t Finalized(const pmix_proc_t*, void*, pmix_op_cbfunc_t, void*) {
  return PMIX_OPERATION_SUCCEEDED;
}

// Asks the hub, and calls `then` on the event loop with its answer.
void Ask(Desk* desk, Letter letter, std::function<void(const Letter& answer)> then) {
  letter.id = desk->next_question++;
  desk->questions.emplace(letter.id, std::move(then));
  desk->send(Encode(letter));
}

pmix_status_t Abort(const pmix_proc_t* who, void*, int code, const char message[], pmix_proc_t*,
                    std::size_t, pmix_op_cbfunc_t answer, void* answer_data) {
  Desk* desk = TheDesk();
  if (desk == nullptr) return PMIX_ERR_NOT_AVAILABLE;
  // A caller may name only some processes; ours always ends the whole job, as MPI_Abort may.
  std::string text = message == nullptr ? "" : message;
  desk->mailbox->Post([desk, rank = who->rank, code, text = std::move(text), answer, answer_data] {
    desk->send(Encode(Letter{Subject::kAbort, true, static_cast<std::uint32_t>(code), rank, text}));
    if (answer != nullptr) answer(PMIX_SUCCESS, answer_data);
  });
  return PMIX_SUCCESS;
}

// libpmix gives this back when it is done with it.
void AnswerWithData(const Letter& letter, pmix_modex_cbfunc_t answer, void* answer_data) {
  auto* owned = new std::string(letter.body);
  answer(
      letter.good ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND, owned->data(), owned->size(), answer_data,
      [](void* text) { delete static_cast<std::string*>(text); }, owned);
}

// libpmix completes fences within a node by itself, so this is about several nodes.
pmix_status_t Fence(const pmix_proc_t who[], std::size_t count, const pmix_info_t[], std::size_t,
                    char* data, std::size_t bytes, pmix_modex_cbfunc_t answer, void* answer_data) {
  Desk* desk = TheDesk();
  if (desk == nullptr) return PMIX_ERR_NOT_AVAILABLE;
  std::vector<std::uint32_t> ranks;
  for (std::size_t i = 0; i < count && who[i].rank != PMIX_RANK_WILDCARD; ++i)
    ranks.push_back(who[i].rank);
  if (ranks.size() < count) ranks.clear();
  wire::Writer body;
  body.U32(static_cast<std::uint32_t>(ranks.size()));
  for (const std::uint32_t rank : ranks) body.U32(rank);
  body.Raw({data, bytes});
  Letter letter{Subject::kFence, true, 0, 0, body.Take()};
  desk->mailbox->Post([desk, letter = std::move(letter), answer, answer_data] {
    Ask(desk, letter, [answer, answer_data](const Letter& complete) {
      AnswerWithData(complete, answer, answer_data);
    });
  });
  return PMIX_SUCCESS;
}

// This is asked for processes of other nodes only.
pmix_status_t DirectModex(const pmix_proc_t* whose, const pmix_info_t[], std::size_t,
                          pmix_modex_cbfunc_t answer, void* answer_data) {
  Desk* desk = TheDesk();
  if (desk == nullptr) return PMIX_ERR_NOT_AVAILABLE;
  desk->mailbox->Post([desk, rank = whose->rank, answer, answer_data] {
    Ask(desk, Letter{Subject::kModex, true, 0, rank, ""},
        [answer, answer_data](const Letter& card) { AnswerWithData(card, answer, answer_data); });
  });
  return PMIX_SUCCESS;
}

// Answers another node's question about a rank of ours; libpmix calls it when the rank has
// committed something.
struct ModexAnswer {
  Desk* desk;
  std::uint32_t id;
  static void Come(pmix_status_t status, char* data, std::size_t bytes, void* self) {
    auto* answer = static_cast<ModexAnswer*>(self);
    Letter letter{Subject::kAnswer, status == PMIX_SUCCESS, answer->id, 0, ""};
    if (status == PMIX_SUCCESS) letter.body.assign(data, bytes);
    if (TheDesk() == answer->desk)
      answer->desk->mailbox->Post([desk = answer->desk, letter] { desk->send(Encode(letter)); });
    delete answer;
  }
};

void AnswerAbout(Desk* desk, const std::string& job, const Letter& letter) {
  pmix_proc_t whose;
  PMIX_LOAD_PROCID(&whose, job.c_str(), letter.rank);
  auto* answer = new ModexAnswer{desk, letter.id};
  if (PMIx_server_dmodex_request(&whose, ModexAnswer::Come, answer) == PMIX_SUCCESS) return;
  delete answer;
  desk->send(Encode(Letter{Subject::kAnswer, false, letter.id, 0, ""}));
}

pmix_status_t Publish(const pmix_proc_t* who, const pmix_info_t info[], std::size_t count,
                      pmix_op_cbfunc_t answer, void* answer_data) {
  Desk* desk = TheDesk();
  if (desk == nullptr) return PMIX_ERR_NOT_AVAILABLE;
  bool read_once = false;
  std::uint32_t notices = 0;
  wire::Writer entries;
  for (std::size_t i = 0; i < count; ++i) {
    if (PMIX_CHECK_KEY(&info[i], PMIX_PERSISTENCE)) {
      read_once = info[i].value.data.persist == PMIX_PERSIST_FIRST_READ;
    } else if (!IsDirection(info[i])) {
      ++notices;
      entries.Text(info[i].key).Text(Pack(info[i].value));
    }
  }
  Letter letter{Subject::kPublish, true, 0, who->rank,
                wire::Writer().U8(read_once ? 1 : 0).U32(notices).Raw(entries.bytes()).Take()};
  desk->mailbox->Post([desk, letter = std::move(letter), answer, answer_data] {
    Ask(desk, letter, [answer, answer_data](const Letter& reply) {
      answer(reply.good ? PMIX_SUCCESS : PMIX_ERR_DUPLICATE_KEY, answer_data);
    });
  });
  return PMIX_SUCCESS;
}

void AnswerLookup(const pmix_proc_t& asker, std::size_t wanted, const Letter& reply,
                  pmix_lookup_cbfunc_t answer, void* answer_data) {
  std::vector<pmix_pdata_t> found;
  wire::Reader reader(reply.body);
  const std::uint32_t count = reader.Count(12);
  for (std::uint32_t i = 0; i < count && reader.ok(); ++i) {
    const std::string name(reader.Text());
    const std::uint32_t owner = reader.U32();
    const std::string_view packed = reader.Text();
    pmix_pdata_t data;
    PMIX_PDATA_CONSTRUCT(&data);
    PMIX_LOAD_PROCID(&data.proc, asker.nspace, owner);
    PMIX_LOAD_KEY(data.key, name.c_str());
    if (Unpack(packed, &data.value)) found.push_back(data);
  }
  const pmix_status_t status = found.empty()           ? PMIX_ERR_NOT_FOUND
                               : found.size() < wanted ? PMIX_ERR_PARTIAL_SUCCESS
                                                       : PMIX_SUCCESS;
  answer(status, found.data(), found.size(), answer_data);
  for (pmix_pdata_t& data : found) PMIX_PDATA_DESTRUCT(&data);
}

pmix_status_t Lookup(const pmix_proc_t* who, char** keys, const pmix_info_t[], std::size_t,
                     pmix_lookup_cbfunc_t answer, void* answer_data) {
  Desk* desk = TheDesk();
  if (desk == nullptr) return PMIX_ERR_NOT_AVAILABLE;
  const std::vector<std::string> names = CopyOf(keys);
  Letter letter{Subject::kLookup, true, 0, who->rank, BytesOf(names)};
  desk->mailbox->Post(
      [desk, asker = *who, wanted = names.size(), letter = std::move(letter), answer, answer_data] {
        Ask(desk, letter, [asker, wanted, answer, answer_data](const Letter& reply) {
          AnswerLookup(asker, wanted, reply, answer, answer_data);
        });
      });
  return PMIX_SUCCESS;
}

pmix_status_t Unpublish(const pmix_proc_t* who, char** keys, const pmix_info_t[], std::size_t,
                        pmix_op_cbfunc_t answer, void* answer_data) {
  Desk* desk = TheDesk();
  if (desk == nullptr) return PMIX_ERR_NOT_AVAILABLE;
  Letter letter{Subject::kUnpublish, true, 0, who->rank, BytesOf(CopyOf(keys))};
  desk->mailbox->Post([desk, letter = std::move(letter), answer, answer_data] {
    Ask(desk, letter, [answer, answer_data](const Letter& reply) {
      answer(reply.good ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND, answer_data);
    });
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

void Receive(Desk* desk, const std::string& job, const Letter& letter) {
  if (letter.subject == Subject::kModex) return AnswerAbout(desk, job, letter);
  const auto found = desk->questions.find(letter.id);
  if (letter.subject != Subject::kAnswer || found == desk->questions.end()) {
    Log(Level::kWarn, "pmix", "an answer came that nobody had asked for");
    return;
  }
  const auto then = std::move(found->second);
  desk->questions.erase(found);
  then(letter);
}

void SitAt(Desk* desk) { desk_open.store(desk, std::memory_order_release); }

const pmix_server_module_t& Module() {
  static const pmix_server_module_t module = MakeModule();
  return module;
}

}  // namespace lamina::launcher::pmix
