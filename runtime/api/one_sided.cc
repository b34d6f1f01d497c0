// SPDX-License-Identifier: BSD-3-Clause
// These access the memory of windows (MPI-5.0, section 12.3).
#include "runtime/api/window_arguments.h"
#include "runtime/core/request.h"
#include "runtime/datatype/op.h"
#include "runtime/datatype/runs.h"

namespace lamina::api {
namespace {

using core::Request;
using core::Win;
using datatype::Buffer;
using datatype::Datatype;
using rma::Accumulation;
using rma::Goal;

// How a function ends: it returns with the operation begun, or gives a request as well.
enum class Form { kPlain, kRequest };

// The arguments of a function that moves data.
struct Moved {
  const void* address;
  MPI_Count count;
  MPI_Datatype datatype;
  int target;
  MPI_Aint displacement;
  MPI_Count target_count;
  MPI_Datatype target_datatype;
  MPI_Win win;
};

// The same as objects.
struct Access {
  Win* win;
  Goal goal;
  bool nobody;  // the target is MPI_PROC_NULL
};

// True if no memory can hold so many elements.
bool IsTooLong(MPI_Count count, const Datatype& type) {
  std::int64_t bytes = 0, last = 0;
  return __builtin_mul_overflow(count, type.size, &bytes) ||
         __builtin_mul_overflow(count, type.extent, &last) ||
         __builtin_add_overflow(last, type.true_lower + type.true_extent, &last);
}

// What is no memory: a null pointer, and MPI_IN_PLACE, which is for collectives.
bool IsNoMemory(const void* address) { return address == nullptr || address == MPI_IN_PLACE; }

// What is wrong with data of this process, or null.
const char* WrongBuffer(const void* address, MPI_Count count, const Datatype* type, int* error) {
  *error = MPI_ERR_COUNT;
  if (count < 0) return "a count is negative";
  *error = MPI_ERR_TYPE;
  if (type == nullptr) return "a datatype is MPI_DATATYPE_NULL, has been freed, or is none";
  if (!type->committed) return "a datatype is not committed; call MPI_Type_commit first";
  *error = MPI_ERR_COUNT;
  if (IsTooLong(count, *type)) return "a count is more than memory can hold";
  *error = MPI_ERR_BUFFER;
  if (IsNoMemory(address) && count > 0) [[unlikely]] {
    if (address == MPI_IN_PLACE) return "a buffer is MPI_IN_PLACE, which only collectives take";
    if (type->predefined) return "a buffer is a null pointer";
  }
  *error = MPI_SUCCESS;
  return nullptr;
}

int TakeBuffer(const Entry& entry, Win* win, const Moved& it, Buffer* data) {
  data->address = const_cast<void*>(it.address);
  data->count = it.count;
  data->type = datatype::FindDatatype(it.datatype);
  int error = MPI_SUCCESS;
  const char* const why = WrongBuffer(data->address, data->count, data->type, &error);
  return why == nullptr ? static_cast<int>(MPI_SUCCESS)
                        : core::RaiseOn(win, error, entry.name(), "%s", why);
}

int CheckTarget(const Entry& entry, Win* win, const Goal& goal) {
  int error = MPI_SUCCESS;
  const char* const why = WrongBuffer(entry.name(), goal.count, goal.type, &error);
  REQUIRE_OF_WIN(why == nullptr, win, error, "%s at the target", why);
  const bool nobody = goal.target == MPI_PROC_NULL;
  REQUIRE_OF_WIN(IsMember(*win, goal.target) || nobody, win, MPI_ERR_RANK,
                 "target_rank is %d, must be 0..%d or MPI_PROC_NULL", goal.target,
                 win->comm->size - 1);
  REQUIRE_OF_WIN(goal.displacement >= 0 || win->window->is_dynamic() || nobody, win, MPI_ERR_DISP,
                 "target_disp is %lld, must not be negative",
                 static_cast<long long>(goal.displacement));
  return MPI_SUCCESS;
}

// Finds the window and the target and checks them, and whether an epoch allows the access. They are
// stored where they stay, because a copy would have to wait for the stores.
int FindAccess(const Entry& entry, Form form, const Moved& it, Access* access) {
  if (core::process == nullptr) return NotInitialized(entry.name());
  Win* const win = core::FindWin(it.win);
  if (win == nullptr) return BadWin(entry, it.win);
  const Datatype* const type = datatype::FindDatatype(it.target_datatype);
  access->win = win;
  access->goal.target = it.target;
  access->goal.displacement = it.displacement;
  access->goal.count = it.target_count;
  access->goal.type = type;
  access->nobody = it.target == MPI_PROC_NULL;
  if (const int error = CheckTarget(entry, win, access->goal); error != MPI_SUCCESS) return error;
  rma::Epoch& epoch = win->window->epoch();
  if (form == Form::kRequest) {
    if (epoch.MayRequest(it.target) == MPI_SUCCESS) return MPI_SUCCESS;
    return RaiseEpoch(entry, win, "the target is not locked, as forms with a request want");
  }
  if (epoch.MayAccess(it.target) == MPI_SUCCESS) return MPI_SUCCESS;
  return RaiseEpoch(entry, win, "no access epoch is open to the target");
}

int CheckLengths(const Entry& entry, Win* win, const Goal& goal, const Buffer& data) {
  REQUIRE_OF_WIN(goal.bytes() == data.bytes(), win, MPI_ERR_TRUNCATE,
                 "the data is %lld bytes here and %lld bytes at the target",
                 static_cast<long long>(data.bytes()), static_cast<long long>(goal.bytes()));
  return MPI_SUCCESS;
}

int RaiseAccess(const Entry& entry, const Access& access, int error) {
  const auto displacement = static_cast<long long>(access.goal.displacement);
  const auto bytes = static_cast<long long>(access.goal.bytes());
  const int rank = access.goal.target;
  if (error == MPI_ERR_RMA_RANGE)
    return core::RaiseOn(access.win, error, entry.name(),
                         "%lld bytes at displacement %lld are not within the window of rank %d, "
                         "or not memory that can be accessed so",
                         bytes, displacement, rank);
  // Another process may have died while it combined something there.
  if (error == MPI_ERR_PROC_ABORTED)
    if (const Rank gone = access.win->window->FindGone(rank); gone >= 0)
      return core::RaiseOn(access.win, error, entry.name(), "rank %d of the window is gone", gone);
  return core::RaiseOn(access.win, error, entry.name(),
                       "%lld bytes at displacement %lld of rank %d could not be accessed", bytes,
                       displacement, rank);
}

// Carries an access out by `begin`, which gets the request that is to finish with it, or null. An
// access that is over when it was begun needs no request of its own.
template <class Begin>
int Carry(const Entry& entry, const Access& access, MPI_Request* request, const Begin& begin) {
  rma::Window& window = *access.win->window;
  Request* owner = nullptr;
  if (request != nullptr && !access.nobody && !window.IsNear(access.goal.target)) {
    owner = core::NewRequest(access.win->comm);
    owner->type = Request::Type::kOneSided;
    owner->active = true;
  }
  window.epoch().Use();
  const int error = access.nobody ? static_cast<int>(MPI_SUCCESS) : begin(&window, owner);
  if (error != MPI_SUCCESS) {
    if (owner != nullptr) core::FreeRequest(owner);
    return RaiseAccess(entry, access, error);
  }
  if (request != nullptr)
    *request = core::ToHandle<MPI_Request>(owner != nullptr ? owner : &core::accessed_request);
  return MPI_SUCCESS;
}

int Prepare(const Entry& entry, const Moved& it, MPI_Request* request, Form form, Access* access,
            Buffer* data) {
  if (const int error = FindAccess(entry, form, it, access); error != MPI_SUCCESS) return error;
  Win* const win = access->win;
  if (const int error = TakeBuffer(entry, win, it, data); error != MPI_SUCCESS) return error;
  REQUIRE_OF_WIN(form == Form::kPlain || request != nullptr, win, MPI_ERR_ARG,
                 "request is a null pointer");
  return CheckLengths(entry, win, access->goal, *data);
}

int Put(const Entry& entry, const Moved& it, Form form, MPI_Request* request) {
  Access access;
  Buffer data;
  if (const int error = Prepare(entry, it, request, form, &access, &data); error != MPI_SUCCESS)
    return error;
  return Carry(entry, access, request, [&](rma::Window* window, Request* owner) {
    // With a request the data has been copied, which is all that the request stands for.
    const int error = window->Put(access.goal, data, owner == nullptr);
    if (error == MPI_SUCCESS && owner != nullptr) core::Finish(owner, MPI_SUCCESS);
    return error;
  });
}

int Get(const Entry& entry, const Moved& it, Form form, MPI_Request* request) {
  Access access;
  Buffer data;
  if (const int error = Prepare(entry, it, request, form, &access, &data); error != MPI_SUCCESS)
    return error;
  return Carry(entry, access, request, [&](rma::Window* window, Request* owner) {
    return window->Get(access.goal, data, owner);
  });
}

// Checks that the operation goes with the one basic type of both sides. The operand has no type if
// the operation needs none.
int CheckOperation(const Entry& entry, Win* win, const Goal& goal, MPI_Op handle, bool fetches,
                   Accumulation* it) {
  const Buffer& data = it->operand;
  it->op = datatype::FindOp(handle);
  if (it->op == nullptr) return BadOp(entry, handle);
  REQUIRE_OF_WIN(it->op->predefined, win, MPI_ERR_OP, "the operation is not a predefined one");
  REQUIRE_OF_WIN(fetches || handle != MPI_NO_OP, win, MPI_ERR_OP,
                 "MPI_NO_OP is for functions that fetch");
  it->basic = datatype::Uniform(*goal.type);
  if (goal.bytes() == 0 && it->basic == nullptr) return MPI_SUCCESS;
  REQUIRE_OF_WIN(it->basic != nullptr, win, MPI_ERR_TYPE,
                 "the target's datatype is made of several basic types");
  if (data.type != nullptr && data.bytes() != 0) {
    const Datatype* const own = datatype::Uniform(*data.type);
    REQUIRE_OF_WIN(own != nullptr && SameBasic(*own, *it->basic), win, MPI_ERR_TYPE,
                   "the datatypes here and at the target are made of different basic types");
  }
  REQUIRE_OF_WIN(handle == MPI_NO_OP || handle == MPI_REPLACE || Fits(*it->op, *it->basic), win,
                 MPI_ERR_OP, "%s cannot be applied to this datatype", it->op->name);
  return MPI_SUCCESS;
}

// `result` has no type if nothing is fetched.
int Accumulate(const Entry& entry, const Moved& it, MPI_Op op, const Moved* result, Form form,
               MPI_Request* request) {
  Access access;
  if (const int error = FindAccess(entry, form, it, &access); error != MPI_SUCCESS) return error;
  Win* const win = access.win;
  Accumulation accumulation;
  if (op != MPI_NO_OP || result == nullptr) {
    if (const int error = TakeBuffer(entry, win, it, &accumulation.operand); error != MPI_SUCCESS)
      return error;
    if (const int error = CheckLengths(entry, win, access.goal, accumulation.operand);
        error != MPI_SUCCESS)
      return error;
  }
  REQUIRE_OF_WIN(form == Form::kPlain || request != nullptr, win, MPI_ERR_ARG,
                 "request is a null pointer");
  if (const int error =
          CheckOperation(entry, win, access.goal, op, result != nullptr, &accumulation);
      error != MPI_SUCCESS)
    return error;
  if (result != nullptr) {
    Buffer* const into = &accumulation.result;
    if (const int error = TakeBuffer(entry, win, *result, into); error != MPI_SUCCESS) return error;
    if (const int error = CheckLengths(entry, win, access.goal, *into); error != MPI_SUCCESS)
      return error;
  }
  return Carry(entry, access, request, [&](rma::Window* window, Request* owner) {
    const bool fetches = accumulation.result.type != nullptr;
    const int error = window->Accumulate(access.goal, accumulation, fetches ? owner : nullptr);
    if (error == MPI_SUCCESS && !fetches && owner != nullptr) core::Finish(owner, MPI_SUCCESS);
    return error;
  });
}

// Compare-and-swap is for what is compared bit by bit (MPI-5.0, section 12.3.4).
bool IsComparable(const Datatype& type) {
  using datatype::Basic;
  switch (type.basic) {
    case Basic::kByte:
    case Basic::kInt8:
    case Basic::kInt16:
    case Basic::kInt32:
    case Basic::kInt64:
    case Basic::kLong:
    case Basic::kUint8:
    case Basic::kUint16:
    case Basic::kUint32:
    case Basic::kUint64:
    case Basic::kUnsignedLong:
    case Basic::kInt128:
    case Basic::kBool:
    case Basic::kLogical1:
    case Basic::kLogical2:
    case Basic::kLogical4:
    case Basic::kLogical8:
    case Basic::kLogical16:
      return type.predefined;
    default:
      return false;
  }
}

}  // namespace
}  // namespace lamina::api

