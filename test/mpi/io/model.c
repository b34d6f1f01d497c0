/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   whatever ranks write through views of any shape, by any of the calls, is what they and
 *         others read afterwards, and no other byte of the file changes (MPI-5.0, chapter 14).
 * Method: legal programs drawn at random. All ranks draw the same numbers, so each plays the writes
 *         of all ranks on a model of the file. In an epoch a byte has one owner, who alone writes
 *         it. Then all read through other views, and at the end the file is read as bytes.
 *         Arguments: a seed, and how many epochs.
 */
#include <fcntl.h>
#include <stdint.h>

#include "test/mpi/io/folder.h"

enum { kFileMax = 1 << 20, kPieces = 12, kRanksMax = 16, kLongestPiece = 40, kMostEtypes = 300 };
enum { kAt, kIndividual, kNonblocking, kNonblockingIndividual, kIndependent };
enum { kAtAll = kIndependent, kAll, kNonblockingAll, kNonblockingAtAll, kSplitAt, kSplit, kWays };

static unsigned char model[kFileMax];
static long size; /* of the file, in bytes */
static MPI_File file;

static uint64_t shared_state, own_state;
static unsigned DrawFrom(uint64_t* state, unsigned below) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(*state >> 33) % below;
}
/* The same number on all ranks. */
static unsigned Draw(unsigned below) { return DrawFrom(&shared_state, below); }

/* A view: from `lead` on, tiles of `tile` etypes, of which the pieces are data. All are in etypes
 * but `lead` and `etype`, which are in bytes. */
typedef struct {
  int lead, etype, tile, pieces, begins[kPieces], lengths[kPieces], data;
} View;

/* Divides one tile among all ranks; owner -1 leaves a hole. The extent of the etype must be the
 * same on all ranks. */
static void DrawViews(View* views, uint64_t* state) {
  const int etypes[] = {1, 4, 3};
  View all = {(int)DrawFrom(state, 50), etypes[Draw(3)], 0, 0, {0}, {0}, 0};
  const int pieces = 1 + (int)DrawFrom(state, kPieces);
  const unsigned longest = DrawFrom(state, 2) ? 3 : kLongestPiece;
  for (int r = 0; r < ranks; ++r) views[r] = all;
  for (int i = 0; i < pieces; ++i) {
    const int length = 1 + (int)DrawFrom(state, longest);
    const int owner = (int)DrawFrom(state, (unsigned)ranks + 1) - 1;
    if (owner >= 0) {
      View* view = &views[owner];
      view->begins[view->pieces] = all.tile;
      view->lengths[view->pieces++] = length;
      view->data += length;
    }
    all.tile += length;
  }
  for (int r = 0; r < ranks; ++r) views[r].tile = all.tile;
}

/* The byte of the file at which etype `position` of a view begins. */
static long ByteOf(const View* view, long position) {
  long rest = position % view->data;
  int i = 0;
  while (rest >= view->lengths[i]) rest -= view->lengths[i++];
  return view->lead +
         (position / view->data * view->tile + view->begins[i] + rest) * (long)view->etype;
}

/* A rank without data has a view of the whole file, and accesses nothing. */
static MPI_Datatype SetView(const View* view) {
  const char* const windows[] = {"7", "256", "16777216"};
  const char* const methods[] = {"enable", "disable", "automatic"};
  MPI_Datatype etype, pieces, filetype;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_buffer_size", windows[Draw(3)]);
  MPI_Info_set(info, "romio_cb_write", methods[Draw(3)]);
  MPI_Info_set(info, "romio_ds_write", methods[Draw(3)]);
  if (view->etype == 4)
    MPI_Type_dup(MPI_INT, &etype);
  else
    MPI_Type_contiguous(view->etype, MPI_BYTE, &etype);
  MPI_Type_commit(&etype);
  if (view->data == 0) {
    MPI_Type_dup(etype, &filetype);
  } else {
    MPI_Type_indexed(view->pieces, view->lengths, view->begins, etype, &pieces);
    MPI_Type_create_resized(pieces, 0, (MPI_Aint)view->tile * view->etype, &filetype);
    MPI_Type_free(&pieces);
  }
  MPI_Type_commit(&filetype);
  EXPECT(MPI_File_set_view(file, view->lead, etype, filetype, "native", info) == MPI_SUCCESS);
  MPI_Type_free(&filetype);
  MPI_Info_free(&info);
  return etype;
}

/* Data in memory: `n` etypes, one behind the other or with gaps of two bytes. */
typedef struct {
  unsigned char bytes[kMostEtypes * 6];
  int n, stride;
  MPI_Datatype type;
  int count;
} Memory;

