/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: Cartesian grids, graphs and distributed graphs describe who is whose neighbour, and data
 * sent along a shift arrives there (MPI-5.0, chapter 8).
 */
#include "test/mpi/check.h"

static int rank, size;

static void Dims(void) {
  int dims[3] = {0, 0, 0};
  int fixed[2] = {0, 3};
  MPI_Dims_create(24, 3, dims);
  EXPECT(dims[0] == 4 && dims[1] == 3 && dims[2] == 2);
  MPI_Dims_create(12, 2, fixed);
  EXPECT(fixed[0] == 4 && fixed[1] == 3);
}

static void Grid(void) {
  MPI_Comm grid, row, twin;
  int dims[2] = {0, 0}, periods[2] = {0, 1}, coords[2], back[2], n, source, target, got = -1, kind;

  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Topo_test(grid, &kind);
  EXPECT(kind == MPI_CART);
  MPI_Topo_test(MPI_COMM_WORLD, &kind);
  EXPECT(kind == MPI_UNDEFINED);
  MPI_Cartdim_get(grid, &n);
  EXPECT(n == 2);
  MPI_Cart_coords(grid, rank, 2, coords);
  EXPECT(coords[0] == rank / dims[1] && coords[1] == rank % dims[1]);
  MPI_Cart_rank(grid, coords, &n);
  EXPECT(n == rank);
  coords[1] += dims[1];
  MPI_Cart_rank(grid, coords, &n); /* around */
  EXPECT(n == rank);
  MPI_Cart_get(grid, 2, back, periods, coords);
  EXPECT(back[0] == dims[0] && back[1] == dims[1] && !periods[0] && periods[1]);

  MPI_Cart_shift(grid, 0, 1, &source, &target);
  EXPECT(source == (rank < dims[1] ? MPI_PROC_NULL : rank - dims[1]));
  EXPECT(target == (rank + dims[1] >= size ? MPI_PROC_NULL : rank + dims[1]));
  MPI_Cart_shift(grid, 1, 1, &source, &target);
  MPI_Sendrecv(&rank, 1, MPI_INT, target, 0, &got, 1, MPI_INT, source, 0, grid, MPI_STATUS_IGNORE);
  EXPECT(got == source && got == coords[0] * dims[1] + (coords[1] + dims[1] - 1) % dims[1]);

  MPI_Comm_dup(grid, &twin); /* with its topology */
  MPI_Topo_test(twin, &kind);
  EXPECT(kind == MPI_CART);
  MPI_Comm_free(&twin);

  periods[0] = 0, periods[1] = 1;
  MPI_Cart_sub(grid, periods, &row);
  MPI_Comm_size(row, &n);
  EXPECT(n == dims[1]);
  MPI_Comm_rank(row, &n);
  EXPECT(n == coords[1]);
  MPI_Cartdim_get(row, &n);
  EXPECT(n == 1);
  MPI_Comm_free(&row);
  MPI_Comm_free(&grid);

  /* A grid smaller than the communicator leaves the others out. */
  dims[0] = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid);
  EXPECT((grid == MPI_COMM_NULL) == (rank != 0));
  if (grid != MPI_COMM_NULL) MPI_Comm_free(&grid);
}

/* In a ring each process has its neighbours beside it. */
static void Graph(void) {
  MPI_Comm graph;
  int index[64], edges[128], i, n, m, neighbours[2], kind;
  for (i = 0; i < size; ++i) {
    index[i] = 2 * (i + 1);
    edges[2 * i] = (i + size - 1) % size;
    edges[2 * i + 1] = (i + 1) % size;
  }
  MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &graph);
  MPI_Topo_test(graph, &kind);
  EXPECT(kind == MPI_GRAPH);
  MPI_Graphdims_get(graph, &n, &m);
  EXPECT(n == size && m == 2 * size);
  MPI_Graph_neighbors_count(graph, rank, &n);
  EXPECT(n == 2);
  MPI_Graph_neighbors(graph, rank, 2, neighbours);
  EXPECT(neighbours[0] == (rank + size - 1) % size && neighbours[1] == (rank + 1) % size);
  MPI_Comm_free(&graph);
}

static void DistributedGraph(void) {
  MPI_Comm graph;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  int in, out, weighted, sources[2], destinations[2], weights[2], more[2], degree = 1, kind;

  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &previous, MPI_UNWEIGHTED, 1, &next,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  MPI_Topo_test(graph, &kind);
  EXPECT(kind == MPI_DIST_GRAPH);
  MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
  EXPECT(in == 1 && out == 1 && !weighted);
  MPI_Dist_graph_neighbors(graph, 1, sources, MPI_UNWEIGHTED, 1, destinations, MPI_UNWEIGHTED);
  EXPECT(sources[0] == previous && destinations[0] == next);
  MPI_Comm_free(&graph);

  /* Each process describes the edge out of its neighbour. */
  destinations[0] = (next + 1) % size;
  weights[0] = 10 + next;
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &next, &degree, destinations, weights, MPI_INFO_NULL, 0,
                        &graph);
  MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
  EXPECT(in == 1 && out == 1 && weighted);
  MPI_Dist_graph_neighbors(graph, 1, sources, weights, 1, destinations, more);
  EXPECT(sources[0] == previous && destinations[0] == next);
  EXPECT(weights[0] == 10 + previous && more[0] == 10 + rank);
  MPI_Comm_free(&graph);
}

