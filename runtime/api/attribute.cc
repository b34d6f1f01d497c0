// SPDX-License-Identifier: BSD-3-Clause
// These are attributes of communicators, datatypes and windows (MPI-5.0, sections 7.7, 9.1.2 and
// 12.2.6).
#include <cstring>

#include "runtime/api/arguments.h"
#include "runtime/api/message_arguments.h"
#include "runtime/api/window_arguments.h"
#include "runtime/datatype/definition.h"

using lamina::Call;
using lamina::api::Entry;
using lamina::core::Comm;
using lamina::core::FindComm;
using lamina::core::FindWin;
using lamina::core::Holder;
using lamina::core::Win;
using lamina::datatype::Datatype;
using lamina::datatype::FindDatatype;

namespace core = lamina::core;

namespace {

// Finds the predefined attributes of every communicator of the world model; a communicator of a
// session has MPI_TAG_UB alone. Their value is a pointer to an int, which is why they are kept
// here. Returns null if `keyval` is none of them or has no value.
int* FindPredefined(const Comm& comm, int keyval, bool* is_predefined) {
  struct Values {
    int tag_max, host, io, clock_is_global, universe_size, app, last_used_code;
  };
  static Values values;
  const lamina::bootstrap::Identity& identity = core::process->identity;
  const auto give = [](int* where, int value) {
    *where = value;
    return where;
  };
  *is_predefined = true;
  // Nobody knows how many processes there may be beside one that was started by itself.
  const bool is_alone = core::process->bootstrap == nullptr;
  if (is_alone && (keyval == MPI_UNIVERSE_SIZE || keyval == MPI_APPNUM)) return nullptr;
  if (comm.group->session != nullptr && keyval > MPI_TAG_UB && keyval <= MPI_UNIVERSE_SIZE)
    return nullptr;
  switch (keyval) {
    case MPI_TAG_UB:
      return give(&values.tag_max, lamina::api::kTagMax);
    case MPI_HOST:
      return give(&values.host, MPI_PROC_NULL);
    case MPI_IO:
      return give(&values.io, MPI_ANY_SOURCE);
    case MPI_WTIME_IS_GLOBAL:
      return give(&values.clock_is_global, identity.local_peers.size() == identity.job_ranks);
    case MPI_UNIVERSE_SIZE:
      return give(&values.universe_size, static_cast<int>(identity.universe_ranks));
    case MPI_APPNUM:
      return give(&values.app, static_cast<int>(identity.app));
    case MPI_LASTUSEDCODE:
      return give(&values.last_used_code, core::LastUsedErrorCode());
    default:
      *is_predefined = false;
      return nullptr;
  }
}

int RaiseKeyval(const Entry& entry, Comm* comm, int keyval, int error) {
  if (error == MPI_ERR_KEYVAL)
    return core::Raise(comm, error, entry.name(),
                       "keyval is %d, which is not a keyval for this kind of object", keyval);
  return core::Raise(comm, error, entry.name(), "the delete function of keyval %d returned %d",
                     keyval, error);
}

template <class Copy, class Delete>
int CreateKeyval(const Entry& entry, Holder holder, Copy* copy, Delete* remove, int* keyval,
                 void* extra) {
  REQUIRE_POINTER(nullptr, keyval);
  return core::CreateKeyval(holder, reinterpret_cast<void (*)()>(copy),
                            reinterpret_cast<void (*)()>(remove), extra, keyval);
}

int FreeKeyval(const Entry& entry, Holder holder, int* keyval) {
  REQUIRE_POINTER(nullptr, keyval);
  const int error = core::FreeKeyval(holder, keyval);
  return error == MPI_SUCCESS ? error : RaiseKeyval(entry, nullptr, *keyval, error);
}

// Hands out `value` through the user's void*, which points to a pointer.
void Store(void* value, void* attribute_val) { std::memcpy(attribute_val, &value, sizeof value); }

int SetOnComm(const Entry& entry, MPI_Comm comm, int keyval, void* value) {
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  const int error = SetAttribute(Holder::kComm, comm, &found->attributes, keyval, value);
  return error == MPI_SUCCESS ? error : RaiseKeyval(entry, found, keyval, error);
}

int GetFromComm(const Entry& entry, MPI_Comm comm, int keyval, void* attribute_val, int* flag) {
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  REQUIRE_POINTER(found, attribute_val);
  REQUIRE_POINTER(found, flag);
  bool present = false;
  void* value = FindPredefined(*found, keyval, &present);
  if (present) {
    present = value != nullptr;
  } else {
    const int error = GetAttribute(Holder::kComm, found->attributes, keyval, &value, &present);
    if (error != MPI_SUCCESS) return RaiseKeyval(entry, found, keyval, error);
  }
  *flag = present;
  if (present) Store(value, attribute_val);
  return MPI_SUCCESS;
}

int DeleteFromComm(const Entry& entry, MPI_Comm comm, int keyval) {
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  const int error = DeleteAttribute(Holder::kComm, comm, &found->attributes, keyval);
  return error == MPI_SUCCESS ? error : RaiseKeyval(entry, found, keyval, error);
}

}  // namespace

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function* comm_copy_attr_fn,
                            MPI_Comm_delete_attr_function* comm_delete_attr_fn, int* comm_keyval,
                            void* extra_state) {
  Entry entry(Call::MPI_Comm_create_keyval);
  REQUIRE_INITIALIZED(entry);
  return CreateKeyval(entry, Holder::kComm, comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval,
                      extra_state);
}
PROFILED(MPI_Comm_create_keyval);