static void Lay(Memory* memory, int n, int bytes, MPI_Datatype etype) {
  const int gaps = n > 0 && DrawFrom(&own_state, 3) == 0;
  memset(memory->bytes, 0xee, sizeof memory->bytes);
  memory->n = n;
  memory->stride = bytes + (gaps ? 2 : 0);
  memory->count = gaps ? 1 : n;
  if (gaps)
    MPI_Type_create_hvector(n, 1, memory->stride, etype, &memory->type);
  else
    MPI_Type_dup(etype, &memory->type);
  MPI_Type_commit(&memory->type);
}

/* One access of `count` etypes at `position` by way `way`; returns how many bytes it moved. */
static int Access(int writes, int way, long position, Memory* memory) {
  void* const data = memory->bytes;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  MPI_Offset now = -1;
  int bytes = -1, result = MPI_SUCCESS;
  const int n = memory->count;
  MPI_Datatype type = memory->type;
  const int moves_pointer = way == kIndividual || way == kNonblockingIndividual || way == kAll ||
                            way == kNonblockingAll || way == kSplit;
  if (moves_pointer) EXPECT(MPI_File_seek(file, position, MPI_SEEK_SET) == MPI_SUCCESS);
  switch (way) {
    case kAt:
      result = writes ? MPI_File_write_at(file, position, data, n, type, &status)
                      : MPI_File_read_at(file, position, data, n, type, &status);
      break;
    case kIndividual:
      result = writes ? MPI_File_write(file, data, n, type, &status)
                      : MPI_File_read(file, data, n, type, &status);
      break;
    case kNonblocking:
      result = writes ? MPI_File_iwrite_at(file, position, data, n, type, &request)
                      : MPI_File_iread_at(file, position, data, n, type, &request);
      break;
    case kNonblockingIndividual:
      result = writes ? MPI_File_iwrite(file, data, n, type, &request)
                      : MPI_File_iread(file, data, n, type, &request);
      break;
    case kAtAll:
      result = writes ? MPI_File_write_at_all(file, position, data, n, type, &status)
                      : MPI_File_read_at_all(file, position, data, n, type, &status);
      break;
    case kAll:
      result = writes ? MPI_File_write_all(file, data, n, type, &status)
                      : MPI_File_read_all(file, data, n, type, &status);
      break;
    case kNonblockingAtAll:
      result = writes ? MPI_File_iwrite_at_all(file, position, data, n, type, &request)
                      : MPI_File_iread_at_all(file, position, data, n, type, &request);
      break;
    case kNonblockingAll:
      result = writes ? MPI_File_iwrite_all(file, data, n, type, &request)
                      : MPI_File_iread_all(file, data, n, type, &request);
      break;
    case kSplitAt:
      EXPECT((writes ? MPI_File_write_at_all_begin(file, position, data, n, type)
                     : MPI_File_read_at_all_begin(file, position, data, n, type)) == MPI_SUCCESS);
      result = writes ? MPI_File_write_at_all_end(file, data, &status)
                      : MPI_File_read_at_all_end(file, data, &status);
      break;
    default:
      EXPECT((writes ? MPI_File_write_all_begin(file, data, n, type)
                     : MPI_File_read_all_begin(file, data, n, type)) == MPI_SUCCESS);
      result = writes ? MPI_File_write_all_end(file, data, &status)
                      : MPI_File_read_all_end(file, data, &status);
  }
  EXPECT(result == MPI_SUCCESS);
  if (request != MPI_REQUEST_NULL) EXPECT(MPI_Wait(&request, &status) == MPI_SUCCESS);
  EXPECT(MPI_Get_elements(&status, MPI_BYTE, &bytes) == MPI_SUCCESS);
  if (moves_pointer && writes) {
    EXPECT(MPI_File_get_position(file, &now) == MPI_SUCCESS);
    EXPECT(now == position + memory->n);
  }
  MPI_Type_free(&memory->type);
  return bytes;
}

static unsigned char Datum(unsigned key, int i) {
  return (unsigned char)((key + (unsigned)i) * 2654435761u >> 13);
}

static void Writes(void) {
  static Memory memory;
  View views[kRanksMax];
  DrawViews(views, &shared_state);
  MPI_Datatype etype = SetView(&views[rank]);
  for (unsigned step = 1 + Draw(4); step > 0; --step) {
    const int way = (int)Draw(kWays);
    int mine = 0;
    long position = 0;
    for (int r = 0; r < ranks; ++r) {
      const View* view = &views[r];
      const unsigned key = Draw(1u << 30);
      const long at = Draw(200);
      const int n = view->data == 0 || Draw(6) == 0 ? 0 : 1 + (int)Draw(kMostEtypes - 1);
      if (r == rank) {
        mine = n;
        position = at;
        Lay(&memory, n, view->etype, etype);
      }
      for (int i = 0; i < n; ++i) {
        const long byte = ByteOf(view, at + i);
        for (int b = 0; b < view->etype; ++b) {
          const unsigned char value = Datum(key, i * view->etype + b);
          if (r == rank) memory.bytes[i * memory.stride + b] = value;
          model[byte + b] = value;
        }
        if (byte + view->etype > size) size = byte + view->etype;
      }
    }
    EXPECT(Access(1, way, position, &memory) == mine * views[rank].etype);
  }
  MPI_Type_free(&etype);
}

