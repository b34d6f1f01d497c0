/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   reduce, allreduce, reduce_scatter(_block), scan and exscan fold all operands in rank
 * order, with predefined and user operations, commutative or not, plain and derived datatypes, in
 *         place and not; all ranks of an allreduce get the same bits (MPI-5.0, sections 6.9
 * to 6.11). Method: products of matrices over a prime field, which do not commute, computed
 * serially on every rank for comparison; integers and floating point for the predefined operations.
 */
#include <stddef.h>

#include "test/mpi/collective/calls.h"
#include "test/mpi/collective/data.h"

static int rank, size;
static MPI_Comm comm;
static MPI_Datatype matrix_type;
static MPI_Op multiply, add_pairs;

enum { kPrime = 10007 };
struct Matrix {
  int m[4];
};

static struct Matrix Product(struct Matrix a, struct Matrix b) {
  struct Matrix c;
  c.m[0] = (a.m[0] * b.m[0] + a.m[1] * b.m[2]) % kPrime;
  c.m[1] = (a.m[0] * b.m[1] + a.m[1] * b.m[3]) % kPrime;
  c.m[2] = (a.m[2] * b.m[0] + a.m[3] * b.m[2]) % kPrime;
  c.m[3] = (a.m[2] * b.m[1] + a.m[3] * b.m[3]) % kPrime;
  return c;
}
static void Multiply(void* in, void* inout, int* length, MPI_Datatype* type) {
  struct Matrix* a = in;
  struct Matrix* b = inout;
  int i;
  (void)type;
  for (i = 0; i < *length; ++i) b[i] = Product(a[i], b[i]);
}
/* Adds elements of the spread type, which are two integers with holes. */
static void AddPairs(void* in, void* inout, int* length, MPI_Datatype* type) {
  int *a = in, *b = inout, i;
  (void)type;
  for (i = 0; i < *length; ++i) {
    b[4 * i] += a[4 * i];
    b[4 * i + 2] += a[4 * i + 2];
  }
}

static struct Matrix Own(int r, int i) {
  struct Matrix m = {{(r * 17 + i) % 100 + 1, r + 2, i % 50 + 3, (r * r + 5) % 90}};
  return m;
}
static struct Matrix Fold(int first, int last, int i) {
  struct Matrix m = Own(first, i);
  int r;
  for (r = first + 1; r < last; ++r) m = Product(m, Own(r, i));
  return m;
}

static void CheckMatrices(const char* what, const struct Matrix* found, int count, int first,
                          int last, int offset) {
  int i;
  for (i = 0; i < count; ++i) {
    struct Matrix wanted = Fold(first, last, offset + i);
    if (memcmp(&wanted, &found[i], sizeof wanted) == 0) continue;
    ++failures;
    fprintf(stderr, "%s of %d matrices: rank %d of %d: element %d is wrong\n", what, count, rank,
            size, i);
    return;
  }
}

static struct Matrix* NewMatrices(int count, int fill) {
  struct Matrix* all = malloc((size_t)(count + 1) * sizeof *all);
  int i;
  memset(all, 0x55, (size_t)(count + 1) * sizeof *all);
  for (i = 0; i < count && fill; ++i) all[i] = Own(rank, i);
  return all;
}