namespace api = lamina::api;
using api::Entry;
using api::Form;
using lamina::Call;

// The int form and the large-count form of a function differ in the type of their counts.
#define MOVED                                                                           \
  {                                                                                     \
    origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, \
        target_datatype, win                                                            \
  }

#define PUT(name, Count)                                                                 \
  int P##name(const void* origin_addr, Count origin_count, MPI_Datatype origin_datatype, \
              int target_rank, MPI_Aint target_disp, Count target_count,                 \
              MPI_Datatype target_datatype, MPI_Win win) {                               \
    Entry entry(Call::name);                                                             \
    return api::Put(entry, MOVED, Form::kPlain, nullptr);                                \
  }
PUT(MPI_Put, int)
PROFILED(MPI_Put);
PUT(MPI_Put_c, MPI_Count)
PROFILED(MPI_Put_c);

#define GET(name, Count)                                                           \
  int P##name(void* origin_addr, Count origin_count, MPI_Datatype origin_datatype, \
              int target_rank, MPI_Aint target_disp, Count target_count,           \
              MPI_Datatype target_datatype, MPI_Win win) {                         \
    Entry entry(Call::name);                                                       \
    return api::Get(entry, MOVED, Form::kPlain, nullptr);                          \
  }
GET(MPI_Get, int)
PROFILED(MPI_Get);
GET(MPI_Get_c, MPI_Count)
PROFILED(MPI_Get_c);

