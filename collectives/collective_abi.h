/* SPDX-License-Identifier: BSD-3-Clause
 * The C line for collective components of third parties: framework "collective" of
 * component_abi.h. It says in C what collective.h says in C++; that file and README.md explain the
 * words. collectives/plugin/README.md has a complete component.
 *
 * Rules of change: append only, as in component_abi.h. Every struct here but lamina_slice says how
 * many bytes its maker knew; a reader reads no further, and what is not there is 0 or null.
 *
 * Everything given to a function is valid during that call only.
 */
#ifndef LAMINA_COLLECTIVE_ABI_H_
#define LAMINA_COLLECTIVE_ABI_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LAMINA_COLLECTIVE_MAJOR 1u /* framework_major */
#define LAMINA_COLLECTIVE_MINOR 1u /* framework_minor: entries of lamina_collective_actions */

enum lamina_where { LAMINA_INPUT = 0, LAMINA_OUTPUT = 1, LAMINA_SCRATCH = 2 };

/* `count` elements from element `first` on. This struct never grows. */
typedef struct lamina_slice {
  int32_t where;   /* lamina_where */
  int32_t type_of; /* in w-forms the block whose datatype it has; elsewhere -1 */
  int64_t first;
  int64_t count;
} lamina_slice;

/* What was called. The first group is the same on all ranks: fits and cost_us look at nothing
 * else. */
typedef struct lamina_call {
  uint32_t struct_size;
  int32_t commutative;
  int32_t all_in_place;
  int32_t root;
  int64_t bytes;

  int32_t in_place;
  int32_t reserved;
  int64_t input_count;
  int64_t output_count;
  /* In v-forms these have one entry per block; elsewhere they are null. */
  const int64_t* input_counts;
  const int64_t* input_displacements;
  const int64_t* output_counts;
  const int64_t* output_displacements;
} lamina_call;

/* Where the call takes place. fits and cost_us look at `ranks`, `remote_ranks` and `nodes`. */
typedef struct lamina_shape {
  uint32_t struct_size;
  int32_t ranks;
  int32_t rank;
  int32_t remote_ranks; /* above 0 on an intercommunicator */
  int32_t grid;
  int32_t source_count; /* above 0 among neighbours */
  int32_t destination_count;
  int32_t nodes; /* how many the ranks are on; 0 if that is unknown */
  const int32_t* sources;
  const int32_t* destinations;
} lamina_shape;

typedef struct lamina_link {
  uint32_t struct_size;
  uint32_t reserved;
  double alpha_us;
  double overhead_us;
  double beta_us_per_byte;
  double gamma_us_per_byte;
  double crowd;
  double turn_us;
  double sharers;
} lamina_link;

/* Takes the steps of one rank, in rounds. A plan calls these functions; it never makes one of
 * these. */
typedef struct lamina_schedule {
  uint32_t struct_size;
  void (*send)(struct lamina_schedule* schedule, int32_t peer, const lamina_slice* from);
  void (*receive)(struct lamina_schedule* schedule, int32_t peer, const lamina_slice* to);
  void (*copy)(struct lamina_schedule* schedule, const lamina_slice* from, const lamina_slice* to);
  /* to[i] = from[i] op to[i] */
  void (*reduce)(struct lamina_schedule* schedule, const lamina_slice* from,
                 const lamina_slice* to);
  void (*end_round)(struct lamina_schedule* schedule);
  /* Says how many elements LAMINA_SCRATCH has. It has none before. */
  void (*scratch)(struct lamina_schedule* schedule, int64_t elements);
} lamina_schedule;

typedef struct lamina_algorithm {
  uint32_t struct_size;
  int32_t inter;         /* not 0 if it is for intercommunicators; then only for them */
  const char* name;      /* unique within the component and operation */
  const char* operation; /* "bcast", "reduce_scatter_block", ...; others are passed over */
  /* Returns not 0 if it can do this call. A null pointer says that it can do every call. */
  int32_t (*fits)(const struct lamina_algorithm* self, const lamina_call* call,
                  const lamina_shape* shape);
  /* Predicts the time until the last rank is done. A null pointer counts as 0, so the algorithm
   * comes before the component's others for the operation. */
  double (*cost_us)(const struct lamina_algorithm* self, const lamina_call* call,
                    const lamina_shape* shape, const lamina_link* link);
  /* Fills the schedule of one rank. */
  void (*plan)(const struct lamina_algorithm* self, const lamina_call* call,
               const lamina_shape* shape, lamina_schedule* schedule);
} lamina_algorithm;

/* What `actions` of the component's descriptor returns. */
typedef struct lamina_collective_actions {
  /* Returns a list ended by null, which lives with all it names as long as the object is loaded. */
  const lamina_algorithm* const* (*algorithms)(void);
} lamina_collective_actions;

#ifdef __cplusplus
}
#endif
#endif
