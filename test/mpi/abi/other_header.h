/* SPDX-License-Identifier: BSD-3-Clause
 * A header that is not ours: what one short program needs, written from the ABI chapter (MPI-5.0,
 * chapter 21) and nothing else, with other names for what the ABI does not name.
 */
#ifndef OTHER_HEADER_H
#define OTHER_HEADER_H

#include <stdint.h>

typedef struct OtherComm* MPI_Comm;
typedef struct OtherType* MPI_Datatype;
typedef struct OtherOp* MPI_Op;
typedef struct OtherRequest* MPI_Request;
typedef struct OtherInfo* MPI_Info;
typedef struct OtherErrhandler* MPI_Errhandler;
typedef intptr_t MPI_Aint;
typedef int64_t MPI_Count;
typedef struct {
  int MPI_SOURCE, MPI_TAG, MPI_ERROR, reserved[5];
} MPI_Status;

#define MPI_SUCCESS 0
#define MPI_ERR_TAG 4
#define MPI_ANY_SOURCE (-1)
#define MPI_PROC_NULL (-3)
#define MPI_ANY_TAG (-2)
#define MPI_COMM_WORLD ((MPI_Comm)0x101)
#define MPI_COMM_SELF ((MPI_Comm)0x102)
#define MPI_COMM_NULL ((MPI_Comm)0x100)
#define MPI_REQUEST_NULL ((MPI_Request)0x180)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)0x143)
#define MPI_INT ((MPI_Datatype)0x209)
#define MPI_DOUBLE ((MPI_Datatype)0x214)
#define MPI_BYTE ((MPI_Datatype)0x247)
#define MPI_DATATYPE_NULL ((MPI_Datatype)0x200)
#define MPI_SUM ((MPI_Op)0x21)
#define MPI_IN_PLACE ((void*)1)
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_STATUSES_IGNORE ((MPI_Status*)0)
#define MPI_MAX_ERROR_STRING 512

int MPI_Abi_get_version(int* major, int* minor);
int MPI_Init(int* argc, char*** argv);
int MPI_Finalize(void);
int MPI_Comm_rank(MPI_Comm comm, int* rank);
int MPI_Comm_size(MPI_Comm comm, int* size);
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* twin);
int MPI_Comm_free(MPI_Comm* comm);
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler);
int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request);
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]);
int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count);
int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm);
int MPI_Type_vector(int count, int length, int stride, MPI_Datatype type, MPI_Datatype* made);
int MPI_Type_commit(MPI_Datatype* type);
int MPI_Type_free(MPI_Datatype* type);
int MPI_Type_get_extent_c(MPI_Datatype type, MPI_Count* lower, MPI_Count* extent);
int MPI_Error_class(int code, int* error_class);

#endif