#define RPUT(name, Count)                                                                \
  int P##name(const void* origin_addr, Count origin_count, MPI_Datatype origin_datatype, \
              int target_rank, MPI_Aint target_disp, Count target_count,                 \
              MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request) {         \
    Entry entry(Call::name);                                                             \
    return api::Put(entry, MOVED, Form::kRequest, request);                              \
  }
RPUT(MPI_Rput, int)
PROFILED(MPI_Rput);
RPUT(MPI_Rput_c, MPI_Count)
PROFILED(MPI_Rput_c);

#define RGET(name, Count)                                                          \
  int P##name(void* origin_addr, Count origin_count, MPI_Datatype origin_datatype, \
              int target_rank, MPI_Aint target_disp, Count target_count,           \
              MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request) {   \
    Entry entry(Call::name);                                                       \
    return api::Get(entry, MOVED, Form::kRequest, request);                        \
  }
RGET(MPI_Rget, int)
PROFILED(MPI_Rget);
RGET(MPI_Rget_c, MPI_Count)
PROFILED(MPI_Rget_c);

#define ACCUMULATE(name, Count)                                                          \
  int P##name(const void* origin_addr, Count origin_count, MPI_Datatype origin_datatype, \
              int target_rank, MPI_Aint target_disp, Count target_count,                 \
              MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {                    \
    Entry entry(Call::name);                                                             \
    return api::Accumulate(entry, MOVED, op, nullptr, Form::kPlain, nullptr);            \
  }
