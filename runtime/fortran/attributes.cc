// SPDX-License-Identifier: BSD-3-Clause
// These are attributes and the procedures that copy and delete them (MPI-5.0, sections 7.7 and
// 19.3.7).
#include <cstring>
#include <mutex>
#include <unordered_set>

#include "runtime/fortran/publish.h"

using lamina::fortran::Return;

namespace {

int ToInt(MPI_Comm handle) { return PMPI_Comm_toint(handle); }
int ToInt(MPI_Datatype handle) { return PMPI_Type_toint(handle); }
int ToInt(MPI_Win handle) { return PMPI_Win_toint(handle); }
MPI_Comm FromInt(MPI_Comm, int number) { return PMPI_Comm_fromint(number); }
MPI_Datatype FromInt(MPI_Datatype, int number) { return PMPI_Type_fromint(number); }
MPI_Win FromInt(MPI_Win, int number) { return PMPI_Win_fromint(number); }

// Fortran's attributes are integers, C's are pointers. An attribute that Fortran sets lives in a
// cell, and C finds the address of that integer; one that C set is to Fortran the pointer's value.
class Cells {
 public:
  void* New(MPI_Aint value) {
    const std::lock_guard guard(lock_);
    return *cells_.insert(new MPI_Aint(value)).first;
  }
  bool Has(void* pointer) {
    const std::lock_guard guard(lock_);
    return cells_.count(static_cast<MPI_Aint*>(pointer)) != 0;
  }
  MPI_Aint Value(void* pointer) {
    return Has(pointer) ? *static_cast<MPI_Aint*>(pointer) : reinterpret_cast<MPI_Aint>(pointer);
  }
  void Drop(void* pointer) {
    const std::lock_guard guard(lock_);
    if (cells_.erase(static_cast<MPI_Aint*>(pointer)) != 0) delete static_cast<MPI_Aint*>(pointer);
  }

 private:
  std::mutex lock_;
  std::unordered_set<MPI_Aint*> cells_;
};

Cells& TheCells() {
  static Cells* const cells = new Cells;
  return *cells;
}

// This is the extra_state of a keyval made in Fortran. It lives as long as the program, since
// attributes may outlive the keyval's MPI_Comm_free_keyval.
struct Keyval {
  Procedure copy, remove;
  MPI_Aint extra_state;
  bool small;  // MPI_KEYVAL_CREATE: values are INTEGERs
};

MPI_Aint Read(const Keyval& keyval, MPI_Aint& value) {
  if (!keyval.small) return value;
  MPI_Fint small;
  std::memcpy(&small, &value, sizeof small);
  return small;
}

template <class Handle>
int Copy(Handle object, int number, void* extra_state, void* in, void* out, int* flag) {
  const Keyval& keyval = *static_cast<Keyval*>(extra_state);
  MPI_Fint handle = ToInt(object);
  MPI_Aint state = keyval.extra_state;
  MPI_Aint value_in = TheCells().Value(in);
  MPI_Aint value_out = 0;
  MPI_Fint error = MPI_SUCCESS;
  *flag = 0;
  reinterpret_cast<void (*)(MPI_Fint*, MPI_Fint*, MPI_Aint*, MPI_Aint*, MPI_Aint*, MPI_Fint*,
                            MPI_Fint*)>(keyval.copy)(&handle, &number, &state, &value_in,
                                                     &value_out, flag, &error);
  if (error != MPI_SUCCESS || *flag == 0) return error;
  const MPI_Aint value = Read(keyval, value_out);
  void* copied = value == value_in && !TheCells().Has(in) ? in : TheCells().New(value);
  std::memcpy(out, &copied, sizeof copied);
  return MPI_SUCCESS;
}

template <class Handle>
int Delete(Handle object, int number, void* attribute, void* extra_state) {
  const Keyval& keyval = *static_cast<Keyval*>(extra_state);
  MPI_Fint handle = ToInt(object);
  MPI_Aint state = keyval.extra_state;
  MPI_Aint value = TheCells().Value(attribute);
  MPI_Fint error = MPI_SUCCESS;
  reinterpret_cast<void (*)(MPI_Fint*, MPI_Fint*, MPI_Aint*, MPI_Aint*, MPI_Fint*)>(keyval.remove)(
      &handle, &number, &value, &state, &error);
  if (error == MPI_SUCCESS) TheCells().Drop(attribute);
  return error;
}

template <class Handle, class Create>
void CreateKeyval(Create* create, Procedure copy, Procedure remove, MPI_Fint* number,
                  MPI_Aint* extra_state, MPI_Fint* ierror) {
  Keyval* keyval = new Keyval{copy, remove, *extra_state, false};
  const int error = create(Copy<Handle>, Delete<Handle>, number, keyval);
  if (error != MPI_SUCCESS) delete keyval;
  Return(ierror, error);
}

template <class Create>
void CreateSmallKeyval(Create* create, Procedure copy, Procedure remove, MPI_Fint* number,
                       MPI_Fint* extra_state, MPI_Fint* ierror) {
  Keyval* keyval = new Keyval{copy, remove, *extra_state, true};
  const int error = create(Copy<MPI_Comm>, Delete<MPI_Comm>, number, keyval);
  if (error != MPI_SUCCESS) delete keyval;
  Return(ierror, error);
}

template <class Handle, class Value, class Set>
void SetAttribute(Set* set, MPI_Fint* object, MPI_Fint* keyval, Value* value, MPI_Fint* ierror) {
  void* cell = TheCells().New(*value);
  const int error = set(FromInt(Handle{}, *object), *keyval, cell);
  if (error != MPI_SUCCESS) TheCells().Drop(cell);
  Return(ierror, error);
}

// Predefined attributes are pointers to integers in C, except the window's base.
MPI_Aint AttributeInFortran(int keyval, void* attribute) {
  if (keyval == MPI_WIN_SIZE) return *static_cast<MPI_Aint*>(attribute);
  const bool number = (keyval >= MPI_TAG_UB && keyval <= MPI_UNIVERSE_SIZE) ||
                      keyval == MPI_WIN_DISP_UNIT || keyval == MPI_WIN_CREATE_FLAVOR ||
                      keyval == MPI_WIN_MODEL;
  return number ? *static_cast<int*>(attribute) : TheCells().Value(attribute);
}

template <class Handle, class Value, class Get>
void GetAttribute(Get* get, MPI_Fint* object, MPI_Fint* keyval, Value* value, MPI_Fint* flag,
                  MPI_Fint* ierror) {
  void* attribute = nullptr;
  const int error = get(FromInt(Handle{}, *object), *keyval, &attribute, flag);
  if (error == MPI_SUCCESS && *flag != 0)
    *value = static_cast<Value>(AttributeInFortran(*keyval, attribute));
  Return(ierror, error);
}

}  // namespace

