// SPDX-License-Identifier: BSD-3-Clause
// These functions are given procedures of Fortran (MPI-5.0, section 19.3.6).
//
// C calls a procedure of Fortran through a function of ours with C's arguments. Where MPI hands an
// extra_state to its callbacks, ours is a record with the procedures and Fortran's own extra_state.
// Reductions and error handlers have none: for them there is a fixed set of functions, each bound
// for ever to the first procedure that needed it.
#include <array>
#include <mutex>
#include <utility>

#include "runtime/fortran/publish.h"

using lamina::fortran::Return;
using lamina::fortran::Text;

namespace {

int ToInt(MPI_Comm handle) { return PMPI_Comm_toint(handle); }
int ToInt(MPI_Datatype handle) { return PMPI_Type_toint(handle); }
int ToInt(MPI_File handle) { return PMPI_File_toint(handle); }
int ToInt(MPI_Session handle) { return PMPI_Session_toint(handle); }
int ToInt(MPI_Win handle) { return PMPI_Win_toint(handle); }

// --- callbacks without extra_state --------------------------------------------------------------

// This is a kind of C callback and, in At<slot>, the functions for it.
template <class Count>
struct Reduction {
  using Function = void(void*, void*, Count*, MPI_Datatype*);
  template <int slot>
  static void At(void* in, void* inout, Count* count, MPI_Datatype* datatype);
};

template <class Handle>
struct ErrorHandler {
  using Function = void(Handle*, int*, ...);
  template <int slot>
  static void At(Handle* object, int* code, ...);
};

// These are the procedures bound to the functions of one kind. A program has no more procedures
// than its source names, so slots are not given back.
template <class Kind>
class Slots {
 public:
  // Returns the function that calls `procedure`, or null when there are more procedures than slots.
  static typename Kind::Function* For(Procedure procedure) {
    const std::lock_guard guard(lock_);
    int slot = 0;
    while (slot < kCount && procedures_[slot] != nullptr && procedures_[slot] != procedure) ++slot;
    if (slot == kCount) return nullptr;
    procedures_[slot] = procedure;
    return kFunctions[slot];
  }
  static Procedure Bound(int slot) { return procedures_[slot]; }

 private:
  static constexpr int kCount = 256;
  template <int... slots>
  static constexpr std::array<typename Kind::Function*, kCount> Functions(
      std::integer_sequence<int, slots...>) {
    return {&Kind::template At<slots>...};
  }
  static constexpr std::array<typename Kind::Function*, kCount> kFunctions =
      Functions(std::make_integer_sequence<int, kCount>());
  static inline std::mutex lock_;
  static inline Procedure procedures_[kCount];
};

template <class Count>
template <int slot>
void Reduction<Count>::At(void* in, void* inout, Count* count, MPI_Datatype* datatype) {
  MPI_Fint number = ToInt(*datatype);
  const auto procedure =
      reinterpret_cast<void (*)(void*, void*, Count*, MPI_Fint*)>(Slots<Reduction>::Bound(slot));
  procedure(in, inout, count, &number);
}

template <class Handle>
template <int slot>
void ErrorHandler<Handle>::At(Handle* object, int* code, ...) {
  MPI_Fint number = ToInt(*object);
  reinterpret_cast<void (*)(MPI_Fint*, int*)>(Slots<ErrorHandler>::Bound(slot))(&number, code);
}

int TooManyProcedures() {
  PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_INTERN);
  return MPI_ERR_INTERN;
}

template <class Count, class Create>
void CreateOp(Create* create, Procedure procedure, MPI_Fint* commute, MPI_Fint* op,
              MPI_Fint* ierror) {
  auto* function = Slots<Reduction<Count>>::For(procedure);
  MPI_Op made{};
  const int error = function != nullptr ? create(function, *commute, &made) : TooManyProcedures();
  if (error == MPI_SUCCESS) *op = PMPI_Op_toint(made);
  Return(ierror, error);
}