static void TestMatrices(int n, int in_place) {
  int root, r, counts[kRanksMax], first = 0;
  struct Matrix* in = NewMatrices(n, 1);
  struct Matrix* out;
  const struct Matrix* send;

  for (root = 0; root<size; root += n> 1000 ? size : 1) {
    out = NewMatrices(n, in_place && rank == root);
    send = in_place && rank == root ? MPI_IN_PLACE : in;
    Reduce(send, rank == root ? out : NULL, n, matrix_type, multiply, root, comm);
    if (rank == root) CheckMatrices("reduce", out, n, 0, size, 0);
    free(out);
  }
  out = NewMatrices(n, in_place);
  Allreduce(in_place ? MPI_IN_PLACE : (void*)in, out, n, matrix_type, multiply, comm);
  CheckMatrices("allreduce", out, n, 0, size, 0);
  free(out);

  out = NewMatrices(n, in_place);
  Scan(in_place ? MPI_IN_PLACE : (void*)in, out, n, matrix_type, multiply, comm);
  CheckMatrices("scan", out, n, 0, rank + 1, 0);
  free(out);

  out = NewMatrices(n, in_place);
  Exscan(in_place ? MPI_IN_PLACE : (void*)in, out, n, matrix_type, multiply, comm);
  if (rank > 0) CheckMatrices("exscan", out, n, 0, rank, 0);
  free(out);
  free(in);

  in = NewMatrices(n * size, 1);
  out = NewMatrices(in_place ? n * size : n, in_place);
  ReduceScatterBlock(in_place ? MPI_IN_PLACE : (void*)in, out, n, matrix_type, multiply, comm);
  CheckMatrices("reduce_scatter_block", out, n, 0, size, rank * n);
  free(out);
  free(in);

  for (r = 0; r < size; ++r) counts[r] = (r * 5 + n) % 4;
  for (r = 0; r < rank; ++r) first += counts[r];
  in = NewMatrices(4 * size, 1);
  out = NewMatrices(4 * size, in_place);
  ReduceScatter(in_place ? MPI_IN_PLACE : (void*)in, out, counts, matrix_type, multiply, comm);
  CheckMatrices("reduce_scatter", out, counts[rank], 0, size, first);
  free(out);
  free(in);
}

static void TestSpread(int n, int root) {
  int* in = NewBuffer(kSpread, (size_t)n);
  int* out = NewBuffer(kSpread, (size_t)n);
  int k;
  for (k = 0; k < n; ++k) in[At(kSpread, (size_t)k)] = rank + k;
  Reduce(in, out, n / 2, spread_type, add_pairs, root, comm);
  for (k = 0; k < n && rank == root; ++k)
    if (out[At(kSpread, (size_t)k)] != size * (size - 1) / 2 + size * k) {
      EXPECT(!"sum of derived types");
      break;
    }
  Allreduce(MPI_IN_PLACE, in, n / 2, spread_type, add_pairs, comm);
  for (k = 0; k < n; ++k)
    if (in[At(kSpread, (size_t)k)] != size * (size - 1) / 2 + size * k) {
      EXPECT(!"sum of derived types in place");
      break;
    }
  CheckHoles("reduction of derived types", in, kSpread, (size_t)n);
  free(in);
  free(out);
}

/* The rounding of these sums depends on the order. All ranks and all repetitions must get the same
 * bits. */
static void TestSameBits(int n) {
  double* in = malloc((size_t)n * sizeof *in);
  double* out = malloc((size_t)n * sizeof *out);
  double* of_root = malloc((size_t)n * sizeof *of_root);
  double* again = malloc((size_t)n * sizeof *again);
  int i;
  for (i = 0; i < n; ++i) in[i] = 1.0 / (rank * 7 + i + 3) * (rank % 2 == 0 ? 1e10 : 1e-3);
  Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, comm);
  Allreduce(in, again, n, MPI_DOUBLE, MPI_SUM, comm);
  EXPECT(memcmp(out, again, (size_t)n * sizeof *out) == 0);
  memcpy(of_root, out, (size_t)n * sizeof *out);
  Bcast(of_root, n, MPI_DOUBLE, size - 1, comm);
  EXPECT(memcmp(out, of_root, (size_t)n * sizeof *out) == 0);
  free(in);
  free(out);
  free(of_root);
  free(again);
}