ACCUMULATE(MPI_Accumulate, int)
PROFILED(MPI_Accumulate);
ACCUMULATE(MPI_Accumulate_c, MPI_Count)
PROFILED(MPI_Accumulate_c);

#define RACCUMULATE(name, Count)                                                            \
  int P##name(const void* origin_addr, Count origin_count, MPI_Datatype origin_datatype,    \
              int target_rank, MPI_Aint target_disp, Count target_count,                    \
              MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request) { \
    Entry entry(Call::name);                                                                \
    return api::Accumulate(entry, MOVED, op, nullptr, Form::kRequest, request);             \
  }
RACCUMULATE(MPI_Raccumulate, int)
PROFILED(MPI_Raccumulate);
RACCUMULATE(MPI_Raccumulate_c, MPI_Count)
PROFILED(MPI_Raccumulate_c);

#define RESULT \
  { result_addr, result_count, result_datatype, 0, 0, 0, nullptr, nullptr }

#define GET_ACCUMULATE(name, Count)                                                      \
  int P##name(const void* origin_addr, Count origin_count, MPI_Datatype origin_datatype, \
              void* result_addr, Count result_count, MPI_Datatype result_datatype,       \
              int target_rank, MPI_Aint target_disp, Count target_count,                 \
              MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {                    \
    Entry entry(Call::name);                                                             \
    const api::Moved result RESULT;                                                      \
    return api::Accumulate(entry, MOVED, op, &result, Form::kPlain, nullptr);            \
  }
