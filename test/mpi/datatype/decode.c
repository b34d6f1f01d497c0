/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: a type, whatever it is built of, means what its constructor calls say (MPI-5.0, sections
 * 5.1.1 to 5.1.13): extents, true extents and the bytes MPI_Pack takes, in order.
 * Method: random trees of constructors, taken apart again by MPI_Type_get_envelope and
 * MPI_Type_get_contents down to named types; a naive interpreter writes the type map out and
 * everything is compared with it.
 */
#include <stdlib.h>

#include "test/mpi/datatype/expect.h"

enum { kEntriesMax = 20000, kMemory = 1 << 20 };

/* A type map says where each basic element lies and how long it is, and what the bounds are. */
typedef struct {
  int count;
  MPI_Aint* places;
  int* sizes;
  MPI_Aint lower, upper;
  int marked;    /* the bounds were set explicitly */
  int alignment; /* the largest of the elements */
} Map;

static unsigned state;

static int Between(int low, int high) {
  state = state * 1664525u + 1013904223u;
  return low + (int)((state >> 16) % (unsigned)(high - low + 1));
}

static Map Empty(void) {
  Map map = {0, NULL, NULL, 0, 0, 0, 1};
  map.places = malloc(sizeof(MPI_Aint) * kEntriesMax);
  map.sizes = malloc(sizeof(int) * kEntriesMax);
  return map;
}

static void Drop(Map* map) {
  free(map->places);
  free(map->sizes);
}

static MPI_Aint Extent(const Map* map) { return map->upper - map->lower; }

/* Adds the elements of `inner`, moved; bounds count among equals, or where they are explicit. */
static void Add(Map* map, const Map* inner, MPI_Aint displacement, int* has_bounds) {
  int i;
  if (map->count + inner->count > kEntriesMax) abort();
  for (i = 0; i < inner->count; ++i) {
    map->places[map->count] = inner->places[i] + displacement;
    map->sizes[map->count++] = inner->sizes[i];
  }
  if (inner->alignment > map->alignment) map->alignment = inner->alignment;
  if (inner->count == 0 && !inner->marked) return;
  if (map->marked && !inner->marked) return;
  if (inner->marked && !map->marked) map->marked = 1, *has_bounds = 0;
  if (!*has_bounds || inner->lower + displacement < map->lower)
    map->lower = inner->lower + displacement;
  if (!*has_bounds || inner->upper + displacement > map->upper)
    map->upper = inner->upper + displacement;
  *has_bounds = 1;
}

static void AddBlock(Map* map, const Map* inner, MPI_Aint displacement, int length, int* bounds) {
  int i;
  for (i = 0; i < length; ++i) Add(map, inner, displacement + i * Extent(inner), bounds);
}

static Map Interpret(MPI_Datatype type);

/* Makes the type map of a derived type from its constructor's arguments. `inner` has the maps of
 * the types among these. */
static void Rebuild(Map* map, int combiner, const int* n, const MPI_Aint* a, const Map* inner) {
  int bounds = 0, i, j;
  const MPI_Aint extent = Extent(inner);
  switch (combiner) {
    case MPI_COMBINER_DUP:
      AddBlock(map, inner, 0, 1, &bounds);
      break;
    case MPI_COMBINER_CONTIGUOUS:
      AddBlock(map, inner, 0, n[0], &bounds);
      break;
    case MPI_COMBINER_VECTOR:
      for (i = 0; i < n[0]; ++i) AddBlock(map, inner, i * n[2] * extent, n[1], &bounds);
      break;
    case MPI_COMBINER_HVECTOR:
      for (i = 0; i < n[0]; ++i) AddBlock(map, inner, i * a[0], n[1], &bounds);
      break;
    case MPI_COMBINER_INDEXED:
      for (i = 0; i < n[0]; ++i) AddBlock(map, inner, n[1 + n[0] + i] * extent, n[1 + i], &bounds);
      break;
    case MPI_COMBINER_HINDEXED:
      for (i = 0; i < n[0]; ++i) AddBlock(map, inner, a[i], n[1 + i], &bounds);
      break;
    case MPI_COMBINER_INDEXED_BLOCK:
      for (i = 0; i < n[0]; ++i) AddBlock(map, inner, n[2 + i] * extent, n[1], &bounds);
      break;
    case MPI_COMBINER_STRUCT:
      for (i = 0; i < n[0]; ++i) AddBlock(map, &inner[i], a[i], n[1 + i], &bounds);
      break;
    case MPI_COMBINER_RESIZED:
      AddBlock(map, inner, 0, 1, &bounds);
      map->lower = a[0], map->upper = a[0] + a[1], map->marked = 1;
      return;
    case MPI_COMBINER_SUBARRAY: /* of two dimensions */
      for (i = 0; i < (n[7] == MPI_ORDER_C ? n[3] : n[4]); ++i)
        for (j = 0; j < (n[7] == MPI_ORDER_C ? n[4] : n[3]); ++j)
          Add(map, inner,
              extent * (n[7] == MPI_ORDER_C ? (n[5] + i) * n[2] + n[6] + j
                                            : (n[6] + i) * n[1] + n[5] + j),
              &bounds);
      map->lower = 0, map->upper = n[1] * n[2] * extent, map->marked = 1;
      return;
    default:
      EXPECT(0);
  }
  if (!map->marked) {
    const MPI_Aint over = Extent(map) % map->alignment;
    if (over > 0) map->upper += map->alignment - over;
  }
}

