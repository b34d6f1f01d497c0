/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   the fields of a status are set, read and left alone as MPI-5.0, sections 3.2.5, 3.7.5,
 *         3.7.6 and 13.3, say: MPI_ERROR only by calls that return MPI_ERR_IN_STATUS, empty
 *         statuses for null and inactive requests, looks that do not end a request.
 * Method: statuses filled with a mark beforehand; requests to oneself, some of which are truncated.
 */
#include "test/mpi/check.h"

enum { kMark = 4711 };

static void Mark(MPI_Status* statuses, int count) {
  for (int i = 0; i < count; ++i)
    statuses[i].MPI_SOURCE = statuses[i].MPI_TAG = statuses[i].MPI_ERROR = kMark;
}

static int IsEmpty(const MPI_Status* status) {
  int count = -1, cancelled = -1;
  MPI_Get_count(status, MPI_BYTE, &count);
  MPI_Test_cancelled(status, &cancelled);
  return status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG && count == 0 &&
         cancelled == 0;
}

/* Words of errors are an implementation's own. */
static int IsLamina(void) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  return strstr(version, "Lamina") != NULL;
}

static int in[6];
static const int out[2] = {31, 32};

/* Posts receives of one int with tags 0, 1, ...; the one with tag `bad` gets two ints. */
static void StartReceives(MPI_Request requests[], int count, int bad) {
  for (int i = 0; i < count; ++i) MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
  for (int i = 0; i < count; ++i) MPI_Send(out, i == bad ? 2 : 1, MPI_INT, 0, i, MPI_COMM_SELF);
}

