/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   wrong arguments of the functions on topologies give the right error class, make nothing,
 *         and leave the communicator usable (MPI-5.0, sections 8.5 and 9.3).
 * Method: every process makes the same mistake, with errors returned, one or more for each
 *         function; then a grid that must work.
 */
#include "test/mpi/check.h"

#define EXPECT_CLASS(error_class, call) EXPECT(ClassOf(call) == (error_class))

static int size, rank;
static MPI_Comm made = MPI_COMM_NULL;

static void Grids(MPI_Comm grid) {
  int dims[2] = {1, 1}, periods[2] = {0, 0}, coords[2] = {0, 0}, one, two;
  EXPECT_CLASS(MPI_ERR_COMM, MPI_Cart_create(MPI_COMM_NULL, 1, dims, periods, 0, &made));
  EXPECT_CLASS(MPI_ERR_DIMS, MPI_Cart_create(MPI_COMM_WORLD, -1, dims, periods, 0, &made));
  EXPECT_CLASS(MPI_ERR_ARG, MPI_Cart_create(MPI_COMM_WORLD, 1, NULL, periods, 0, &made));
  dims[0] = 0;
  EXPECT_CLASS(MPI_ERR_DIMS, MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &made));
  dims[0] = size + 1;
  EXPECT_CLASS(MPI_ERR_DIMS, MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &made));
  EXPECT_CLASS(MPI_ERR_DIMS, MPI_Cart_map(MPI_COMM_WORLD, 1, dims, periods, &one));
  EXPECT(made == MPI_COMM_NULL);

  EXPECT_CLASS(MPI_ERR_TOPOLOGY, MPI_Cartdim_get(MPI_COMM_WORLD, &one));
  EXPECT_CLASS(MPI_ERR_ARG, MPI_Cartdim_get(grid, NULL));
  EXPECT_CLASS(MPI_ERR_TOPOLOGY, MPI_Cart_get(MPI_COMM_WORLD, 1, dims, periods, coords));
  EXPECT_CLASS(MPI_ERR_ARG, MPI_Cart_get(grid, 0, dims, periods, coords));
  EXPECT_CLASS(MPI_ERR_TOPOLOGY, MPI_Cart_rank(MPI_COMM_WORLD, coords, &one));
  coords[0] = size;
  EXPECT_CLASS(MPI_ERR_ARG, MPI_Cart_rank(grid, coords, &one));
  EXPECT_CLASS(MPI_ERR_TOPOLOGY, MPI_Cart_coords(MPI_COMM_WORLD, 0, 1, coords));
  EXPECT_CLASS(MPI_ERR_RANK, MPI_Cart_coords(grid, size, 1, coords));
  EXPECT_CLASS(MPI_ERR_ARG, MPI_Cart_coords(grid, 0, 0, coords));
  EXPECT_CLASS(MPI_ERR_TOPOLOGY, MPI_Cart_shift(MPI_COMM_WORLD, 0, 1, &one, &two));
  EXPECT_CLASS(MPI_ERR_ARG, MPI_Cart_shift(grid, 1, 1, &one, &two));
  EXPECT_CLASS(MPI_ERR_ARG, MPI_Cart_shift(grid, -1, 1, &one, &two));
  EXPECT_CLASS(MPI_ERR_TOPOLOGY, MPI_Cart_sub(MPI_COMM_WORLD, dims, &made));
  EXPECT_CLASS(MPI_ERR_ARG, MPI_Cart_sub(grid, NULL, &made));
  EXPECT_CLASS(MPI_ERR_COMM, MPI_Topo_test(MPI_COMM_NULL, &one));
  EXPECT_CLASS(MPI_ERR_ARG, MPI_Topo_test(grid, NULL));
}

