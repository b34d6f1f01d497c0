// SPDX-License-Identifier: BSD-3-Clause
// The variables by which a job that was spawned knows of its parents.
#pragma once

namespace lamina {

// Ranks find their parents by this variable: the name of a port that one of the parents has opened
// for them.
inline constexpr char kParentVariable[] = "LAMINA_PARENT";

// An mpiexec that a process has started for MPI_Comm_spawn finds the tie between the two by this
// variable: the number of an inherited descriptor, a colon, and the process id of the mpiexec that
// looks after the parent (0: none does). Each side writes lines of words:
//
//   met           from the parent: the children have met it
//   part          from the parent: the two jobs no longer share a fate
//   why TEXT      from mpiexec, before they have met: why the children cannot run
//
// The tie ends when either process does.
inline constexpr char kTieVariable[] = "LAMINA_TIE";

}  // namespace lamina