int PMPI_Keyval_create(MPI_Copy_function* copy_fn, MPI_Delete_function* delete_fn, int* keyval,
                       void* extra_state) {
  Entry entry(Call::MPI_Keyval_create);
  REQUIRE_INITIALIZED(entry);
  return CreateKeyval(entry, Holder::kComm, copy_fn, delete_fn, keyval, extra_state);
}
PROFILED(MPI_Keyval_create);

int PMPI_Comm_free_keyval(int* comm_keyval) {
  Entry entry(Call::MPI_Comm_free_keyval);
  REQUIRE_INITIALIZED(entry);
  return FreeKeyval(entry, Holder::kComm, comm_keyval);
}
PROFILED(MPI_Comm_free_keyval);

int PMPI_Keyval_free(int* keyval) {
  Entry entry(Call::MPI_Keyval_free);
  REQUIRE_INITIALIZED(entry);
  return FreeKeyval(entry, Holder::kComm, keyval);
}
PROFILED(MPI_Keyval_free);

int PMPI_Comm_set_attr(MPI_Comm comm, int comm_keyval, void* attribute_val) {
  Entry entry(Call::MPI_Comm_set_attr);
  return SetOnComm(entry, comm, comm_keyval, attribute_val);
}
PROFILED(MPI_Comm_set_attr);

int PMPI_Attr_put(MPI_Comm comm, int keyval, void* attribute_val) {
  Entry entry(Call::MPI_Attr_put);
  return SetOnComm(entry, comm, keyval, attribute_val);
}
PROFILED(MPI_Attr_put);

int PMPI_Comm_get_attr(MPI_Comm comm, int comm_keyval, void* attribute_val, int* flag) {
  Entry entry(Call::MPI_Comm_get_attr);
  return GetFromComm(entry, comm, comm_keyval, attribute_val, flag);
}
PROFILED(MPI_Comm_get_attr);

int PMPI_Attr_get(MPI_Comm comm, int keyval, void* attribute_val, int* flag) {
  Entry entry(Call::MPI_Attr_get);
  return GetFromComm(entry, comm, keyval, attribute_val, flag);
}
PROFILED(MPI_Attr_get);

int PMPI_Comm_delete_attr(MPI_Comm comm, int comm_keyval) {
  Entry entry(Call::MPI_Comm_delete_attr);
  return DeleteFromComm(entry, comm, comm_keyval);
}
PROFILED(MPI_Comm_delete_attr);

int PMPI_Attr_delete(MPI_Comm comm, int keyval) {
  Entry entry(Call::MPI_Attr_delete);
  return DeleteFromComm(entry, comm, keyval);
}
PROFILED(MPI_Attr_delete);

int PMPI_Type_create_keyval(MPI_Type_copy_attr_function* type_copy_attr_fn,
                            MPI_Type_delete_attr_function* type_delete_attr_fn, int* type_keyval,
                            void* extra_state) {
  Entry entry(Call::MPI_Type_create_keyval);
  REQUIRE_INITIALIZED(entry);
  return CreateKeyval(entry, Holder::kDatatype, type_copy_attr_fn, type_delete_attr_fn, type_keyval,
                      extra_state);
}
PROFILED(MPI_Type_create_keyval);

int PMPI_Type_free_keyval(int* type_keyval) {
  Entry entry(Call::MPI_Type_free_keyval);
  REQUIRE_INITIALIZED(entry);
  return FreeKeyval(entry, Holder::kDatatype, type_keyval);
}
PROFILED(MPI_Type_free_keyval);

int PMPI_Type_set_attr(MPI_Datatype datatype, int type_keyval, void* attribute_val) {
  Entry entry(Call::MPI_Type_set_attr);
  REQUIRE_INITIALIZED(entry);
  Datatype* found = FindDatatype(datatype);
  if (found == nullptr) return BadDatatype(entry, datatype);
  const int error = SetAttribute(Holder::kDatatype, datatype, &ExtrasOf(found).attributes,
                                 type_keyval, attribute_val);
  return error == MPI_SUCCESS ? error : RaiseKeyval(entry, nullptr, type_keyval, error);
}
PROFILED(MPI_Type_set_attr);

int PMPI_Type_get_attr(MPI_Datatype datatype, int type_keyval, void* attribute_val, int* flag) {
  Entry entry(Call::MPI_Type_get_attr);
  REQUIRE_INITIALIZED(entry);
  Datatype* found = FindDatatype(datatype);
  if (found == nullptr) return BadDatatype(entry, datatype);
  REQUIRE_POINTER(nullptr, attribute_val);
  REQUIRE_POINTER(nullptr, flag);
  bool present = false;
  void* value = nullptr;
  const int error =
      GetAttribute(Holder::kDatatype, ExtrasOf(found).attributes, type_keyval, &value, &present);
  if (error != MPI_SUCCESS) return RaiseKeyval(entry, nullptr, type_keyval, error);
  *flag = present;
  if (present) Store(value, attribute_val);
  return MPI_SUCCESS;
}
PROFILED(MPI_Type_get_attr);