/* A grid without dimensions has one process, which has no coordinates (section 8.5.1). */
static void NoDimensions(void) {
  MPI_Comm point, row, all, none;
  int n, source, dims[1], drop[1] = {0}, periods[1] = {0}, kind;
  MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &point);
  EXPECT((point == MPI_COMM_NULL) == (rank != 0));
  if (point != MPI_COMM_NULL) {
    MPI_Comm_size(point, &n);
    EXPECT(n == 1);
    MPI_Topo_test(point, &kind);
    EXPECT(kind == MPI_CART);
    MPI_Cartdim_get(point, &n);
    EXPECT(n == 0);
    source = -1;
    MPI_Cart_rank(point, NULL, &source);
    EXPECT(source == 0);
    MPI_Cart_coords(point, 0, 0, NULL);
    MPI_Cart_get(point, 0, NULL, NULL, NULL);
    MPI_Cart_sub(point, NULL, &row);
    MPI_Cartdim_get(row, &n);
    EXPECT(n == 0);
    MPI_Comm_free(&row);
    MPI_Comm_free(&point);
  }
  /* All dimensions are dropped. */
  dims[0] = size;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &all);
  MPI_Cart_sub(all, drop, &row);
  MPI_Comm_size(row, &n);
  EXPECT(n == 1);
  MPI_Cartdim_get(row, &n);
  EXPECT(n == 0);
  MPI_Comm_free(&row);
  MPI_Comm_free(&all);
  MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &none);
  EXPECT(none == MPI_COMM_NULL);
}

/* When ranks are reordered, each still has one place, and MPI_Cart_map and MPI_Graph_map say which.
 */
static void Reordered(void) {
  MPI_Comm made;
  int dims[2] = {0, 0}, periods[2] = {1, 0}, place, new_rank, seen[64] = {0}, all[64], i;
  int index[64], edges[64];
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &place);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &made);
  MPI_Comm_rank(made, &new_rank);
  EXPECT(new_rank == place);
  MPI_Allgather(&new_rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  for (i = 0; i < size; ++i) ++seen[all[i]];
  for (i = 0; i < size; ++i) EXPECT(seen[i] == 1);
  MPI_Comm_free(&made);
  for (i = 0; i < size; ++i) {
    index[i] = i + 1;
    edges[i] = (i + 2) % size;
  }
  MPI_Graph_map(MPI_COMM_WORLD, size, index, edges, &place);
  MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 1, &made);
  MPI_Comm_rank(made, &new_rank);
  EXPECT(new_rank == place);
  MPI_Comm_free(&made);
  dims[0] = dims[1] = 1; /* one place only */
  MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &place);
  EXPECT(place == (rank == 0 ? 0 : MPI_UNDEFINED));
}

/* Weights come back in the order of the edges; fewer than there are may be asked for. */
static void Weights(void) {
  MPI_Comm graph;
  int in, out, weighted, i, n, peers[3], weights[3], got[3], got_weights[3];
  for (i = 0; i < 3; ++i) {
    peers[i] = (rank + i) % size;
    weights[i] = 10 * i + 1;
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, peers, weights, 0, NULL, MPI_WEIGHTS_EMPTY,
                                 MPI_INFO_NULL, 0, &graph);
  MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
  EXPECT(in == 3 && out == 0 && weighted);
  for (n = 0; n <= 3; ++n) {
    for (i = 0; i < 3; ++i) got[i] = got_weights[i] = -1;
    MPI_Dist_graph_neighbors(graph, n, got, got_weights, 0, NULL, MPI_WEIGHTS_EMPTY);
    for (i = 0; i < 3; ++i) {
      EXPECT(got[i] == (i < n ? peers[i] : -1));
      EXPECT(got_weights[i] == (i < n ? weights[i] : -1));
    }
  }
  MPI_Comm_free(&graph);
  /* No process declares an edge. */
  MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 1,
                        &graph);
  MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
  EXPECT(in == 0 && out == 0 && weighted);
  MPI_Comm_free(&graph);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Dims();
  Grid();
  Graph();
  DistributedGraph();
  NoDimensions();
  Reordered();
  Weights();
  return Passed();
}