#define PUBLISH_ATTRIBUTES(name, c_name, Handle)                                                  \
  PUBLISH(                                                                                        \
      name##_create_keyval, c_name##_create_keyval, CreateKeyval<Handle>,                         \
      (Procedure copy, Procedure remove, MPI_Fint * keyval, MPI_Aint * state, MPI_Fint * ierror), \
      (copy, remove, keyval, state, ierror))                                                      \
  PUBLISH(name##_set_attr, c_name##_set_attr, SetAttribute<Handle>,                               \
          (MPI_Fint * object, MPI_Fint * keyval, MPI_Aint * value, MPI_Fint * ierror),            \
          (object, keyval, value, ierror))                                                        \
  PUBLISH(name##_get_attr, c_name##_get_attr, GetAttribute<Handle>,                               \
          (MPI_Fint * object, MPI_Fint * keyval, MPI_Aint * value, MPI_Fint * flag,               \
           MPI_Fint * ierror),                                                                    \
          (object, keyval, value, flag, ierror))                                                  \
  PUBLISH_F08(name##_create_keyval);                                                              \
  PUBLISH_F08(name##_set_attr);                                                                   \
  PUBLISH_F08(name##_get_attr)

PUBLISH_ATTRIBUTES(comm, Comm, MPI_Comm);
PUBLISH_ATTRIBUTES(type, Type, MPI_Datatype);
PUBLISH_ATTRIBUTES(win, Win, MPI_Win);

PUBLISH(keyval_create, Comm_create_keyval, CreateSmallKeyval,
        (Procedure copy, Procedure remove, MPI_Fint* keyval, MPI_Fint* state, MPI_Fint* ierror),
        (copy, remove, keyval, state, ierror))
PUBLISH(attr_put, Comm_set_attr, SetAttribute<MPI_Comm>,
        (MPI_Fint * comm, MPI_Fint* keyval, MPI_Fint* value, MPI_Fint* ierror),
        (comm, keyval, value, ierror))
PUBLISH(attr_get, Comm_get_attr, GetAttribute<MPI_Comm>,
        (MPI_Fint * comm, MPI_Fint* keyval, MPI_Fint* value, MPI_Fint* flag, MPI_Fint* ierror),
        (comm, keyval, value, flag, ierror))

namespace {

template <class Value>
void CopyNothing(MPI_Fint*, MPI_Fint*, Value*, Value*, Value*, MPI_Fint* flag, MPI_Fint* ierror) {
  *flag = 0;
  *ierror = MPI_SUCCESS;
}

template <class Value>
void CopySame(MPI_Fint*, MPI_Fint*, Value*, Value* in, Value* out, MPI_Fint* flag,
              MPI_Fint* ierror) {
  *out = *in;
  *flag = 1;
  *ierror = MPI_SUCCESS;
}

}  // namespace

// The predefined callbacks (MPI-5.0, section 7.7) are procedures like the user's.
#define PREDEFINED(name, Value)                                                                  \
  FORTRAN mpi_##name##null_copy_fn_(MPI_Fint* object, MPI_Fint* keyval, Value* state, Value* in, \
                                    Value* out, MPI_Fint* flag, MPI_Fint* ierror) {              \
    CopyNothing(object, keyval, state, in, out, flag, ierror);                                   \
  }                                                                                              \
  FORTRAN mpi_##name##dup_fn_(MPI_Fint* object, MPI_Fint* keyval, Value* state, Value* in,       \
                              Value* out, MPI_Fint* flag, MPI_Fint* ierror) {                    \
    CopySame(object, keyval, state, in, out, flag, ierror);                                      \
  }                                                                                              \
  FORTRAN mpi_##name##null_delete_fn_(MPI_Fint*, MPI_Fint*, Value*, Value*, MPI_Fint* ierror) {  \
    *ierror = MPI_SUCCESS;                                                                       \
  }
PREDEFINED(comm_, MPI_Aint)
PREDEFINED(type_, MPI_Aint)
PREDEFINED(win_, MPI_Aint)
PREDEFINED(, MPI_Fint)
