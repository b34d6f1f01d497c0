/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   MPI_Dims_create fills the free dimensions with numbers in non-increasing order whose
 *         product is right and that are as close to each other as can be, at once for any number;
 *         what cannot be done is an error (MPI-5.0, section 8.5.2).
 * Method: the examples of the standard; many numbers to 2000 in 1 to 4 dimensions against a search
 *         of all factorings for the least spread (largest less smallest) and then the least sum;
 *         large primes and products; wrong arguments.
 */
#include "test/mpi/check.h"

static void Example(int n, int a, int b, int c, int x, int y, int z) {
  int dims[3] = {a, b, c};
  EXPECT(MPI_Dims_create(n, 3, dims) == MPI_SUCCESS);
  EXPECT(dims[0] == x && dims[1] == y && dims[2] == z);
}

/* Finds the least spread of `left` more factors of n, none of them below `least`, and the least sum
 * of factors with that spread. */
static int best_spread, best_sum;
static void Search(int n, int left, int smallest, int least, int sum) {
  int i;
  if (left == 1) {
    const int spread = n - (smallest > 0 ? smallest : n);
    if (n < least || spread > best_spread) return;
    if (spread < best_spread || sum + n < best_sum) best_sum = sum + n;
    best_spread = spread;
    return;
  }
  for (i = least; i <= n / i; ++i)
    if (n % i == 0) Search(n / i, left - 1, smallest > 0 ? smallest : i, i, sum + i);
}

static void Balanced(int n, int ndims) {
  int dims[31] = {0}, i, sum = 0;
  long long product = 1;
  MPI_Dims_create(n, ndims, dims);
  for (i = 0; i < ndims; ++i) {
    product *= dims[i];
    sum += dims[i];
    EXPECT(dims[i] >= 1 && (i == 0 || dims[i] <= dims[i - 1]));
  }
  EXPECT(product == n);
  if (n > 2000) return;
  best_spread = best_sum = n + ndims;
  Search(n, ndims, 0, 1, 0);
  EXPECT(dims[0] - dims[ndims - 1] == best_spread && sum == best_sum);
}

static void Errors(void) {
  int dims[2] = {0, 3};
  EXPECT(ClassOf(MPI_Dims_create(7, 2, dims)) == MPI_ERR_DIMS); /* the standard's own example */
  EXPECT(dims[0] == 0 && dims[1] == 3);
  dims[0] = -1;
  EXPECT(ClassOf(MPI_Dims_create(6, 2, dims)) == MPI_ERR_DIMS);
  dims[0] = 4;
  EXPECT(ClassOf(MPI_Dims_create(6, 2, dims)) == MPI_ERR_DIMS);
  EXPECT(MPI_Dims_create(12, 2, dims) == MPI_SUCCESS);
  EXPECT(ClassOf(MPI_Dims_create(0, 2, dims)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Dims_create(6, -1, dims)) == MPI_ERR_DIMS);
  EXPECT(ClassOf(MPI_Dims_create(6, 1, NULL)) == MPI_ERR_ARG);
}

int main(int argc, char** argv) {
  static const int large[] = {2147483647, 2147483646, 1396755360, 2095133040, 1 << 30, 1000000007};
  int n, ndims, i;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  Example(6, 0, 3, 0, 2, 3, 1);
  Example(24, 0, 0, 0, 4, 3, 2);
  Example(30, 0, 5, 0, 3, 5, 2);
  Example(7488, 0, 0, 0, 26, 18, 16); /* and not 24, 24, 13 */
  Example(8, 2, 2, 2, 2, 2, 2);
  for (n = 1; n <= 2000; n += n < 200 ? 1 : 7)
    for (ndims = 1; ndims <= 4; ++ndims) Balanced(n, ndims);
  for (i = 0; i < (int)(sizeof large / sizeof large[0]); ++i)
    for (ndims = 1; ndims <= 31; ndims += 3) Balanced(large[i], ndims);
#ifndef LAMINA_TEST_NO_ERRORS
  Errors();
#endif
  return Passed();
}
