/* SPDX-License-Identifier: BSD-3-Clause */
/* Names parts of a program for `mpiexec --profile`, whose page says how long each of them took and
   how much of that was MPI, and for `mpiexec --trace`, which shows them around the calls of MPI.

     lamina_region_begin("solve");
     for (int i = 0; i < steps; ++i) step();
     lamina_region_end("solve");

   In Fortran: `include 'lamina/region.inc'`, `call lamina_region_begin('solve')`, and so on.

   Regions may lie within others, and each thread has its own. Outside of MPI, and in a job that is
   not profiled, the calls do nothing. The names are weak, so a program runs with any other MPI as
   well if it asks `if (lamina_region_begin)` first. */
#ifndef LAMINA_REGION_H
#define LAMINA_REGION_H

#ifdef __cplusplus
extern "C" {
#endif

/* The first 63 bytes of a name count. */
void lamina_region_begin(const char* name) __attribute__((weak));

/* Ends the innermost region with that name, and those within it that are open still. */
void lamina_region_end(const char* name) __attribute__((weak));

#ifdef __cplusplus
}
#endif

#endif
