// SPDX-License-Identifier: BSD-3-Clause
// These are procedures that only Fortran has, names that MPI-3.0 removed but old programs still
// call, and what the library is told about this Fortran.
#include "runtime/fortran/convert.h"
#include "runtime/fortran/section.h"

using lamina::fortran::Buffer;
using lamina::fortran::Handles;
using lamina::fortran::Return;

// This is for the compiler alone, which cannot know that nothing happens here (MPI-5.0, section
// 19.1.17).
FORTRAN mpi_f_sync_reg_(void*) {}
FORTRAN mpi_f_sync_reg_f08ts_(ChoiceBuffer*) {}
FORTRAN pmpi_f_sync_reg_(void*) {}
FORTRAN pmpi_f_sync_reg_f08ts_(ChoiceBuffer*) {}

// The descriptor knows the size of any type (section 19.1.10).
FORTRAN mpi_sizeof_f08ts_(ChoiceBuffer* x, MPI_Fint* size, MPI_Fint* ierror) {
  *size = static_cast<MPI_Fint>(x->element_bytes);
  Return(ierror, MPI_SUCCESS);
}
ALIAS(pmpi_sizeof_f08ts_, mpi_sizeof_f08ts_);

FORTRAN mpi_pcontrol_(MPI_Fint* level) { MPI_Pcontrol(*level); }
FORTRAN pmpi_pcontrol_(MPI_Fint* level) { PMPI_Pcontrol(*level); }
ALIAS(mpi_pcontrol_f08_, mpi_pcontrol_);
ALIAS(pmpi_pcontrol_f08_, pmpi_pcontrol_);

// The two forms of a status differ in type and not in layout (section 19.3.5).
FORTRAN mpi_status_f2f08_(MPI_Fint* f_status, MPI_F08_status* f08_status, MPI_Fint* ierror) {
  Return(ierror, MPI_Status_f2f08(f_status, f08_status));
}
FORTRAN mpi_status_f082f_(MPI_F08_status* f08_status, MPI_Fint* f_status, MPI_Fint* ierror) {
  Return(ierror, MPI_Status_f082f(f08_status, f_status));
}
ALIAS(pmpi_status_f2f08_, mpi_status_f2f08_);
ALIAS(pmpi_status_f082f_, mpi_status_f082f_);

// MPI-1's addresses are INTEGERs; what does not fit is an error, as it always was.
FORTRAN mpi_address_(void* location, MPI_Fint* address, MPI_Fint* ierror) {
  MPI_Aint whole = 0;
  int error = MPI_Get_address(Buffer(location), &whole);
  if (error == MPI_SUCCESS && whole != static_cast<MPI_Fint>(whole)) {
    PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_ARG);
    error = MPI_ERR_ARG;
  }
  if (error == MPI_SUCCESS) *address = static_cast<MPI_Fint>(whole);
  Return(ierror, error);
}

FORTRAN mpi_type_hvector_(MPI_Fint* count, MPI_Fint* blocklength, MPI_Fint* stride,
                          MPI_Fint* oldtype, MPI_Fint* newtype, MPI_Fint* ierror) {
  MPI_Datatype made{};
  const int error =
      MPI_Type_create_hvector(*count, *blocklength, *stride, PMPI_Type_fromint(*oldtype), &made);
  if (error == MPI_SUCCESS) *newtype = PMPI_Type_toint(made);
  Return(ierror, error);
}

FORTRAN mpi_type_hindexed_(MPI_Fint* count, MPI_Fint* lengths, MPI_Fint* displacements,
                           MPI_Fint* oldtype, MPI_Fint* newtype, MPI_Fint* ierror) {
  const std::vector<MPI_Aint> wide(displacements, displacements + std::max(*count, 0));
  MPI_Datatype made{};
  const int error =
      MPI_Type_create_hindexed(*count, lengths, wide.data(), PMPI_Type_fromint(*oldtype), &made);
  if (error == MPI_SUCCESS) *newtype = PMPI_Type_toint(made);
  Return(ierror, error);
}

FORTRAN mpi_type_struct_(MPI_Fint* count, MPI_Fint* lengths, MPI_Fint* displacements,
                         MPI_Fint* types, MPI_Fint* newtype, MPI_Fint* ierror) {
  const std::vector<MPI_Aint> wide(displacements, displacements + std::max(*count, 0));
  Handles<MPI_Datatype> c_types(types, *count);
  MPI_Datatype made{};
  const int error = MPI_Type_create_struct(*count, lengths, wide.data(), c_types.data(), &made);
  if (error == MPI_SUCCESS) *newtype = PMPI_Type_toint(made);
  Return(ierror, error);
}

