/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a process can send to itself in every mode and size; a synchronous send to oneself ends
 *         only when its receive has begun, a standard one may wait for it; MPI_Sendrecv to oneself
 *         needs nobody else (MPI-5.0, sections 3.4, 3.5 and 3.11). MPI_PROC_NULL is a peer that
 *         takes and gives nothing at once, in every function (section 3.10).
 * Method: non-blocking halves started in both orders; tests that must fail before the other half
 *         is there; tags up to MPI_TAG_UB; every send and receive function on MPI_PROC_NULL.
 */
#include <stdlib.h>

#include "test/mpi/check.h"

enum { kIntsMax = 200000 };
static int rank;
static int *out, *in;

typedef int (*StartSend)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
static const StartSend immediate[] = {MPI_Isend, MPI_Ibsend, MPI_Issend, MPI_Irsend};

static void BothOrders(void) {
  static const int sizes[] = {0, 1, 700, 9000, kIntsMax};
  for (int s = 0; s < 5; ++s)
    for (int mode = 0; mode < 4; ++mode)
      for (int receive_first = 0; receive_first < 2; ++receive_first) {
        MPI_Request send, receive;
        MPI_Status status;
        int count = -1, flag = 1;
        if (mode == 3 && !receive_first) continue; /* ready mode needs its receive */
        for (int i = 0; i < sizes[s]; ++i) {
          out[i] = 3 * i + mode;
          in[i] = -1;
        }
        if (receive_first) MPI_Irecv(in, sizes[s], MPI_INT, rank, 1, MPI_COMM_WORLD, &receive);
        immediate[mode](out, sizes[s], MPI_INT, rank, 1, MPI_COMM_WORLD, &send);
        if (!receive_first) {
          if (mode == 2) {
            for (int look = 0; look < 5; ++look) {
              MPI_Test(&send, &flag, MPI_STATUS_IGNORE);
              EXPECT(!flag); /* no receive has begun */
            }
          }
          if (mode == 1) MPI_Wait(&send, MPI_STATUS_IGNORE); /* needs no other process */
          MPI_Irecv(in, sizes[s], MPI_INT, rank, 1, MPI_COMM_WORLD, &receive);
        }
        MPI_Wait(&receive, &status);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        MPI_Get_count(&status, MPI_INT, &count);
        EXPECT(count == sizes[s] && status.MPI_SOURCE == rank && status.MPI_TAG == 1);
        for (int i = 0; i < sizes[s]; ++i)
          if (in[i] != 3 * i + mode) {
            EXPECT(in[i] == 3 * i + mode);
            break;
          }
      }
}

static void ExchangeWithOneself(void) {
  MPI_Status status;
  for (int i = 0; i < kIntsMax; ++i) out[i] = i;
  MPI_Sendrecv(out, kIntsMax, MPI_INT, rank, 2, in, kIntsMax, MPI_INT, rank, 2, MPI_COMM_WORLD,
               &status);
  EXPECT(memcmp(in, out, kIntsMax * sizeof *in) == 0);
  MPI_Sendrecv_replace(out, kIntsMax, MPI_INT, 0, 3, 0, 3, MPI_COMM_SELF, &status);
  EXPECT(status.MPI_SOURCE == 0 && memcmp(in, out, kIntsMax * sizeof *in) == 0);
#if MPI_VERSION >= 4
  out[0] = 12;
  MPI_Sendrecv_c(out, 1, MPI_INT, rank, 2, in, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &status);
  EXPECT(in[0] == 12);
  MPI_Sendrecv_replace_c(out, 1, MPI_INT, 0, 3, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF,
                         &status);
  EXPECT(out[0] == 12 && status.MPI_TAG == 3);
#endif
}

static void LargestTag(void) {
  int *bound = NULL, flag = 0, value = 4;
  MPI_Status status;
  MPI_Request request;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag);
  EXPECT(flag && *bound >= 32767);
  MPI_Isend(&value, 1, MPI_INT, rank, *bound, MPI_COMM_WORLD, &request);
  value = 4;
  MPI_Recv(&in[0], 1, MPI_INT, rank, *bound, MPI_COMM_WORLD, &status);
  EXPECT(in[0] == 4 && status.MPI_TAG == *bound);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int IsOfNobody(const MPI_Status* status) {
  int count = -1;
  MPI_Get_count(status, MPI_INT, &count);
  return status->MPI_SOURCE == MPI_PROC_NULL && status->MPI_TAG == MPI_ANY_TAG && count == 0;
}

static void Nobody(void) {
  static const StartSend inits[] = {MPI_Send_init, MPI_Bsend_init, MPI_Ssend_init, MPI_Rsend_init};
  int value = 6, flag = 0;
  MPI_Request request;
  MPI_Status status;
  const MPI_Comm comm = MPI_COMM_WORLD;
  EXPECT(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm) == MPI_SUCCESS);
  EXPECT(MPI_Ssend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm) == MPI_SUCCESS);
  EXPECT(MPI_Rsend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm) == MPI_SUCCESS);
  EXPECT(MPI_Bsend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm) == MPI_SUCCESS);
  for (int mode = 0; mode < 4; ++mode) {
    immediate[mode](&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &request);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    EXPECT(flag && request == MPI_REQUEST_NULL);
    inits[mode](&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
  }
  MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, comm, &status);
  EXPECT(IsOfNobody(&status) && value == 6);
  MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &request);
  MPI_Wait(&request, &status);
  EXPECT(IsOfNobody(&status) && value == 6);
  MPI_Probe(MPI_PROC_NULL, 1, comm, &status);
  EXPECT(IsOfNobody(&status));
  MPI_Iprobe(MPI_PROC_NULL, 1, comm, &flag, &status);
  EXPECT(flag && IsOfNobody(&status));
  MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, in, 1, MPI_INT, MPI_PROC_NULL, 1, comm,
               &status);
  EXPECT(IsOfNobody(&status));
  MPI_Sendrecv_replace(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, comm, &status);
  EXPECT(IsOfNobody(&status) && value == 6);
  out[0] = 9;
  in[0] = -1;
  MPI_Irecv(in, 1, MPI_INT, rank, 1, comm, &request);
  MPI_Sendrecv(out, 1, MPI_INT, rank, 1, &value, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &status);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT(IsOfNobody(&status) && value == 6 && in[0] == 9);
}

/* Sending may not be cancellable, but a wait must return. */
static void CancelledSend(void) {
  MPI_Request send;
  MPI_Status status;
  int cancelled = 0, value = 3;
  MPI_Isend(&value, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &send);
  MPI_Cancel(&send);
  MPI_Wait(&send, &status);
  MPI_Test_cancelled(&status, &cancelled);
  if (!cancelled) {
    MPI_Recv(in, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(in[0] == 3);
  }
}

int main(int argc, char** argv) {
  int room = kIntsMax * (int)sizeof(int) + 4 * MPI_BSEND_OVERHEAD;
  void* attached = malloc((size_t)room);
  out = calloc(kIntsMax, sizeof *out);
  in = calloc(kIntsMax, sizeof *in);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Nobody(); /* no buffer is needed for it */
  MPI_Buffer_attach(attached, room);
  BothOrders();
  ExchangeWithOneself();
  LargestTag();
  CancelledSend();
  MPI_Buffer_detach(&attached, &room);
  free(attached);
  free(in);
  free(out);
  return Passed();
}
