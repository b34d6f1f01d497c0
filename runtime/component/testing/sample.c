/* SPDX-License-Identifier: BSD-3-Clause
 * A component as a third party would write it: one file, one header of ours, any C compiler.
 *
 *     cc -shared -fPIC -I. -o sample_adder.so sample.c
 *
 * Its framework, "sample", exists in the tests alone: two functions on numbers. The macros make the
 * broken variants that a host must refuse; nobody who copies this file needs them.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "component_abi.h"

#ifndef SAMPLE_ABI
#define SAMPLE_ABI LAMINA_COMPONENT_ABI
#endif
#ifndef SAMPLE_BYTES
#define SAMPLE_BYTES sizeof(lamina_component)
#endif
#ifndef SAMPLE_FRAMEWORK
#define SAMPLE_FRAMEWORK "sample"
#endif
#ifndef SAMPLE_MAJOR
#define SAMPLE_MAJOR 3
#endif
#ifndef SAMPLE_MINOR
#define SAMPLE_MINOR 2
#endif
#ifndef SAMPLE_NAME
#define SAMPLE_NAME "adder"
#endif
#ifndef SAMPLE_VERSION
#define SAMPLE_VERSION "1.2.3"
#endif
#ifndef SAMPLE_SYMBOL
#define SAMPLE_SYMBOL lamina_component_sample_adder
#endif

/* The table of actions of framework "sample", version 3. */
typedef struct sample_actions {
  int64_t (*add)(int64_t a, int64_t b);
  int64_t (*negate)(int64_t a); /* since 3.2 */
} sample_actions;

static int64_t add(int64_t a, int64_t b) { return a + b; }
static int64_t negate(int64_t a) { return -a; }

static const void* actions(void) {
  static const sample_actions table = {add, negate};
  return &table;
}

static int32_t query(const lamina_host* host, int32_t* priority, char* why, uint32_t why_bytes) {
  const char* wanted = host->parameter(host, "sample.adder.priority");
  const char* unknown = host->parameter(host, "no.such.parameter");
  if (wanted == NULL || unknown != NULL) return -1;
  *priority = atoi(wanted);
  snprintf(why, why_bytes, "asked for %s", wanted);
  host->log(host, 3, "was asked");
  return *priority < 0 ? -1 : 0;
}

static const lamina_parameter parameters[] = {
    {"sample.adder.priority", "60", "What query answers."},
    {"sample.adder.greeting", NULL, NULL},
    {NULL, NULL, NULL},
};

#ifdef SAMPLE_NULL_DESCRIPTOR
const lamina_component* SAMPLE_SYMBOL(void) { return NULL; }
#else
const lamina_component* SAMPLE_SYMBOL(void) {
  static const lamina_component component = {
      .abi = SAMPLE_ABI,
      .struct_size = SAMPLE_BYTES,
      .framework = SAMPLE_FRAMEWORK,
      .framework_major = SAMPLE_MAJOR,
      .framework_minor = SAMPLE_MINOR,
      .name = SAMPLE_NAME,
      .version = SAMPLE_VERSION,
#ifndef SAMPLE_WITHOUT_QUERY
      .query = query,
#endif
#ifndef SAMPLE_WITHOUT_ACTIONS
      .actions = actions,
#endif
#ifdef SAMPLE_TRAP /* must not be read: behind struct_size */
      .parameters = (const lamina_parameter*)16,
#else
      .parameters = parameters,
#endif
  };
  (void)query;
  (void)actions;
  (void)parameters;
  return &component;
}
#endif

#ifdef SAMPLE_NEEDS
/* A function of a vendor library that this machine may lack. */
void vendor_start(void);
void sample_start(void) { vendor_start(); }
#endif