FORTRAN mpi_type_extent_(MPI_Fint* datatype, MPI_Fint* extent, MPI_Fint* ierror) {
  MPI_Aint lower = 0;
  MPI_Aint whole = 0;
  const int error = MPI_Type_get_extent(PMPI_Type_fromint(*datatype), &lower, &whole);
  if (error == MPI_SUCCESS) *extent = static_cast<MPI_Fint>(whole);
  Return(ierror, error);
}

FORTRAN mpi_type_lb_(MPI_Fint* datatype, MPI_Fint* displacement, MPI_Fint* ierror) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  const int error = MPI_Type_get_extent(PMPI_Type_fromint(*datatype), &lower, &extent);
  if (error == MPI_SUCCESS) *displacement = static_cast<MPI_Fint>(lower);
  Return(ierror, error);
}

FORTRAN mpi_type_ub_(MPI_Fint* datatype, MPI_Fint* displacement, MPI_Fint* ierror) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  const int error = MPI_Type_get_extent(PMPI_Type_fromint(*datatype), &lower, &extent);
  if (error == MPI_SUCCESS) *displacement = static_cast<MPI_Fint>(lower + extent);
  Return(ierror, error);
}

FORTRAN mpi_errhandler_set_(MPI_Fint* comm, MPI_Fint* errhandler, MPI_Fint* ierror) {
  Return(ierror,
         MPI_Comm_set_errhandler(PMPI_Comm_fromint(*comm), PMPI_Errhandler_fromint(*errhandler)));
}

FORTRAN mpi_errhandler_get_(MPI_Fint* comm, MPI_Fint* errhandler, MPI_Fint* ierror) {
  MPI_Errhandler found{};
  const int error = MPI_Comm_get_errhandler(PMPI_Comm_fromint(*comm), &found);
  if (error == MPI_SUCCESS) *errhandler = PMPI_Errhandler_toint(found);
  Return(ierror, error);
}

ALIAS(pmpi_address_, mpi_address_);
ALIAS(pmpi_type_hvector_, mpi_type_hvector_);
ALIAS(pmpi_type_hindexed_, mpi_type_hindexed_);
ALIAS(pmpi_type_struct_, mpi_type_struct_);
ALIAS(pmpi_type_extent_, mpi_type_extent_);
ALIAS(pmpi_type_lb_, mpi_type_lb_);
ALIAS(pmpi_type_ub_, mpi_type_ub_);
ALIAS(pmpi_errhandler_set_, mpi_errhandler_set_);
ALIAS(pmpi_errhandler_get_, mpi_errhandler_get_);

namespace lamina::fortran {

// Sizes are those of gfortran and flang without -fdefault-...; what somebody has said before stays.
void Describe() {
  MPI_Info info = MPI_INFO_NULL;
  PMPI_Abi_get_fortran_info(&info);
  if (info == MPI_INFO_NULL) {
    static constexpr const char* kYes = "true";
    static constexpr const char* kFacts[][2] = {
        {"mpi_logical_size", "4"},
        {"mpi_integer_size", "4"},
        {"mpi_real_size", "4"},
        {"mpi_double_precision_size", "8"},
        {"mpi_logical1_supported", kYes},
        {"mpi_logical2_supported", kYes},
        {"mpi_logical4_supported", kYes},
        {"mpi_logical8_supported", kYes},
        {"mpi_logical16_supported", kYes},
        {"mpi_integer1_supported", kYes},
        {"mpi_integer2_supported", kYes},
        {"mpi_integer4_supported", kYes},
        {"mpi_integer8_supported", kYes},
        {"mpi_integer16_supported", kYes},
        {"mpi_real2_supported", "false"},
        {"mpi_real4_supported", kYes},
        {"mpi_real8_supported", kYes},
        {"mpi_real16_supported", kYes},
        {"mpi_complex4_supported", "false"},
        {"mpi_complex8_supported", kYes},
        {"mpi_complex16_supported", kYes},
        {"mpi_complex32_supported", kYes},
        {"mpi_double_complex_supported", kYes},
    };
    PMPI_Info_create(&info);
    for (const auto& [key, value] : kFacts) PMPI_Info_set(info, key, value);
    PMPI_Abi_set_fortran_info(info);
  }
  PMPI_Info_free(&info);
  MPI_Fint yes = 1;
  MPI_Fint no = 0;
  int is_set = 0;
  PMPI_Abi_get_fortran_booleans(sizeof yes, &yes, &no, &is_set);
  if (is_set == 0) PMPI_Abi_set_fortran_booleans(sizeof yes, &yes, &no);
}

}  // namespace lamina::fortran
