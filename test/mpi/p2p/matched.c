/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a matched probe takes exactly the message out that it told of, and only MPI_Mrecv and
 *         MPI_Imrecv get it, of every mode and size, with any datatype; MPI_PROC_NULL gives
 *         MPI_MESSAGE_NO_PROC (MPI-5.0, section 3.8).
 * Method: messages to oneself and from the neighbour; later messages of the same envelope must not
 *         be taken for the matched one; errors of each function.
 */
#include <stdlib.h>

#include "test/mpi/check.h"

enum { kIntsMax = 100000 };

static int rank, ranks;
static int out[kIntsMax], in[kIntsMax];

static void EveryModeAndSize(void) {
  static const int sizes[] = {0, 1, 500, 3000, kIntsMax};
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  for (int s = 0; s < 5; ++s)
    for (int mode = 0; mode < 2; ++mode)
      for (int flavour = 0; flavour < 4; ++flavour) {
        MPI_Request send, receive;
        MPI_Message message = MPI_MESSAGE_NULL, other;
        MPI_Status probed, status;
        int flag = 0, count = -1;
        for (int i = 0; i < sizes[s]; ++i) out[i] = rank + s + i;
        if (mode == 0)
          MPI_Isend(out, sizes[s], MPI_INT, right, s, MPI_COMM_WORLD, &send);
        else
          MPI_Issend(out, sizes[s], MPI_INT, right, s, MPI_COMM_WORLD, &send);
        if (flavour % 2 == 0)
          MPI_Mprobe(left, s, MPI_COMM_WORLD, &message, &probed);
        else
          while (!flag)
            MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &probed);
        EXPECT(message != MPI_MESSAGE_NULL && message != MPI_MESSAGE_NO_PROC);
        EXPECT(probed.MPI_SOURCE == left && probed.MPI_TAG == s);
        MPI_Get_count(&probed, MPI_INT, &count);
        EXPECT(count == sizes[s]);
        MPI_Improbe(left, s, MPI_COMM_WORLD, &flag, &other, MPI_STATUS_IGNORE);
        EXPECT(!flag); /* it is not there any more */
        if (flavour < 2) {
          MPI_Mrecv(in, sizes[s], MPI_INT, &message, &status);
        } else {
          MPI_Imrecv(in, sizes[s], MPI_INT, &message, &receive);
          MPI_Wait(&receive, &status);
        }
        EXPECT(message == MPI_MESSAGE_NULL);
        EXPECT(status.MPI_SOURCE == left && status.MPI_TAG == s);
        MPI_Get_count(&status, MPI_INT, &count);
        EXPECT(count == sizes[s]);
        for (int i = 0; i < sizes[s]; ++i)
          if (in[i] != left + s + i) {
            EXPECT(in[i] == left + s + i);
            break;
          }
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD); /* the next message of a wildcard is of the next round */
      }
}

