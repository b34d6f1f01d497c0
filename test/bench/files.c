/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures what access to files takes. `run` builds this with each MPI's own mpicc.
 *
 * usage: mpiexec -n N files SECONDS ROW...
 *        ROW: file-KIND:BYTES
 *        KIND: write read                 one rank's calls of BYTES bytes, one behind the other
 *              own own-read               16 MiB, of which each rank has one part, in BYTES pieces
 *              strided strided-read       16 MiB, in which ranks take turns every BYTES bytes
 *              strided-later              the same in a nonblocking write
 *              ints ints-read             BYTES ints, each at a place of its own, in turns drawn
 *                                         at random
 *              holes holes-read           16 MiB in pieces of BYTES bytes and holes of as many
 *              open                       opening and closing
 * It prints `ROW VALUE`, in microseconds for each call: the median of a few batches, whose length
 * is found by doubling. The file is in a folder in TMPDIR, or else in /tmp, and mostly in the page
 * cache. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kBatches = 5, kTotal = 16 << 20 };

static int rank, ranks, bytes;
static char folder[200], path[240], *data;
static MPI_File file;
static MPI_Offset at;

static void Write(void) {
  MPI_File_write_at(file, at, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  at = (at + bytes) % kTotal;
}
static void Read(void) {
  MPI_File_read_at(file, at, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  at = (at + bytes) % kTotal;
}
static void Own(void) {
  for (int part = 0; part < kTotal / ranks; part += bytes)
    MPI_File_write_at_all(file, (MPI_Offset)rank * (kTotal / ranks) + part, data + part, bytes,
                          MPI_BYTE, MPI_STATUS_IGNORE);
}
static void OwnRead(void) {
  for (int part = 0; part < kTotal / ranks; part += bytes)
    MPI_File_read_at_all(file, (MPI_Offset)rank * (kTotal / ranks) + part, data + part, bytes,
                         MPI_BYTE, MPI_STATUS_IGNORE);
}
static void WriteAll(void) {
  MPI_File_write_at_all(file, 0, data, kTotal / ranks, MPI_BYTE, MPI_STATUS_IGNORE);
}
static void ReadAll(void) {
  MPI_File_read_at_all(file, 0, data, kTotal / ranks, MPI_BYTE, MPI_STATUS_IGNORE);
}
static void WriteLater(void) {
  MPI_Request request;
  MPI_File_iwrite_at_all(file, 0, data, kTotal / ranks, MPI_BYTE, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void WriteInts(void) {
  MPI_File_write_at_all(file, 0, data, bytes / ranks, MPI_INT, MPI_STATUS_IGNORE);
}
static void ReadInts(void) {
  MPI_File_read_at_all(file, 0, data, bytes / ranks, MPI_INT, MPI_STATUS_IGNORE);
}
static void WriteHoles(void) {
  MPI_File_write_at(file, 0, data, kTotal / 2, MPI_BYTE, MPI_STATUS_IGNORE);
}
static void ReadHoles(void) {
  MPI_File_read_at(file, 0, data, kTotal / 2, MPI_BYTE, MPI_STATUS_IGNORE);
}
static void OpenAndClose(void) {
  MPI_File other;
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &other);
  MPI_File_close(&other);
}

enum View { kDense, kTurns, kInts, kHoles };
static const struct {
  const char* name;
  void (*work)(void);
  enum View view;
} kinds[] = {{"write", Write, kDense},
             {"read", Read, kDense},
             {"own", Own, kDense},
             {"own-read", OwnRead, kDense},
             {"strided", WriteAll, kTurns},
             {"strided-read", ReadAll, kTurns},
             {"strided-later", WriteLater, kTurns},
             {"ints", WriteInts, kInts},
             {"ints-read", ReadInts, kInts},
             {"holes", WriteHoles, kHoles},
             {"holes-read", ReadHoles, kHoles},
             {"open", OpenAndClose, kDense}};

static void SetView(enum View view) {
  MPI_Datatype piece, filetype = MPI_BYTE;
  MPI_Offset displacement = 0;
  if (view == kTurns || view == kHoles) {
    const int turns = view == kTurns ? ranks : 2;
    MPI_Type_contiguous(bytes, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)bytes * turns, &filetype);
    MPI_Type_free(&piece);
    MPI_Type_commit(&filetype);
    displacement = view == kTurns ? (MPI_Offset)rank * bytes : 0;
  } else if (view == kInts) {
    int* places = malloc((size_t)bytes / ranks * sizeof(int));
    unsigned seed = 1;
    for (int i = 0; i < bytes / ranks; ++i) {
      seed = seed * 1103515245u + 12345u;
      places[i] = i * ranks + (int)((seed >> 16) + (unsigned)rank) % ranks;
    }
    MPI_Type_create_indexed_block(bytes / ranks, 1, places, MPI_INT, &filetype);
    MPI_Type_commit(&filetype);
    free(places);
  }
  MPI_File_set_view(file, displacement, view == kInts ? MPI_INT : MPI_BYTE, filetype, "native",
                    MPI_INFO_NULL);
  if (filetype != MPI_BYTE) MPI_Type_free(&filetype);
}

static double Batch(void (*work)(void), long calls) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (long i = 0; i < calls; ++i) work();
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime() - start;
}

static int Compare(const void* one, const void* other) {
  const double a = *(const double*)one, b = *(const double*)other;
  return (a > b) - (a < b);
}

static double Measure(void (*work)(void), double seconds) {
  double values[kBatches], took = 0;
  long calls = 1;
  for (;; calls *= 2) {
    took = Batch(work, calls);
    MPI_Bcast(&took, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (took > seconds / kBatches / 2) break;
  }
  for (int i = 0; i < kBatches; ++i) values[i] = Batch(work, calls) / (double)calls;
  qsort(values, kBatches, sizeof values[0], Compare);
  return values[kBatches / 2] * 1e6;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) {
    const char* where = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/lamina-bench-file.XXXXXX", where != NULL ? where : "/tmp");
    if (mkdtemp(folder) == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
  snprintf(path, sizeof path, "%s/file", folder);
  data = calloc(1, kTotal);
  for (int arg = 2; arg < argc; ++arg) {
    char name[40];
    if (sscanf(argv[arg], "file-%39[^:]:%d", name, &bytes) != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
      if (strcmp(kinds[i].name, name) != 0) continue;
      MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
      if (rank == 0) MPI_File_write_at(file, 0, data, kTotal, MPI_BYTE, MPI_STATUS_IGNORE);
      at = 0;
      SetView(kinds[i].view);
      const double us = Measure(kinds[i].work, atof(argv[1]));
      if (rank == 0) printf("%s %.6g\n", argv[arg], us);
      MPI_File_close(&file);
    }
  }
  if (rank == 0) {
    unlink(path);
    rmdir(folder);
  }
  free(data);
  return MPI_Finalize();
}