static void Reads(void) {
  static Memory memory;
  View views[kRanksMax];
  DrawViews(views, &own_state);
  const View* view = &views[rank];
  MPI_Datatype etype = SetView(view);
  for (unsigned step = 1 + Draw(4); step > 0; --step) {
    const int way = (int)Draw(kWays);
    const int n = view->data == 0 ? 0 : (int)DrawFrom(&own_state, kMostEtypes);
    const long position = DrawFrom(&own_state, 300);
    int there = 0, wrong = 0;
    Lay(&memory, n, view->etype, etype);
    const int moved = Access(0, way, position, &memory);
    for (int i = 0; i < n; ++i)
      for (int b = 0; b < memory.stride; ++b) {
        const long byte = ByteOf(view, position + i) + b;
        const int is_data = b < view->etype && byte < size;
        there += is_data;
        wrong += memory.bytes[i * memory.stride + b] != (is_data ? model[byte] : 0xee);
      }
    EXPECT(moved == there);
    EXPECT(wrong == 0);
  }
  MPI_Type_free(&etype);
}

/* All ranks have one view; they write and read in the order of ranks at the shared pointer. */
static void Ordered(void) {
  unsigned char data[300], back[300];
  MPI_Status status;
  int begin = (int)Draw(500), before = 0, mine = 0, wrong = 0;
  EXPECT(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  EXPECT(MPI_File_seek_shared(file, begin, MPI_SEEK_SET) == MPI_SUCCESS);
  for (int r = 0; r < ranks; ++r) {
    const int n = (int)Draw(sizeof data);
    const unsigned key = Draw(1u << 30);
    for (int i = 0; i < n; ++i) {
      model[begin + before + i] = Datum(key, i);
      if (r == rank) data[i] = Datum(key, i);
    }
    if (r == rank) mine = n;
    before += n;
  }
  if (before > 0 && begin + before > size) size = begin + before;
  EXPECT(MPI_File_write_ordered(file, data, mine, MPI_BYTE, &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_BYTE) == mine);
  EXPECT(MPI_File_seek_shared(file, begin, MPI_SEEK_SET) == MPI_SUCCESS);
  EXPECT(MPI_File_read_ordered(file, back, mine, MPI_BYTE, &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_BYTE) == mine);
  for (int i = 0; i < mine; ++i) wrong += back[i] != data[i];
  EXPECT(wrong == 0);
}

static void Resized(void) {
  const long wanted = (long)Draw(1 << 14);
  MPI_Offset told = -1;
  EXPECT(MPI_File_set_size(file, wanted) == MPI_SUCCESS);
  if (wanted < size) memset(model + wanted, 0, (size_t)(size - wanted));
  size = wanted;
  EXPECT(MPI_File_get_size(file, &told) == MPI_SUCCESS && told == size);
}

/* What ranks have written is there for all from here on, and nobody reads any more. */
static void Meet(int atomic) {
  if (!atomic) EXPECT(MPI_File_sync(file) == MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!atomic) EXPECT(MPI_File_sync(file) == MPI_SUCCESS);
}

static void CompareAsBytes(void) {
  static unsigned char bytes[kFileMax + 1];
  const int handle = open(In("model"), O_RDONLY);
  EXPECT(handle >= 0);
  EXPECT(read(handle, bytes, sizeof bytes) == size);
  EXPECT(memcmp(bytes, model, (size_t)size) == 0);
  close(handle);
}

int main(int argc, char** argv) {
  const unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
  const int epochs = argc > 2 ? atoi(argv[2]) : 30;
  MPI_Init(&argc, &argv);
  MakeFolder();
  shared_state = seed;
  own_state = seed * 1000003u + (unsigned)rank;
  for (int epoch = 0; epoch < epochs && failures == 0; ++epoch) {
    if (epoch % 10 == 0) {
      if (epoch > 0) EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
      file = Open("model", MPI_MODE_CREATE | MPI_MODE_RDWR);
    }
    const int atomic = Draw(4) == 0;
    EXPECT(MPI_File_set_atomicity(file, atomic) == MPI_SUCCESS);
    switch (Draw(6)) {
      case 0:
        Ordered();
        break;
      case 1:
        Resized();
        break;
      default:
        Writes();
    }
    Meet(atomic);
    Reads();
    Meet(atomic);
    if (failures > 0) fprintf(stderr, "seed %u, epoch %d, rank %d\n", seed, epoch, rank);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  if (rank == 0) CompareAsBytes();
  Remove("model");
  return LeaveFolder();
}
