/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that has its state saved by Lamina, under `mpiexec --checkpoint-dir DIRECTORY`, and
   brought back by `lamina restart DIRECTORY`.

   The names are weak, so a program runs with any other MPI as well if it asks `if
   (lamina_checkpoint)` first. Every function returns an MPI error class, MPI_SUCCESS if all went
   well, and calls no error handler.

     int step = 0, restarted = 0;
     MPI_Init(&argc, &argv);
     lamina_checkpoint_protect(0, &step, sizeof step);
     lamina_checkpoint_protect(1, field, bytes);
     lamina_checkpoint_restore(&restarted);
     while (step < steps) {
       compute(field);
       ++step;
       if (step % 100 == 0) lamina_checkpoint();
     }

   A step is counted before the state is saved, so that the restarted program does not do it a
   second time.
*/
#ifndef LAMINA_CHECKPOINT_H
#define LAMINA_CHECKPOINT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Saves every protected region of every rank. All ranks of MPI_COMM_WORLD call it, after MPI_Init;
   messages that nobody has received yet do not come back. The ranks go on as soon as their regions
   are in files. MPI_SUCCESS: all ranks have saved them; mpiexec says if they cannot be kept after
   all. MPI_ERR_UNSUPPORTED_OPERATION: the job was not started with --checkpoint-dir; or it was
   started with --checkpoint, and then this call saves nothing, because mpiexec saves whole
   processes instead; or nothing can be saved there now, and mpiexec says why. MPI_ERR_NO_SPACE,
   MPI_ERR_IO: some rank could not write its file. All ranks get the same answer. */
int lamina_checkpoint(void) __attribute__((weak));

/* From now on `bytes` bytes at `address` are saved as region `id`, instead of what that was before.
   With 0 bytes it is saved no longer. The memory must stay until then. MPI_ERR_ARG: the address is
   null. */
int lamina_checkpoint_protect(int id, void* address, size_t bytes) __attribute__((weak));

/* Fills the regions that are protected now if this is a restarted job, and says whether it is one;
   any rank may call it, whenever it likes, after MPI_Init. With --checkpoint it always says no,
   because the processes themselves come back. MPI_ERR_IO: what was saved does not fit, or cannot be
   read; standard error says why. */
int lamina_checkpoint_restore(int* restarted) __attribute__((weak));

#ifdef __cplusplus
}
#endif

#endif
