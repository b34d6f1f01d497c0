// SPDX-License-Identifier: BSD-3-Clause
// These MPI functions are not written yet. Each raises MPI_ERR_UNSUPPORTED_OPERATION on
// MPI_COMM_SELF with a text naming itself; delete the line when the function gets a body.
// `runtime/api/status` counts these lines for the table in README.md.
#include "runtime/api/api.h"

using lamina::api::Unsupported;

// The parameters are types without names; a line that differs from mpi.h does not compile.
#define UNSUPPORTED(name, ...)                            \
  int P##name(__VA_ARGS__) { return Unsupported(#name); } \
  PROFILED(name);

// clang-format off

// Environment.

// Groups.

// Communicators.

// Sessions.


// Dynamic processes.
UNSUPPORTED(MPI_Close_port, const char*)
UNSUPPORTED(MPI_Comm_accept, const char*, MPI_Info, int, MPI_Comm, MPI_Comm*)
UNSUPPORTED(MPI_Comm_connect, const char*, MPI_Info, int, MPI_Comm, MPI_Comm*)
UNSUPPORTED(MPI_Comm_join, int, MPI_Comm*)
UNSUPPORTED(MPI_Comm_spawn, const char*, char**, int, MPI_Info, int, MPI_Comm, MPI_Comm*, int*)
UNSUPPORTED(MPI_Comm_spawn_multiple, int, char**, char***, const int*, const MPI_Info*, int, MPI_Comm, MPI_Comm*, int*)
UNSUPPORTED(MPI_Lookup_name, const char*, MPI_Info, char*)
UNSUPPORTED(MPI_Open_port, MPI_Info, char*)
UNSUPPORTED(MPI_Publish_name, const char*, MPI_Info, const char*)
UNSUPPORTED(MPI_Unpublish_name, const char*, MPI_Info, const char*)