template <class Handle, class Create>
void CreateErrorHandler(Create* create, Procedure procedure, MPI_Fint* errhandler,
                        MPI_Fint* ierror) {
  auto* function = Slots<ErrorHandler<Handle>>::For(procedure);
  MPI_Errhandler made{};
  const int error = function != nullptr ? create(function, &made) : TooManyProcedures();
  if (error == MPI_SUCCESS) *errhandler = PMPI_Errhandler_toint(made);
  Return(ierror, error);
}

}  // namespace

PUBLISH(op_create, Op_create, CreateOp<int>,
        (Procedure user_fn, MPI_Fint* commute, MPI_Fint* op, MPI_Fint* ierror),
        (user_fn, commute, op, ierror))
PUBLISH(op_create_c, Op_create_c, CreateOp<MPI_Count>,
        (Procedure user_fn, MPI_Fint* commute, MPI_Fint* op, MPI_Fint* ierror),
        (user_fn, commute, op, ierror))
PUBLISH(comm_create_errhandler, Comm_create_errhandler, CreateErrorHandler<MPI_Comm>,
        (Procedure function, MPI_Fint* errhandler, MPI_Fint* ierror),
        (function, errhandler, ierror))
PUBLISH(file_create_errhandler, File_create_errhandler, CreateErrorHandler<MPI_File>,
        (Procedure function, MPI_Fint* errhandler, MPI_Fint* ierror),
        (function, errhandler, ierror))
PUBLISH(session_create_errhandler, Session_create_errhandler, CreateErrorHandler<MPI_Session>,
        (Procedure function, MPI_Fint* errhandler, MPI_Fint* ierror),
        (function, errhandler, ierror))
PUBLISH(win_create_errhandler, Win_create_errhandler, CreateErrorHandler<MPI_Win>,
        (Procedure function, MPI_Fint* errhandler, MPI_Fint* ierror),
        (function, errhandler, ierror))
PUBLISH(errhandler_create, Comm_create_errhandler, CreateErrorHandler<MPI_Comm>,
        (Procedure function, MPI_Fint* errhandler, MPI_Fint* ierror),
        (function, errhandler, ierror))
PUBLISH_F08(op_create);
PUBLISH_F08(op_create_c);
PUBLISH_F08(comm_create_errhandler);
PUBLISH_F08(file_create_errhandler);
PUBLISH_F08(session_create_errhandler);
PUBLISH_F08(win_create_errhandler);

// --- generalized requests -----------------------------------------------------------------------

namespace {

struct Grequest {
  Procedure query, free, cancel;
  MPI_Aint extra_state;
};

int Query(void* extra_state, MPI_Status* status) {
  Grequest& request = *static_cast<Grequest*>(extra_state);
  MPI_Fint error = MPI_SUCCESS;
  reinterpret_cast<void (*)(MPI_Aint*, MPI_Status*, MPI_Fint*)>(request.query)(&request.extra_state,
                                                                               status, &error);
  return error;
}

int Free(void* extra_state) {
  Grequest* request = static_cast<Grequest*>(extra_state);
  MPI_Fint error = MPI_SUCCESS;
  reinterpret_cast<void (*)(MPI_Aint*, MPI_Fint*)>(request->free)(&request->extra_state, &error);
  delete request;
  return error;
}

int Cancel(void* extra_state, int complete) {
  Grequest& request = *static_cast<Grequest*>(extra_state);
  MPI_Fint error = MPI_SUCCESS;
  reinterpret_cast<void (*)(MPI_Aint*, MPI_Fint*, MPI_Fint*)>(request.cancel)(&request.extra_state,
                                                                              &complete, &error);
  return error;
}

template <class Start>
void StartGrequest(Start* start, Procedure query, Procedure free, Procedure cancel,
                   MPI_Aint* extra_state, MPI_Fint* request, MPI_Fint* ierror) {
  Grequest* state = new Grequest{query, free, cancel, *extra_state};
  MPI_Request made{};
  const int error = start(Query, Free, Cancel, state, &made);
  if (error == MPI_SUCCESS)
    *request = PMPI_Request_toint(made);
  else
    delete state;
  Return(ierror, error);
}

}  // namespace

