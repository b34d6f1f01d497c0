// SPDX-License-Identifier: BSD-3-Clause
// The variables by which a job that was spawned knows of its parents.
#pragma once

namespace lamina {

// Ranks find their parents by this variable: the name of a port that one of the parents has opened
// for them. Programs that are not to call MPI_Init have none.
inline constexpr char kParentVariable[] = "LAMINA_PARENT";

// Ranks find whoever looks after them on their machine by this variable: the name of an abstract
// socket, at which launcher/control/README.md says what may be asked.
inline constexpr char kDoorVariable[] = "LAMINA_DOOR";
// The name of a shepherd's door ends so. What is asked there is passed on to the launcher.
inline constexpr char kShepherdsDoor[] = ".door";

// An mpiexec that is started for MPI_Comm_spawn finds by this variable on which hosts the job that
// spawns may run: the text of a host file with two keys more, taken=N (so many ranks run there) and
// promised=no (nobody has written the number of slots).
inline constexpr char kFurtherVariable[] = "LAMINA_FURTHER";

// It finds the tie to the parent by this variable: the number of an inherited descriptor, a colon,
// and the process id of the mpiexec that looks after the parent and has started this one (0: the
// parent has). Each side writes lines of words:
//
//   met           from the parent: the children have met it
//   part          from the parent: the two jobs no longer share a fate
//   finalized     from the parent: it may end, and is not to be ended; if the children fail, so
//                 does the run
//   ranks N...    from mpiexec, before they start: how many each of the programs has
//   why TEXT      from mpiexec, before they have met: why the children cannot run
//
// The tie ends when either process does.
inline constexpr char kTieVariable[] = "LAMINA_TIE";

}  // namespace lamina
