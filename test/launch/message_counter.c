/* SPDX-License-Identifier: BSD-3-Clause */
/* A profiling tool (MPI-5.0, section 15.2) that counts by itself what `mpiexec --profile` counts:
 * the calls of a rank, and its messages to each other rank. A library before MPI's; writes the file
 * counted.RANK. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define FUNCTIONS(X)                                                                         \
  X(Allgather)                                                                               \
  X(Allreduce) X(Alltoall) X(Barrier) X(Bcast) X(Irecv) X(Isend) X(Issend) X(Recv) X(Reduce) \
      X(Send) X(Sendrecv) X(Ssend) X(Test) X(Testany) X(Wait) X(Waitall) X(Waitany)
#define ENUMERATOR(name) k##name,
#define NAME(name) "MPI_" #name,

enum { FUNCTIONS(ENUMERATOR) kFunctions };
static const char* const names[] = {FUNCTIONS(NAME)};
static long calls[kFunctions];
static struct { long messages, bytes; } * sent; /* by rank in MPI_COMM_WORLD */

static void count(int dest, int elements, MPI_Datatype type, MPI_Comm comm) {
  MPI_Group world, group;
  int bytes, rank, ranks;
  if (dest == MPI_PROC_NULL) return;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Comm_group(comm, &group);
  PMPI_Group_translate_ranks(group, 1, &dest, world, &rank);
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  PMPI_Type_size(type, &bytes);
  if (sent == NULL) {
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    sent = calloc((size_t)ranks, sizeof *sent);
  }
  ++sent[rank].messages;
  sent[rank].bytes += (long)bytes * elements;
}

/* Counts a call and makes it; a sending one counts its message, too. */
#define COUNTED(name, parameters, arguments) \
  int MPI_##name parameters {                \
    ++calls[k##name];                        \
    return PMPI_##name arguments;            \
  }
#define SENDING(name, parameters, arguments) \
  int MPI_##name parameters {                \
    ++calls[k##name];                        \
    count(dest, n, type, comm);              \
    return PMPI_##name arguments;            \
  }

COUNTED(Allgather,
        (const void* out, int n, MPI_Datatype type, void* in, int m, MPI_Datatype type_in,
         MPI_Comm comm),
        (out, n, type, in, m, type_in, comm))
COUNTED(Allreduce, (const void* out, void* in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (out, in, n, type, op, comm))
COUNTED(Alltoall,
        (const void* out, int n, MPI_Datatype type, void* in, int m, MPI_Datatype type_in,
         MPI_Comm comm),
        (out, n, type, in, m, type_in, comm))
COUNTED(Barrier, (MPI_Comm comm), (comm))
COUNTED(Bcast, (void* buffer, int n, MPI_Datatype type, int root, MPI_Comm comm),
        (buffer, n, type, root, comm))
COUNTED(Irecv,
        (void* in, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm,
         MPI_Request* request),
        (in, n, type, source, tag, comm, request))
SENDING(Isend,
        (const void* out, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
         MPI_Request* request),
        (out, n, type, dest, tag, comm, request))
SENDING(Issend,
        (const void* out, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
         MPI_Request* request),
        (out, n, type, dest, tag, comm, request))
COUNTED(Recv,
        (void* in, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm,
         MPI_Status* status),
        (in, n, type, source, tag, comm, status))
COUNTED(Reduce,
        (const void* out, void* in, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
        (out, in, n, type, op, root, comm))
SENDING(Send, (const void* out, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm),
        (out, n, type, dest, tag, comm))
SENDING(Sendrecv,
        (const void* out, int n, MPI_Datatype type, int dest, int tag, void* in, int m,
         MPI_Datatype type_in, int source, int tag_in, MPI_Comm comm, MPI_Status* status),
        (out, n, type, dest, tag, in, m, type_in, source, tag_in, comm, status))
SENDING(Ssend, (const void* out, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm),
        (out, n, type, dest, tag, comm))
COUNTED(Test, (MPI_Request * request, int* flag, MPI_Status* status), (request, flag, status))
COUNTED(Testany, (int n, MPI_Request requests[], int* index, int* flag, MPI_Status* status),
        (n, requests, index, flag, status))
COUNTED(Wait, (MPI_Request * request, MPI_Status* status), (request, status))
COUNTED(Waitall, (int n, MPI_Request requests[], MPI_Status statuses[]), (n, requests, statuses))
COUNTED(Waitany, (int n, MPI_Request requests[], int* index, MPI_Status* status),
        (n, requests, index, status))

int MPI_Finalize(void) {
  char path[32];
  int rank, ranks;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  snprintf(path, sizeof path, "counted.%d", rank);
  FILE* file = fopen(path, "w");
  if (file == NULL) PMPI_Abort(MPI_COMM_WORLD, 1);
  for (int function = 0; function < kFunctions; ++function)
    fprintf(file, "%s %ld\n", names[function], calls[function]);
  for (int other = 0; sent != NULL && other < ranks; ++other)
    fprintf(file, "to %d %ld %ld\n", other, sent[other].messages, sent[other].bytes);
  fclose(file);
  return PMPI_Finalize();
}