static void ErrorFieldOfWaits(void) {
  MPI_Request requests[4];
  MPI_Status statuses[4], status;
  int done, indices[4], index, flag = 0, length = 0;
  char text[MPI_MAX_ERROR_STRING];

  StartReceives(requests, 3, -1);
  requests[3] = MPI_REQUEST_NULL;
  Mark(statuses, 4);
  EXPECT(MPI_Waitall(4, requests, statuses) == MPI_SUCCESS);
  for (int i = 0; i < 4; ++i) EXPECT(statuses[i].MPI_ERROR == kMark);
  for (int i = 0; i < 3; ++i) EXPECT(statuses[i].MPI_TAG == i && statuses[i].MPI_SOURCE == 0);
  EXPECT(IsEmpty(&statuses[3]));

  StartReceives(requests, 3, 1);
  Mark(statuses, 4);
  EXPECT(ClassOf(MPI_Waitall(4, requests, statuses)) == MPI_ERR_IN_STATUS);
  for (int i = 0; i < 4; ++i)
    EXPECT(ClassOf(statuses[i].MPI_ERROR) == (i == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
  for (int i = 0; i < 4; ++i) EXPECT(requests[i] == MPI_REQUEST_NULL);

  /* Without statuses, the error itself says which request has failed, and how. */
  StartReceives(requests, 3, 2);
  const int error = MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  EXPECT(ClassOf(error) == MPI_ERR_IN_STATUS);
  MPI_Error_string(error, text, &length);
  EXPECT(strstr(text, "request 2 of 3") != NULL || !IsLamina());
  EXPECT(strstr(text, "MPI_ERR_TRUNCATE") != NULL || !IsLamina());

  StartReceives(requests, 2, -1);
  Mark(statuses, 4);
  for (int left = 2; left > 0; left -= done) {
    EXPECT(MPI_Waitsome(2, requests, &done, indices, statuses) == MPI_SUCCESS);
    for (int i = 0; i < done; ++i)
      EXPECT(statuses[i].MPI_ERROR == kMark && statuses[i].MPI_TAG == indices[i]);
  }

  StartReceives(requests, 1, 0);
  while (!flag) { /* complete before Testsome is asked */
    MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE);
  }
  EXPECT(ClassOf(MPI_Testsome(1, requests, &done, indices, statuses)) == MPI_ERR_IN_STATUS);
  EXPECT(done == 1 && indices[0] == 0 && ClassOf(statuses[0].MPI_ERROR) == MPI_ERR_TRUNCATE);

  StartReceives(requests, 1, 0);
  Mark(&status, 1);
  EXPECT(ClassOf(MPI_Wait(&requests[0], &status)) == MPI_ERR_TRUNCATE); /* told by its value */
  EXPECT(status.MPI_ERROR == kMark && requests[0] == MPI_REQUEST_NULL);
  StartReceives(requests, 1, 0);
  Mark(&status, 1);
  EXPECT(ClassOf(MPI_Waitany(1, requests, &index, &status)) == MPI_ERR_TRUNCATE);
  EXPECT(index == 0 && status.MPI_ERROR == kMark);

  StartReceives(requests, 1, -1);
  Mark(&status, 1);
  MPI_Wait(&requests[0], &status);
  EXPECT(status.MPI_ERROR == kMark);
  Mark(&status, 1);
  MPI_Sendrecv(out, 1, MPI_INT, 0, 1, in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &status);
  EXPECT(status.MPI_ERROR == kMark && status.MPI_TAG == 1);
}

static void Elements(void) {
  MPI_Status status;
  MPI_Datatype three;
  int count = -1, flag = -1;
  memset(&status, 0, sizeof status);
  MPI_Type_contiguous(3, MPI_INT, &three);
  MPI_Type_commit(&three);
  EXPECT(MPI_Status_set_elements(&status, MPI_INT, 7) == MPI_SUCCESS);
  MPI_Get_elements(&status, three, &count);
  EXPECT(count == 7);
  MPI_Get_count(&status, three, &count);
  EXPECT(count == MPI_UNDEFINED);                                    /* two and a third */
  EXPECT(MPI_Status_set_elements(&status, three, 6) == MPI_SUCCESS); /* basic elements */
  MPI_Get_count(&status, three, &count);
  EXPECT(count == 2);
  EXPECT(MPI_Status_set_cancelled(&status, 1) == MPI_SUCCESS);
  MPI_Test_cancelled(&status, &flag);
  EXPECT(flag);
  MPI_Get_elements(&status, MPI_INT, &count);
  EXPECT(count == 6); /* the two do not touch each other */
  MPI_Status_set_cancelled(&status, 0);
  MPI_Test_cancelled(&status, &flag);
  EXPECT(!flag);
#if MPI_VERSION >= 4
  MPI_Count large = -1;
  const MPI_Count many = (MPI_Count)1 << 40;
  MPI_Status_set_elements_x(&status, MPI_INT, many);
  MPI_Get_elements_x(&status, MPI_INT, &large);
  EXPECT(large == many);
  MPI_Get_count(&status, MPI_INT, &count);
  EXPECT(count == MPI_UNDEFINED); /* more than an int can say */
#if MPI_VERSION >= 5
  MPI_Status_set_elements_c(&status, three, 3 * many);
  MPI_Get_count_c(&status, three, &large);
  EXPECT(large == many);
  MPI_Get_elements_c(&status, three, &large);
  EXPECT(large == 3 * many);
#endif
#endif
  MPI_Type_free(&three);
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
static void Fields(void) {
  MPI_Status status;
  int value = -1;
  memset(&status, 0, sizeof status);
  MPI_Status_set_source(&status, 5);
  MPI_Status_set_tag(&status, 6);
  MPI_Status_set_error(&status, MPI_ERR_OTHER);
  EXPECT(status.MPI_SOURCE == 5 && status.MPI_TAG == 6 && status.MPI_ERROR == MPI_ERR_OTHER);
  MPI_Status_get_source(&status, &value);
  EXPECT(value == 5);
  MPI_Status_get_tag(&status, &value);
  EXPECT(value == 6);
  MPI_Status_get_error(&status, &value);
  EXPECT(value == MPI_ERR_OTHER);
  EXPECT(ClassOf(MPI_Status_set_source(NULL, 5)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Status_set_tag(NULL, 5)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Status_set_error(NULL, 5)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Status_get_source(NULL, &value)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Status_get_tag(&status, NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Status_get_error(NULL, &value)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Status_set_elements(&status, MPI_DATATYPE_NULL, 1)) == MPI_ERR_TYPE);
  EXPECT(ClassOf(MPI_Status_set_elements_c(&status, MPI_INT, -1)) == MPI_ERR_COUNT);
  EXPECT(ClassOf(MPI_Status_set_elements_x(MPI_STATUS_IGNORE, MPI_INT, 1)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Status_set_cancelled(NULL, 1)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Test_cancelled(MPI_STATUS_IGNORE, &value)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Get_count(&status, MPI_DATATYPE_NULL, &value)) == MPI_ERR_TYPE);
  EXPECT(ClassOf(MPI_Get_elements(MPI_STATUS_IGNORE, MPI_INT, &value)) == MPI_ERR_ARG);
}

/* These look at several requests and end none of them. */
static void Looks(void) {
  MPI_Request requests[4], kept[4];
  MPI_Status statuses[4], status;
  int flag = 1, index = -1, done = -1, indices[4];

  for (int i = 0; i < 4; ++i) requests[i] = MPI_REQUEST_NULL;
  EXPECT(MPI_Request_get_status_all(4, requests, &flag, statuses) == MPI_SUCCESS && flag);
  EXPECT(IsEmpty(&statuses[0]) && IsEmpty(&statuses[3]));
  /* The empty status has MPI_ERROR too (section 3.7.3). */
  flag = 0;
  Mark(&status, 1);
  MPI_Request_get_status_any(4, requests, &index, &flag, &status);
  EXPECT(flag && index == MPI_UNDEFINED && IsEmpty(&status) && status.MPI_ERROR == MPI_SUCCESS);
  flag = 0;
  Mark(&status, 1);
  MPI_Request_get_status(requests[0], &flag, &status);
  EXPECT(flag && IsEmpty(&status) && status.MPI_ERROR == MPI_SUCCESS);
  MPI_Request_get_status_some(4, requests, &done, indices, statuses);
  EXPECT(done == MPI_UNDEFINED);
  MPI_Request_get_status_some(0, NULL, &done, NULL, MPI_STATUSES_IGNORE);
  EXPECT(done == MPI_UNDEFINED);
  MPI_Request_get_status_any(0, NULL, &index, &flag, MPI_STATUS_IGNORE);
  EXPECT(flag && index == MPI_UNDEFINED);
  MPI_Request_get_status_all(0, NULL, &flag, MPI_STATUSES_IGNORE);
  EXPECT(flag);

  for (int i = 0; i < 3; ++i) MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
  memcpy(kept, requests, sizeof kept);
  MPI_Request_get_status_all(4, requests, &flag, statuses);
  EXPECT(!flag);
  MPI_Request_get_status_any(4, requests, &index, &flag, &status);
  EXPECT(!flag && index == MPI_UNDEFINED);
  MPI_Request_get_status_some(4, requests, &done, indices, statuses);
  EXPECT(done == 0);

  MPI_Send(out, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
  for (flag = 0; !flag;) MPI_Request_get_status_any(4, requests, &index, &flag, &status);
  EXPECT(index == 1 && status.MPI_TAG == 1);
  Mark(statuses, 4);
  MPI_Request_get_status_some(4, requests, &done, indices, statuses);
  EXPECT(done == 1 && indices[0] == 1 && statuses[0].MPI_TAG == 1);
  EXPECT(statuses[0].MPI_ERROR == kMark);
  MPI_Send(out, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
  MPI_Send(out, 1, MPI_INT, 0, 2, MPI_COMM_SELF);
  for (flag = 0; !flag;) MPI_Request_get_status_all(4, requests, &flag, statuses);
  for (int i = 0; i < 3; ++i) EXPECT(statuses[i].MPI_TAG == i && statuses[i].MPI_SOURCE == 0);
  EXPECT(IsEmpty(&statuses[3]));
  EXPECT(memcmp(kept, requests, sizeof kept) == 0);
  MPI_Request_get_status_all(4, requests, &flag, MPI_STATUSES_IGNORE); /* again, and ignored */
  EXPECT(flag);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);

  StartReceives(requests, 2, 1);
  for (flag = 0; !flag;) {
    const int error = MPI_Request_get_status_all(2, requests, &flag, statuses);
    if (flag) EXPECT(ClassOf(error) == MPI_ERR_IN_STATUS);
  }
  EXPECT(statuses[0].MPI_ERROR == MPI_SUCCESS);
  EXPECT(ClassOf(statuses[1].MPI_ERROR) == MPI_ERR_TRUNCATE);
  EXPECT(ClassOf(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)) == MPI_ERR_IN_STATUS);

  EXPECT(ClassOf(MPI_Request_get_status_all(-1, requests, &flag, statuses)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Request_get_status_some(1, kept, &done, indices, statuses)) ==
         MPI_ERR_REQUEST); /* freed by now */
  EXPECT(ClassOf(MPI_Request_get_status_any(1, kept, &index, &flag, &status)) == MPI_ERR_REQUEST);
  EXPECT(ClassOf(MPI_Request_get_status(kept[0], &flag, &status)) == MPI_ERR_REQUEST);
}
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  ErrorFieldOfWaits();
  Elements();
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
  Fields();
  Looks();
#endif
  return Passed();
}