static void TestPredefined(void) {
  struct {
    double value;
    int index;
  } pair = {(double)((rank * 7) % size), rank}, best;
  long long product = rank % 3 + 1, total = 0, wanted = 1;
  unsigned bits = 1u << (rank % 30), all_bits = 0;
  int yes = rank != 0, any = -1, r;
  double largest = 0;
  for (r = 0; r < size && r < 20; ++r) wanted *= r % 3 + 1;
  if (size <= 20) {
    Allreduce(&product, &total, 1, MPI_LONG_LONG, MPI_PROD, comm);
    EXPECT(total == wanted);
  }
  Allreduce(&pair, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
  EXPECT((best.index * 7) % size == (int)best.value);
  Allreduce(&bits, &all_bits, 1, MPI_UNSIGNED, MPI_BOR, comm);
  EXPECT(all_bits == (size >= 30 ? (1u << 30) - 1 : (1u << size) - 1));
  Allreduce(&yes, &any, 1, MPI_INT, MPI_LAND, comm);
  EXPECT(any == 0);
  Reduce(&pair.value, &largest, 1, MPI_DOUBLE, MPI_MAX, size - 1, comm);
  if (rank == size - 1) EXPECT(largest == (double)best.value);
}

/* The first member of this structure does not travel, and vector instructions will read it. */
struct Placed {
  double stays;
  double number;
  long double wide;
};
static int misplaced = 0;
static void AddPlaced(void* in, void* inout, int* length, MPI_Datatype* type) {
  const struct Placed* from = in;
  struct Placed* to = inout;
  int i;
  (void)type;
  misplaced += (size_t)in % sizeof(long double) != 0 || (size_t)inout % sizeof(long double) != 0;
  for (i = 0; i < *length; ++i) to[i].number += from[i].number;
}

static void TestPlaces(int n) {
  struct Placed *mine = calloc((size_t)n, sizeof *mine), *sum = calloc((size_t)n, sizeof *sum);
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {offsetof(struct Placed, number), offsetof(struct Placed, wide)};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_LONG_DOUBLE};
  MPI_Datatype parts, placed;
  MPI_Op add;
  int i;
  MPI_Type_create_struct(2, lengths, places, types, &parts);
  MPI_Type_create_resized(parts, 0, sizeof(struct Placed), &placed);
  MPI_Type_commit(&placed);
  MPI_Op_create(AddPlaced, 1, &add);
  for (i = 0; i < n; ++i) mine[i].number = rank + i;
  Allreduce(mine, sum, n, placed, add, comm);
  for (i = 0; i < n; ++i) EXPECT(sum[i].number == size * (size - 1) / 2 + size * i);
  Scan(mine, sum, n, placed, add, comm);
  for (i = 0; i < n; ++i) EXPECT(sum[i].number == rank * (rank + 1) / 2 + (rank + 1) * i);
  EXPECT(misplaced == 0);
  MPI_Op_free(&add);
  MPI_Type_free(&parts);
  MPI_Type_free(&placed);
  free(mine);
  free(sum);
}

static void TestAll(void) {
  static const int lengths[] = {0, 1, 3, 17, 2049};
  int i, in_place, root;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (i = 0; i < (int)(sizeof lengths / sizeof lengths[0]); ++i) {
    for (in_place = 0; in_place < 2; ++in_place) TestMatrices(lengths[i], in_place);
    if (lengths[i] > 0) TestSameBits(lengths[i]);
  }
  TestSameBits(70001);
  for (root = 0; root < size; ++root) TestSpread(root % 2 == 0 ? 2 : 1000, root);
  TestPredefined();
  TestPlaces(1);
  TestPlaces(5);
  TestPlaces(700);
}

int main(int argc, char** argv) {
  struct Matrix one = {{1, 2, 3, 4}}, two = {{5, 6, 7, 8}}, wanted;
  MPI_Init(&argc, &argv);
  MakeTypes();
  MPI_Type_contiguous(4, MPI_INT, &matrix_type);
  MPI_Type_commit(&matrix_type);
  MPI_Op_create(Multiply, 0, &multiply);
  MPI_Op_create(AddPairs, 1, &add_pairs);
  wanted = Product(one, two);
  MPI_Reduce_local(&one, &two, 1, matrix_type, multiply);
  EXPECT(memcmp(&two, &wanted, sizeof two) == 0);
  for (form = kBlocking; form < kForms; ++form) {
    int world_rank;
    comm = MPI_COMM_WORLD;
    TestAll();
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 3 == 1, -world_rank, &comm);
    TestAll();
    MPI_Comm_free(&comm);
  }
  MPI_Op_free(&multiply);
  MPI_Op_free(&add_pairs);
  MPI_Type_free(&matrix_type);
  MPI_Type_free(&spread_type);
  return Passed();
}