static void Graphs(void) {
  int index[64], edges[64], one, two, i;
  MPI_Comm graph;
  for (i = 0; i < size; ++i) {
    index[i] = i + 1;
    edges[i] = (i + 1) % size;
  }
  EXPECT_CLASS(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, size + 1, index, edges, 0, &made));
  EXPECT_CLASS(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, -1, index, edges, 0, &made));
  EXPECT_CLASS(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, 1, NULL, edges, 0, &made));
  edges[0] = size;
  EXPECT_CLASS(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &made));
  EXPECT_CLASS(MPI_ERR_ARG, MPI_Graph_map(MPI_COMM_WORLD, size, index, edges, &one));
  edges[0] = 1 % size;
  MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &graph);
  EXPECT_CLASS(MPI_ERR_TOPOLOGY, MPI_Graphdims_get(MPI_COMM_WORLD, &one, &two));
  EXPECT_CLASS(MPI_ERR_ARG, MPI_Graphdims_get(graph, NULL, &two));
  EXPECT_CLASS(MPI_ERR_TOPOLOGY, MPI_Graph_get(MPI_COMM_WORLD, 64, 64, index, edges));
  EXPECT_CLASS(MPI_ERR_ARG, MPI_Graph_get(graph, size - 1, 64, index, edges));
  EXPECT_CLASS(MPI_ERR_TOPOLOGY, MPI_Graph_neighbors_count(MPI_COMM_WORLD, 0, &one));
  EXPECT_CLASS(MPI_ERR_RANK, MPI_Graph_neighbors_count(graph, size, &one));
  EXPECT_CLASS(MPI_ERR_TOPOLOGY, MPI_Graph_neighbors(MPI_COMM_WORLD, 0, 64, edges));
  EXPECT_CLASS(MPI_ERR_RANK, MPI_Graph_neighbors(graph, -1, 64, edges));
  EXPECT_CLASS(MPI_ERR_ARG, MPI_Graph_neighbors(graph, 0, 0, edges));
  MPI_Comm_free(&graph);
}

static void DistributedGraphs(void) {
  int peer[2] = {0, 0}, wrong[2], weights[2] = {1, -1}, degree = -1, one, two, three;
  wrong[0] = wrong[1] = size;
  EXPECT_CLASS(MPI_ERR_RANK,
               MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, wrong, MPI_UNWEIGHTED, 0, peer,
                                              MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made));
  EXPECT_CLASS(MPI_ERR_ARG,
               MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, -1, peer, MPI_UNWEIGHTED, 0, peer,
                                              MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made));
  EXPECT_CLASS(MPI_ERR_ARG, MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, peer, weights, 2,
                                                           peer, weights, MPI_INFO_NULL, 0, &made));
  EXPECT_CLASS(MPI_ERR_ARG,
               MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, peer, MPI_WEIGHTS_EMPTY, 0, peer,
                                              MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &made));
  EXPECT_CLASS(MPI_ERR_RANK, MPI_Dist_graph_create(MPI_COMM_WORLD, 1, wrong, peer, peer,
                                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made));
  EXPECT_CLASS(MPI_ERR_ARG, MPI_Dist_graph_create(MPI_COMM_WORLD, 1, peer, &degree, peer,
                                                  MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made));
  degree = 1;
  EXPECT_CLASS(MPI_ERR_RANK, MPI_Dist_graph_create(MPI_COMM_WORLD, 1, peer, &degree, wrong,
                                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made));
  EXPECT(made == MPI_COMM_NULL);
  EXPECT_CLASS(MPI_ERR_TOPOLOGY,
               MPI_Dist_graph_neighbors_count(MPI_COMM_WORLD, &one, &two, &three));
  EXPECT_CLASS(MPI_ERR_TOPOLOGY, MPI_Dist_graph_neighbors(MPI_COMM_WORLD, 1, peer, MPI_UNWEIGHTED,
                                                          1, peer, MPI_UNWEIGHTED));
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, peer, MPI_UNWEIGHTED, 0, peer, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &made);
  EXPECT_CLASS(MPI_ERR_ARG, MPI_Dist_graph_neighbors_count(made, NULL, &two, &three));
  EXPECT_CLASS(MPI_ERR_ARG,
               MPI_Dist_graph_neighbors(made, -1, peer, MPI_UNWEIGHTED, 1, peer, MPI_UNWEIGHTED));
  MPI_Comm_free(&made);
}

int main(int argc, char** argv) {
  int dims[1], periods[1] = {0}, there = -1;
  MPI_Comm grid;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  dims[0] = size;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid);
  Grids(grid);
  Graphs();
  DistributedGraphs();
  EXPECT(MPI_Cart_rank(grid, &rank, &there) == MPI_SUCCESS && there == rank);
  MPI_Comm_free(&grid);
  return Passed();
}