// Files.
UNSUPPORTED(MPI_File_close, MPI_File*)
UNSUPPORTED(MPI_File_delete, const char*, MPI_Info)
UNSUPPORTED(MPI_File_get_amode, MPI_File, int*)
UNSUPPORTED(MPI_File_get_atomicity, MPI_File, int*)
UNSUPPORTED(MPI_File_get_byte_offset, MPI_File, MPI_Offset, MPI_Offset*)
UNSUPPORTED(MPI_File_get_group, MPI_File, MPI_Group*)
UNSUPPORTED(MPI_File_get_info, MPI_File, MPI_Info*)
UNSUPPORTED(MPI_File_get_position, MPI_File, MPI_Offset*)
UNSUPPORTED(MPI_File_get_position_shared, MPI_File, MPI_Offset*)
UNSUPPORTED(MPI_File_get_size, MPI_File, MPI_Offset*)
UNSUPPORTED(MPI_File_get_type_extent, MPI_File, MPI_Datatype, MPI_Aint*)
UNSUPPORTED(MPI_File_get_type_extent_c, MPI_File, MPI_Datatype, MPI_Count*)
UNSUPPORTED(MPI_File_get_view, MPI_File, MPI_Offset*, MPI_Datatype*, MPI_Datatype*, char*)
UNSUPPORTED(MPI_File_iread, MPI_File, void*, int, MPI_Datatype, MPI_Request*)
UNSUPPORTED(MPI_File_iread_all, MPI_File, void*, int, MPI_Datatype, MPI_Request*)
UNSUPPORTED(MPI_File_iread_all_c, MPI_File, void*, MPI_Count, MPI_Datatype, MPI_Request*)
UNSUPPORTED(MPI_File_iread_at, MPI_File, MPI_Offset, void*, int, MPI_Datatype, MPI_Request*)
UNSUPPORTED(MPI_File_iread_at_all, MPI_File, MPI_Offset, void*, int, MPI_Datatype, MPI_Request*)
UNSUPPORTED(MPI_File_iread_at_all_c, MPI_File, MPI_Offset, void*, MPI_Count, MPI_Datatype, MPI_Request*)
UNSUPPORTED(MPI_File_iread_at_c, MPI_File, MPI_Offset, void*, MPI_Count, MPI_Datatype, MPI_Request*)
UNSUPPORTED(MPI_File_iread_c, MPI_File, void*, MPI_Count, MPI_Datatype, MPI_Request*)
UNSUPPORTED(MPI_File_iread_shared, MPI_File, void*, int, MPI_Datatype, MPI_Request*)
UNSUPPORTED(MPI_File_iread_shared_c, MPI_File, void*, MPI_Count, MPI_Datatype, MPI_Request*)
UNSUPPORTED(MPI_File_iwrite, MPI_File, const void*, int, MPI_Datatype, MPI_Request*)
UNSUPPORTED(MPI_File_iwrite_all, MPI_File, const void*, int, MPI_Datatype, MPI_Request*)
UNSUPPORTED(MPI_File_iwrite_all_c, MPI_File, const void*, MPI_Count, MPI_Datatype, MPI_Request*)
UNSUPPORTED(MPI_File_iwrite_at, MPI_File, MPI_Offset, const void*, int, MPI_Datatype, MPI_Request*)
UNSUPPORTED(MPI_File_iwrite_at_all, MPI_File, MPI_Offset, const void*, int, MPI_Datatype, MPI_Request*)
UNSUPPORTED(MPI_File_iwrite_at_all_c, MPI_File, MPI_Offset, const void*, MPI_Count, MPI_Datatype, MPI_Request*)
UNSUPPORTED(MPI_File_iwrite_at_c, MPI_File, MPI_Offset, const void*, MPI_Count, MPI_Datatype, MPI_Request*)
UNSUPPORTED(MPI_File_iwrite_c, MPI_File, const void*, MPI_Count, MPI_Datatype, MPI_Request*)
UNSUPPORTED(MPI_File_iwrite_shared, MPI_File, const void*, int, MPI_Datatype, MPI_Request*)
UNSUPPORTED(MPI_File_iwrite_shared_c, MPI_File, const void*, MPI_Count, MPI_Datatype, MPI_Request*)
UNSUPPORTED(MPI_File_open, MPI_Comm, const char*, int, MPI_Info, MPI_File*)
UNSUPPORTED(MPI_File_preallocate, MPI_File, MPI_Offset)
UNSUPPORTED(MPI_File_read, MPI_File, void*, int, MPI_Datatype, MPI_Status*)
UNSUPPORTED(MPI_File_read_all, MPI_File, void*, int, MPI_Datatype, MPI_Status*)
UNSUPPORTED(MPI_File_read_all_begin, MPI_File, void*, int, MPI_Datatype)
UNSUPPORTED(MPI_File_read_all_begin_c, MPI_File, void*, MPI_Count, MPI_Datatype)
UNSUPPORTED(MPI_File_read_all_c, MPI_File, void*, MPI_Count, MPI_Datatype, MPI_Status*)
UNSUPPORTED(MPI_File_read_all_end, MPI_File, void*, MPI_Status*)
UNSUPPORTED(MPI_File_read_at, MPI_File, MPI_Offset, void*, int, MPI_Datatype, MPI_Status*)
UNSUPPORTED(MPI_File_read_at_all, MPI_File, MPI_Offset, void*, int, MPI_Datatype, MPI_Status*)
UNSUPPORTED(MPI_File_read_at_all_begin, MPI_File, MPI_Offset, void*, int, MPI_Datatype)
UNSUPPORTED(MPI_File_read_at_all_begin_c, MPI_File, MPI_Offset, void*, MPI_Count, MPI_Datatype)
UNSUPPORTED(MPI_File_read_at_all_c, MPI_File, MPI_Offset, void*, MPI_Count, MPI_Datatype, MPI_Status*)
UNSUPPORTED(MPI_File_read_at_all_end, MPI_File, void*, MPI_Status*)
UNSUPPORTED(MPI_File_read_at_c, MPI_File, MPI_Offset, void*, MPI_Count, MPI_Datatype, MPI_Status*)
UNSUPPORTED(MPI_File_read_c, MPI_File, void*, MPI_Count, MPI_Datatype, MPI_Status*)
UNSUPPORTED(MPI_File_read_ordered, MPI_File, void*, int, MPI_Datatype, MPI_Status*)
UNSUPPORTED(MPI_File_read_ordered_begin, MPI_File, void*, int, MPI_Datatype)
UNSUPPORTED(MPI_File_read_ordered_begin_c, MPI_File, void*, MPI_Count, MPI_Datatype)
UNSUPPORTED(MPI_File_read_ordered_c, MPI_File, void*, MPI_Count, MPI_Datatype, MPI_Status*)
UNSUPPORTED(MPI_File_read_ordered_end, MPI_File, void*, MPI_Status*)
UNSUPPORTED(MPI_File_read_shared, MPI_File, void*, int, MPI_Datatype, MPI_Status*)
UNSUPPORTED(MPI_File_read_shared_c, MPI_File, void*, MPI_Count, MPI_Datatype, MPI_Status*)
UNSUPPORTED(MPI_File_seek, MPI_File, MPI_Offset, int)
UNSUPPORTED(MPI_File_seek_shared, MPI_File, MPI_Offset, int)
UNSUPPORTED(MPI_File_set_atomicity, MPI_File, int)
UNSUPPORTED(MPI_File_set_info, MPI_File, MPI_Info)
UNSUPPORTED(MPI_File_set_size, MPI_File, MPI_Offset)
UNSUPPORTED(MPI_File_set_view, MPI_File, MPI_Offset, MPI_Datatype, MPI_Datatype, const char*, MPI_Info)
UNSUPPORTED(MPI_File_sync, MPI_File)
UNSUPPORTED(MPI_File_write, MPI_File, const void*, int, MPI_Datatype, MPI_Status*)
UNSUPPORTED(MPI_File_write_all, MPI_File, const void*, int, MPI_Datatype, MPI_Status*)
UNSUPPORTED(MPI_File_write_all_begin, MPI_File, const void*, int, MPI_Datatype)
UNSUPPORTED(MPI_File_write_all_begin_c, MPI_File, const void*, MPI_Count, MPI_Datatype)
UNSUPPORTED(MPI_File_write_all_c, MPI_File, const void*, MPI_Count, MPI_Datatype, MPI_Status*)
UNSUPPORTED(MPI_File_write_all_end, MPI_File, const void*, MPI_Status*)
UNSUPPORTED(MPI_File_write_at, MPI_File, MPI_Offset, const void*, int, MPI_Datatype, MPI_Status*)
UNSUPPORTED(MPI_File_write_at_all, MPI_File, MPI_Offset, const void*, int, MPI_Datatype, MPI_Status*)
UNSUPPORTED(MPI_File_write_at_all_begin, MPI_File, MPI_Offset, const void*, int, MPI_Datatype)
UNSUPPORTED(MPI_File_write_at_all_begin_c, MPI_File, MPI_Offset, const void*, MPI_Count, MPI_Datatype)
UNSUPPORTED(MPI_File_write_at_all_c, MPI_File, MPI_Offset, const void*, MPI_Count, MPI_Datatype, MPI_Status*)
UNSUPPORTED(MPI_File_write_at_all_end, MPI_File, const void*, MPI_Status*)
UNSUPPORTED(MPI_File_write_at_c, MPI_File, MPI_Offset, const void*, MPI_Count, MPI_Datatype, MPI_Status*)
UNSUPPORTED(MPI_File_write_c, MPI_File, const void*, MPI_Count, MPI_Datatype, MPI_Status*)
UNSUPPORTED(MPI_File_write_ordered, MPI_File, const void*, int, MPI_Datatype, MPI_Status*)
UNSUPPORTED(MPI_File_write_ordered_begin, MPI_File, const void*, int, MPI_Datatype)
UNSUPPORTED(MPI_File_write_ordered_begin_c, MPI_File, const void*, MPI_Count, MPI_Datatype)
UNSUPPORTED(MPI_File_write_ordered_c, MPI_File, const void*, MPI_Count, MPI_Datatype, MPI_Status*)
UNSUPPORTED(MPI_File_write_ordered_end, MPI_File, const void*, MPI_Status*)
UNSUPPORTED(MPI_File_write_shared, MPI_File, const void*, int, MPI_Datatype, MPI_Status*)
UNSUPPORTED(MPI_File_write_shared_c, MPI_File, const void*, MPI_Count, MPI_Datatype, MPI_Status*)
UNSUPPORTED(MPI_Register_datarep, const char*, MPI_Datarep_conversion_function*, MPI_Datarep_conversion_function*, MPI_Datarep_extent_function*, void*)
UNSUPPORTED(MPI_Register_datarep_c, const char*, MPI_Datarep_conversion_function_c*, MPI_Datarep_conversion_function_c*, MPI_Datarep_extent_function*, void*)