static Map Interpret(MPI_Datatype type) {
  int ni, na, nd, combiner, i, size;
  int integers[32];
  MPI_Aint addresses[16];
  MPI_Datatype types[8];
  Map map = Empty(), inner[8];
  MPI_Type_get_envelope(type, &ni, &na, &nd, &combiner);
  if (combiner == MPI_COMBINER_NAMED) {
    MPI_Type_size(type, &size);
    map.count = 1, map.places[0] = 0, map.sizes[0] = size;
    map.upper = map.alignment = size;
    return map;
  }
  MPI_Type_get_contents(type, ni, na, nd, integers, addresses, types);
  for (i = 0; i < nd; ++i) {
    int in_ni, in_na, in_nd, in_combiner;
    inner[i] = Interpret(types[i]);
    MPI_Type_get_envelope(types[i], &in_ni, &in_na, &in_nd, &in_combiner);
    if (in_combiner != MPI_COMBINER_NAMED) MPI_Type_free(&types[i]);
  }
  Rebuild(&map, combiner, integers, addresses, inner);
  for (i = 0; i < nd; ++i) Drop(&inner[i]);
  return map;
}

static MPI_Datatype Random(int depth) {
  const MPI_Datatype named[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_FLOAT};
  MPI_Datatype made, inner, types[3];
  int lengths[3], places[3], i, sizes[2], subsizes[2], starts[2];
  MPI_Aint bytes[3];
  const int count = Between(0, 3);
  if (depth == 0) return named[Between(0, 4)];
  inner = Random(depth - 1);
  for (i = 0; i < 3; ++i) {
    lengths[i] = Between(0, 3), places[i] = Between(-6, 6), bytes[i] = Between(-50, 50);
    types[i] = i == 0 ? inner : Random(depth - 1);
  }
  for (i = 0; i < 2; ++i) {
    sizes[i] = Between(1, 4), subsizes[i] = Between(1, sizes[i]);
    starts[i] = Between(0, sizes[i] - subsizes[i]);
  }
  switch (Between(0, 9)) {
    case 0:
      MPI_Type_contiguous(count, inner, &made);
      break;
    case 1:
      MPI_Type_vector(count, lengths[0], places[0], inner, &made);
      break;
    case 2:
      MPI_Type_create_hvector(count, lengths[0], bytes[0], inner, &made);
      break;
    case 3:
      MPI_Type_indexed(count, lengths, places, inner, &made);
      break;
    case 4:
      MPI_Type_create_hindexed(count, lengths, bytes, inner, &made);
      break;
    case 5:
      MPI_Type_create_indexed_block(count, lengths[0], places, inner, &made);
      break;
    case 6:
      MPI_Type_create_struct(count, lengths, bytes, types, &made);
      break;
    case 7:
      MPI_Type_create_resized(inner, bytes[0], bytes[1], &made);
      break;
    case 8:
      MPI_Type_create_subarray(2, sizes, subsizes, starts,
                               Between(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, inner, &made);
      break;
    default:
      MPI_Type_dup(inner, &made);
  }
  for (i = 0; i < 3 && depth > 1; ++i) MPI_Type_free(&types[i]);
  return made;
}

/* Tells whether `count` elements stay within the memory around its middle. */
static int Reaches(const Map* map, int count) {
  int i;
  for (i = 0; i < map->count; ++i) {
    const MPI_Aint last = map->places[i] + (count - 1) * Extent(map);
    if (labs(map->places[i]) > kMemory / 2 - 100 || labs(last) > kMemory / 2 - 100) return 0;
  }
  return 1;
}

static void Compare(MPI_Datatype type, const char* memory, char* packed) {
  Map map = Interpret(type);
  MPI_Aint lower, extent, true_lower, true_extent, first = 0, end = 0;
  int i, k, size, bytes = 0, position = 0, wrong = 0;
  const int count = Between(1, 6);
  for (i = 0; i < map.count; ++i) {
    if (i == 0 || map.places[i] < first) first = map.places[i];
    if (i == 0 || map.places[i] + map.sizes[i] > end) end = map.places[i] + map.sizes[i];
    bytes += map.sizes[i];
  }
  MPI_Type_size(type, &size);
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Type_get_true_extent(type, &true_lower, &true_extent);
  EXPECT(size == bytes);
  EXPECT(lower == map.lower && extent == Extent(&map));
  EXPECT(map.count == 0 || (true_lower == first && true_extent == end - first));
  if (Reaches(&map, count)) {
    MPI_Type_commit(&type);
    MPI_Pack(memory + kMemory / 2, count, type, packed, kMemory, &position, MPI_COMM_SELF);
    EXPECT(position == count * bytes);
    position = 0;
    for (k = 0; k < count; ++k)
      for (i = 0; i < map.count; ++i) {
        wrong += memcmp(packed + position, memory + kMemory / 2 + k * Extent(&map) + map.places[i],
                        (size_t)map.sizes[i]) != 0;
        position += map.sizes[i];
      }
    EXPECT(wrong == 0);
  }
  Drop(&map);
}

int main(int argc, char** argv) {
  char* memory = malloc(kMemory);
  char* packed = malloc(kMemory);
  int seed, i;
  MPI_Init(&argc, &argv);
  for (i = 0; i < kMemory; ++i) memory[i] = (char)(i * 7 + i / 251);
  for (seed = 1; seed <= 400 && failures == 0; ++seed) {
    MPI_Datatype type;
    state = (unsigned)seed * 7919u;
    type = Random(1 + seed % 3);
    Compare(type, memory, packed);
    MPI_Type_free(&type);
    if (failures > 0) fprintf(stderr, "seed %d\n", seed);
  }
  free(memory);
  free(packed);
  return Passed();
}
