/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   external32 has the bytes of section 14.5.2, a registered representation calls the
 *         functions of the program with its data, and offsets and views count what elements take in
 *         the file.
 * Method: golden bytes, read natively; then back through the representation.
 */
#include "test/mpi/io/folder.h"

static void External32(void) {
  const unsigned char golden[] = {0,    0, 0, 1, 0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 3,
                                  0x3f, 0xc0, 0, 0};
  long numbers[3] = {1, -2, 3}, back[3] = {7, 7, 7};
  float one_and_a_half = 1.5f, read = 0;
  unsigned char bytes[sizeof golden];
  MPI_Aint extent = 0;
  MPI_Offset offset = -1;
  MPI_Status status;
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
  EXPECT(MPI_File_set_view(file, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL) ==
         MPI_SUCCESS);
  EXPECT(MPI_File_get_type_extent(file, MPI_LONG, &extent) == MPI_SUCCESS && extent == 4);
  EXPECT(MPI_File_get_byte_offset(file, 3, &offset) == MPI_SUCCESS && offset == 12);
  if (rank == 0) {
    EXPECT(MPI_File_write(file, numbers, 3, MPI_LONG, &status) == MPI_SUCCESS);
    EXPECT(CountOf(&status, MPI_LONG) == 3);
    EXPECT(MPI_File_write(file, &one_and_a_half, 1, MPI_FLOAT, &status) == MPI_SUCCESS);
    EXPECT(CountOf(&status, MPI_FLOAT) == 1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(MPI_File_read_at(file, 0, back, 3, MPI_LONG, &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_LONG) == 3 && memcmp(back, numbers, sizeof back) == 0);
  EXPECT(MPI_File_read_at(file, 3, &read, 1, MPI_FLOAT, &status) == MPI_SUCCESS && read == 1.5f);
  back[1] = back[2] = 7;
  EXPECT(MPI_File_read_at(file, 3, back, 3, MPI_LONG, &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_LONG) == 1 && back[1] == 7 && back[2] == 7);
  {
    MPI_Request request;
    EXPECT(MPI_File_iread_at(file, 0, back, 2, MPI_LONG, &request) == MPI_SUCCESS);
    EXPECT(MPI_Wait(&request, &status) == MPI_SUCCESS && CountOf(&status, MPI_LONG) == 2);
    EXPECT(back[0] == 1 && back[1] == -2);
  }
  EXPECT(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  EXPECT(MPI_File_read(file, bytes, sizeof bytes, MPI_BYTE, &status) == MPI_SUCCESS);
  EXPECT(memcmp(bytes, golden, sizeof golden) == 0);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

/* In a view with holes, counts and strides mean sizes in the file, and bytes mean bytes. */
static void ExternalViews(void) {
  long numbers[4], all[8];
  MPI_Datatype every_second, apart, both;
  MPI_Offset offset = -1;
  MPI_Aint displacement = 20;
  int one = 1;
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Type_vector(2, 1, 2, MPI_LONG, &every_second);
  MPI_Type_create_resized(every_second, 0, 16, &both); /* four longs of the file */
  MPI_Type_commit(&both);
  for (int i = 0; i < 4; ++i) numbers[i] = 10 * i + rank;
  if (rank < 2 && ranks > 1)
    EXPECT(MPI_File_set_view(file, 4 * rank, MPI_LONG, both, "external32", MPI_INFO_NULL) ==
           MPI_SUCCESS);
  else
    EXPECT(MPI_File_set_view(file, 0, MPI_LONG, both, "external32", MPI_INFO_NULL) == MPI_SUCCESS);
  EXPECT(MPI_File_get_byte_offset(file, 3, &offset) == MPI_SUCCESS);
  EXPECT(offset == 24 + (rank < 2 && ranks > 1 ? 4 * rank : 0));
  if (rank < 2)
    EXPECT(MPI_File_write(file, numbers, 4, MPI_LONG, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(MPI_File_set_view(file, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL) ==
         MPI_SUCCESS);
  EXPECT(MPI_File_read(file, all, ranks > 1 ? 8 : 7, MPI_LONG, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  for (int i = 0; i < 4; ++i) EXPECT(all[2 * i] == 10 * i);
  if (ranks > 1)
    for (int i = 0; i < 4; ++i) EXPECT(all[2 * i + 1] == 10 * i + 1);
  MPI_Type_create_hindexed(1, &one, &displacement, MPI_LONG, &apart);
  MPI_Type_commit(&apart);
  EXPECT(MPI_File_set_view(file, 0, MPI_LONG, apart, "external32", MPI_INFO_NULL) == MPI_SUCCESS);
  EXPECT(MPI_File_get_byte_offset(file, 0, &offset) == MPI_SUCCESS && offset == 20);
  MPI_Type_free(&every_second);
  MPI_Type_free(&both);
  MPI_Type_free(&apart);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

/* This representation keeps each int as itself plus a key, in eight bytes. */
static int conversions = 0;

static int Extent(MPI_Datatype type, MPI_Aint* extent, void* state) {
  (void)state;
  EXPECT(type == MPI_INT || type == MPI_BYTE);
  *extent = type == MPI_INT ? 8 : 1;
  return MPI_SUCCESS;
}

static int ReadKeyed(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position,
                     void* state) {
  (void)type;
  for (int i = 0; i < count; ++i) {
    long long kept = 0;
    memcpy(&kept, (char*)file + 8 * i, 8);
    ((int*)user)[position + i] = (int)(kept - *(int*)state);
  }
  ++conversions;
  return MPI_SUCCESS;
}

static int WriteKeyed(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position,
                      void* state) {
  (void)type;
  for (int i = 0; i < count; ++i) {
    const long long kept = ((int*)user)[position + i] + *(int*)state;
    memcpy((char*)file + 8 * i, &kept, 8);
  }
  ++conversions;
  return MPI_SUCCESS;
}

static int Refuse(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position,
                  void* state) {
  (void)user, (void)type, (void)count, (void)file, (void)position, (void)state;
  return MPI_ERR_OTHER;
}

static void Registered(void) {
  static int key = 1000;
  int numbers[5] = {1, 2, 3, 4, 5}, back[5] = {0};
  long long kept[5];
  MPI_Status status;
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
  EXPECT(MPI_Register_datarep("keyed", ReadKeyed, WriteKeyed, Extent, &key) == MPI_SUCCESS);
  EXPECT(MPI_Register_datarep("refusing", Refuse, Refuse, Extent, &key) == MPI_SUCCESS);
  EXPECT(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "keyed", MPI_INFO_NULL) == MPI_SUCCESS);
  if (rank == 0) {
    EXPECT(MPI_File_write_at(file, 0, numbers, 5, MPI_INT, &status) == MPI_SUCCESS);
    EXPECT(CountOf(&status, MPI_INT) == 5 && conversions > 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(MPI_File_read_at_all(file, 1, back, 5, MPI_INT, &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_INT) == 4 && memcmp(back, numbers + 1, 4 * sizeof(int)) == 0);
  EXPECT(back[4] == 0);
  EXPECT(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  EXPECT(MPI_File_read_at(file, 0, kept, 40, MPI_BYTE, &status) == MPI_SUCCESS);
  for (int i = 0; i < 5; ++i) EXPECT(kept[i] == 1001 + i);
  EXPECT(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "refusing", MPI_INFO_NULL) == MPI_SUCCESS);
  EXPECT(ClassOf(MPI_File_read_at(file, 0, back, 1, MPI_INT, &status)) == MPI_ERR_CONVERSION);
  EXPECT(ClassOf(MPI_File_write_at(file, 0, back, 1, MPI_INT, &status)) == MPI_ERR_CONVERSION);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MakeFolder();
  External32();
  ExternalViews();
  Registered();
  return LeaveFolder();
}