static void IntoATypeWithHoles(void) {
  MPI_Datatype every_other;
  MPI_Request send;
  MPI_Message message;
  MPI_Status status;
  int count = -1;
  MPI_Type_vector(1000, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  for (int i = 0; i < 2000; ++i) {
    out[i] = 7 * i;
    in[i] = -1;
  }
  MPI_Isend(out, 1000, MPI_INT, rank, 3, MPI_COMM_WORLD, &send);
  MPI_Mprobe(rank, 3, MPI_COMM_WORLD, &message, &status);
  MPI_Mrecv(in, 1, every_other, &message, &status);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  MPI_Get_count(&status, every_other, &count);
  EXPECT(count == 1);
  for (int i = 0; i < 1000; ++i) EXPECT(in[2 * i] == 7 * i && in[2 * i + 1] == -1);
  MPI_Type_free(&every_other);
}

/* Two messages of one envelope are taken out and received the other way round. */
static void OutOfOrder(void) {
  MPI_Message first, second;
  MPI_Request receive;
  int one = 1, two = 2, three = 3, value = 0, flag = 0;
  MPI_Send(&one, 1, MPI_INT, rank, 4, MPI_COMM_WORLD);
  MPI_Send(&two, 1, MPI_INT, rank, 4, MPI_COMM_WORLD);
  MPI_Send(&three, 1, MPI_INT, rank, 4, MPI_COMM_WORLD);
  MPI_Mprobe(rank, 4, MPI_COMM_WORLD, &first, MPI_STATUS_IGNORE);
  MPI_Mprobe(rank, 4, MPI_COMM_WORLD, &second, MPI_STATUS_IGNORE);
  MPI_Recv(&value, 1, MPI_INT, rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  EXPECT(value == 3);
  MPI_Imrecv(&value, 1, MPI_INT, &second, &receive);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  EXPECT(value == 2);
  MPI_Mrecv(&value, 1, MPI_INT, &first, MPI_STATUS_IGNORE);
  EXPECT(value == 1);
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  EXPECT(!flag);
}

static int IsOfNobody(const MPI_Status* status) {
  int count = -1;
  MPI_Get_count(status, MPI_INT, &count);
  return status->MPI_SOURCE == MPI_PROC_NULL && status->MPI_TAG == MPI_ANY_TAG && count == 0;
}

static void FromNobody(void) {
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Request receive;
  MPI_Status status;
  int flag = 0, value = 5;
  MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &message, &status);
  EXPECT(message == MPI_MESSAGE_NO_PROC && IsOfNobody(&status));
  MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
  EXPECT(message == MPI_MESSAGE_NULL && IsOfNobody(&status) && value == 5);
  MPI_Improbe(MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status);
  EXPECT(flag && message == MPI_MESSAGE_NO_PROC && IsOfNobody(&status));
  MPI_Imrecv(&value, 1, MPI_INT, &message, &receive);
  EXPECT(message == MPI_MESSAGE_NULL);
  MPI_Wait(&receive, &status);
  EXPECT(IsOfNobody(&status) && value == 5);
}

static void Errors(void) {
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Request receive;
  MPI_Status status;
  int two[2] = {1, 2}, value = -1, flag;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  EXPECT(ClassOf(MPI_Mprobe(ranks, 0, MPI_COMM_WORLD, &message, &status)) == MPI_ERR_RANK);
  EXPECT(ClassOf(MPI_Probe(0, 0, MPI_COMM_NULL, &status)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Iprobe(0, -77, MPI_COMM_WORLD, &flag, &status)) == MPI_ERR_TAG);
  EXPECT(ClassOf(MPI_Improbe(-55, 0, MPI_COMM_WORLD, &flag, &message, &status)) == MPI_ERR_RANK);
  EXPECT(ClassOf(MPI_Mrecv(&value, 1, MPI_INT, &message, &status)) == MPI_ERR_REQUEST);
  EXPECT(ClassOf(MPI_Imrecv(&value, 1, MPI_INT, &message, &receive)) == MPI_ERR_REQUEST);
  MPI_Send(two, 2, MPI_INT, rank, 6, MPI_COMM_WORLD);
  MPI_Mprobe(rank, 6, MPI_COMM_WORLD, &message, &status);
  EXPECT(ClassOf(MPI_Mrecv(&value, -1, MPI_INT, &message, &status)) == MPI_ERR_COUNT);
  EXPECT(message != MPI_MESSAGE_NULL); /* still to be had */
  EXPECT(ClassOf(MPI_Mrecv(&value, 1, MPI_INT, &message, &status)) == MPI_ERR_TRUNCATE);
  EXPECT(value == 1 && message == MPI_MESSAGE_NULL);
#if MPI_VERSION >= 4
  EXPECT(ClassOf(MPI_Mrecv_c(&value, 1, MPI_INT, &message, &status)) == MPI_ERR_REQUEST);
  EXPECT(ClassOf(MPI_Imrecv_c(&value, 1, MPI_INT, &message, &receive)) == MPI_ERR_REQUEST);
  for (int i = 0; i < 2; ++i) {
    MPI_Send(&two[i], 1, MPI_INT, rank, 6, MPI_COMM_WORLD);
    MPI_Mprobe(rank, 6, MPI_COMM_WORLD, &message, &status);
    if (i == 0) {
      MPI_Mrecv_c(&value, 1, MPI_INT, &message, &status);
    } else {
      MPI_Imrecv_c(&value, 1, MPI_INT, &message, &receive);
      MPI_Wait(&receive, &status);
    }
    EXPECT(value == two[i]);
  }
#endif
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  EveryModeAndSize();
  IntoATypeWithHoles();
  OutOfOrder();
  FromNobody();
  Errors();
  return Passed();
}