PUBLISH(grequest_start, Grequest_start, StartGrequest,
        (Procedure query, Procedure free, Procedure cancel, MPI_Aint* extra_state,
         MPI_Fint* request, MPI_Fint* ierror),
        (query, free, cancel, extra_state, request, ierror))
PUBLISH_F08(grequest_start);

// --- data representations -----------------------------------------------------------------------

// These are names for MPI_Register_datarep; they are never called, as C has a null pointer for
// them.
FORTRAN mpi_conversion_fn_null_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Offset*, MPI_Aint*,
                                MPI_Fint*) {}
FORTRAN mpi_conversion_fn_null_c_(void*, MPI_Fint*, MPI_Count*, void*, MPI_Offset*, MPI_Aint*,
                                  MPI_Fint*) {}

namespace {

// Representations cannot be unregistered, so this lives as long as the program.
struct Datarep {
  Procedure read, write, extent;
  MPI_Aint extra_state;
};

bool IsNull(Procedure conversion) {
  return conversion == reinterpret_cast<Procedure>(mpi_conversion_fn_null_) ||
         conversion == reinterpret_cast<Procedure>(mpi_conversion_fn_null_c_);
}

template <class Count, Procedure Datarep::*conversion>
int Convert(void* user, MPI_Datatype datatype, Count count, void* file, MPI_Offset position,
            void* extra_state) {
  Datarep& datarep = *static_cast<Datarep*>(extra_state);
  MPI_Fint type = ToInt(datatype);
  MPI_Fint error = MPI_SUCCESS;
  reinterpret_cast<void (*)(void*, MPI_Fint*, Count*, void*, MPI_Offset*, MPI_Aint*, MPI_Fint*)>(
      datarep.*conversion)(user, &type, &count, file, &position, &datarep.extra_state, &error);
  return error;
}

int Extent(MPI_Datatype datatype, MPI_Aint* extent, void* extra_state) {
  Datarep& datarep = *static_cast<Datarep*>(extra_state);
  MPI_Fint type = ToInt(datatype);
  MPI_Fint error = MPI_SUCCESS;
  reinterpret_cast<void (*)(MPI_Fint*, MPI_Aint*, MPI_Aint*, MPI_Fint*)>(datarep.extent)(
      &type, extent, &datarep.extra_state, &error);
  return error;
}

template <class Count, class Register>
void RegisterDatarep(Register* register_datarep, char* name, Procedure read, Procedure write,
                     Procedure extent, MPI_Aint* extra_state, MPI_Fint* ierror,
                     std::size_t name_length) {
  Datarep* datarep = new Datarep{read, write, extent, *extra_state};
  const int error = register_datarep(
      Text(name, name_length).data(), IsNull(read) ? nullptr : Convert<Count, &Datarep::read>,
      IsNull(write) ? nullptr : Convert<Count, &Datarep::write>, Extent, datarep);
  if (error != MPI_SUCCESS) delete datarep;
  Return(ierror, error);
}

}  // namespace

PUBLISH(register_datarep, Register_datarep, RegisterDatarep<int>,
        (char* name, Procedure read, Procedure write, Procedure extent, MPI_Aint* state,
         MPI_Fint* ierror, std::size_t length),
        (name, read, write, extent, state, ierror, length))
PUBLISH(register_datarep_c, Register_datarep_c, RegisterDatarep<MPI_Count>,
        (char* name, Procedure read, Procedure write, Procedure extent, MPI_Aint* state,
         MPI_Fint* ierror, std::size_t length),
        (name, read, write, extent, state, ierror, length))
PUBLISH_F08(register_datarep);
PUBLISH_F08(register_datarep_c);