GET_ACCUMULATE(MPI_Get_accumulate, int)
PROFILED(MPI_Get_accumulate);
GET_ACCUMULATE(MPI_Get_accumulate_c, MPI_Count)
PROFILED(MPI_Get_accumulate_c);

#define RGET_ACCUMULATE(name, Count)                                                        \
  int P##name(const void* origin_addr, Count origin_count, MPI_Datatype origin_datatype,    \
              void* result_addr, Count result_count, MPI_Datatype result_datatype,          \
              int target_rank, MPI_Aint target_disp, Count target_count,                    \
              MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request) { \
    Entry entry(Call::name);                                                                \
    const api::Moved result RESULT;                                                         \
    return api::Accumulate(entry, MOVED, op, &result, Form::kRequest, request);             \
  }
RGET_ACCUMULATE(MPI_Rget_accumulate, int)
PROFILED(MPI_Rget_accumulate);
RGET_ACCUMULATE(MPI_Rget_accumulate_c, MPI_Count)
PROFILED(MPI_Rget_accumulate_c);

int PMPI_Fetch_and_op(const void* origin_addr, void* result_addr, MPI_Datatype datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win) {
  Entry entry(Call::MPI_Fetch_and_op);
  const auto* type = lamina::datatype::FindDatatype(datatype);
  lamina::core::Win* found = lamina::core::FindWin(win);
  REQUIRE_OF_WIN(found == nullptr || type == nullptr || type->predefined, found, MPI_ERR_TYPE,
                 "the datatype is not a predefined one");
  const api::Moved result{result_addr, 1, datatype, 0, 0, 0, nullptr, nullptr};
  return api::Accumulate(entry,
                         {origin_addr, 1, datatype, target_rank, target_disp, 1, datatype, win}, op,
                         &result, Form::kPlain, nullptr);
}
PROFILED(MPI_Fetch_and_op);

int PMPI_Compare_and_swap(const void* origin_addr, const void* compare_addr, void* result_addr,
                          MPI_Datatype datatype, int target_rank, MPI_Aint target_disp,
                          MPI_Win win) {
  Entry entry(Call::MPI_Compare_and_swap);
  api::Access access;
  if (const int error = api::FindAccess(
          entry, Form::kPlain,
          {origin_addr, 1, datatype, target_rank, target_disp, 1, datatype, win}, &access);
      error != MPI_SUCCESS)
    return error;
  const auto& type = *access.goal.type;
  REQUIRE_OF_WIN(api::IsComparable(type), access.win, MPI_ERR_TYPE,
                 "the datatype is not an integer, a logical, or a byte");
  for (const void* const address :
       {origin_addr, compare_addr, static_cast<const void*>(result_addr)})
    REQUIRE_OF_WIN(!api::IsNoMemory(address), access.win, MPI_ERR_BUFFER,
                   "a buffer is a null pointer or MPI_IN_PLACE");
  return api::Carry(
      entry, access, nullptr, [&](lamina::rma::Window* window, lamina::core::Request*) {
        return window->CompareAndSwap(access.goal, {compare_addr, origin_addr, result_addr,
                                                    static_cast<std::size_t>(type.size)});
      });
}
PROFILED(MPI_Compare_and_swap);