int PMPI_Type_delete_attr(MPI_Datatype datatype, int type_keyval) {
  Entry entry(Call::MPI_Type_delete_attr);
  REQUIRE_INITIALIZED(entry);
  Datatype* found = FindDatatype(datatype);
  if (found == nullptr) return BadDatatype(entry, datatype);
  const int error =
      DeleteAttribute(Holder::kDatatype, datatype, &ExtrasOf(found).attributes, type_keyval);
  return error == MPI_SUCCESS ? error : RaiseKeyval(entry, nullptr, type_keyval, error);
}
PROFILED(MPI_Type_delete_attr);

namespace {

int RaiseKeyvalOfWin(const Entry& entry, Win* win, int keyval, int error) {
  if (error == MPI_ERR_KEYVAL)
    return core::RaiseOn(win, error, entry.name(),
                         "keyval is %d, which is not a keyval for windows", keyval);
  return core::RaiseOn(win, error, entry.name(), "the delete function of keyval %d returned %d",
                       keyval, error);
}

// Finds the predefined attributes of a window: what the caller is given is a pointer to the value,
// or the base itself. Returns false if `keyval` is none of them.
bool FindPredefined(Win* win, int keyval, void** value) {
  switch (keyval) {
    case MPI_WIN_BASE:
      *value = win->base;
      return true;
    case MPI_WIN_SIZE:
      *value = &win->size;
      return true;
    case MPI_WIN_DISP_UNIT:
      *value = &win->narrow_disp_unit;
      return true;
    case MPI_WIN_CREATE_FLAVOR:
      *value = &win->flavor;
      return true;
    case MPI_WIN_MODEL:
      *value = &win->model;
      return true;
    default:
      return false;
  }
}

}  // namespace

int PMPI_Win_create_keyval(MPI_Win_copy_attr_function* win_copy_attr_fn,
                           MPI_Win_delete_attr_function* win_delete_attr_fn, int* win_keyval,
                           void* extra_state) {
  Entry entry(Call::MPI_Win_create_keyval);
  REQUIRE_INITIALIZED(entry);
  return CreateKeyval(entry, Holder::kWin, win_copy_attr_fn, win_delete_attr_fn, win_keyval,
                      extra_state);
}
PROFILED(MPI_Win_create_keyval);

int PMPI_Win_free_keyval(int* win_keyval) {
  Entry entry(Call::MPI_Win_free_keyval);
  REQUIRE_INITIALIZED(entry);
  return FreeKeyval(entry, Holder::kWin, win_keyval);
}
PROFILED(MPI_Win_free_keyval);

int PMPI_Win_set_attr(MPI_Win win, int win_keyval, void* attribute_val) {
  Entry entry(Call::MPI_Win_set_attr);
  REQUIRE_INITIALIZED(entry);
  Win* found = FindWin(win);
  if (found == nullptr) return BadWin(entry, win);
  const int error = SetAttribute(Holder::kWin, win, &found->attributes, win_keyval, attribute_val);
  return error == MPI_SUCCESS ? error : RaiseKeyvalOfWin(entry, found, win_keyval, error);
}
PROFILED(MPI_Win_set_attr);

int PMPI_Win_get_attr(MPI_Win win, int win_keyval, void* attribute_val, int* flag) {
  Entry entry(Call::MPI_Win_get_attr);
  REQUIRE_INITIALIZED(entry);
  Win* found = FindWin(win);
  if (found == nullptr) return BadWin(entry, win);
  REQUIRE_OF_WIN(attribute_val != nullptr && flag != nullptr, found, MPI_ERR_ARG,
                 "attribute_val or flag is a null pointer");
  void* value = nullptr;
  bool present = FindPredefined(found, win_keyval, &value);
  if (!present) {
    const int error = GetAttribute(Holder::kWin, found->attributes, win_keyval, &value, &present);
    if (error != MPI_SUCCESS) return RaiseKeyvalOfWin(entry, found, win_keyval, error);
  }
  *flag = present;
  if (present) Store(value, attribute_val);
  return MPI_SUCCESS;
}
PROFILED(MPI_Win_get_attr);

int PMPI_Win_delete_attr(MPI_Win win, int win_keyval) {
  Entry entry(Call::MPI_Win_delete_attr);
  REQUIRE_INITIALIZED(entry);
  Win* found = FindWin(win);
  if (found == nullptr) return BadWin(entry, win);
  const int error = DeleteAttribute(Holder::kWin, win, &found->attributes, win_keyval);
  return error == MPI_SUCCESS ? error : RaiseKeyvalOfWin(entry, found, win_keyval, error);
}
PROFILED(MPI_Win_delete_attr);
