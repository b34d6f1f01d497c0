/* SPDX-License-Identifier: BSD-3-Clause
 * The C line that shared-object components cross. No C++ type crosses it.
 *
 * A component is a shared object in PREFIX/lib/lamina or on LAMINA_COMPONENT_PATH that exports one
 * function
 *     const lamina_component* lamina_component_<framework>_<name>(void);
 * in a file named <framework>_<name>.so. All text is terminated and lives as long as the object is
 * loaded, which is to the end of the process.
 *
 * Rules of change: append only. A host reads at most struct_size bytes, an unknown tail is null and
 * null means absent; everything up to `actions` must be there. A framework_major that differs from
 * the host's is refused, and the message gives both numbers.
 */
#ifndef LAMINA_COMPONENT_ABI_H_
#define LAMINA_COMPONENT_ABI_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LAMINA_COMPONENT_ABI 1u

typedef struct lamina_parameter {
  const char* name; /* "framework.component.what_unit" */
  const char* default_value;
  const char* help;
} lamina_parameter;

/* What a component may ask of its host while it is being asked itself. */
typedef struct lamina_host {
  uint32_t abi;         /* LAMINA_COMPONENT_ABI of the host */
  uint32_t struct_size; /* bytes the host knew; a component reads no further */
  /* The value of a row of the component's own table, its default if nobody set it; null for any
   * other name. Valid during the call that was given the host. */
  const char* (*parameter)(const struct lamina_host* host, const char* name);
  /* One line for people. level 0: error, 1: warn, 2: info, 3: debug. */
  void (*log)(const struct lamina_host* host, int32_t level, const char* text);
} lamina_host;

typedef struct lamina_component {
  uint32_t abi;             /* first word, for ever: LAMINA_COMPONENT_ABI */
  uint32_t struct_size;     /* bytes the builder knew; the host reads no further */
  const char* framework;    /* "transport" | "collective" | "spawner" | "checkpoint" */
  uint16_t framework_major; /* must equal the host's */
  uint16_t framework_minor; /* how many entries of `actions` exist; absent ones act as null */
  const char* name;         /* lower case, a valid C identifier */
  const char* version;      /* "1.2.3"; major.minor must agree across all processes of a job */
  /* Can it run here? 0: yes, with *priority in 0..100; else no. `why`: one line, in both cases.
   * No side effects; may be called twice. Null: always, with priority 0.
   * `host` is valid during this call only. */
  int32_t (*query)(const lamina_host* host, int32_t* priority, char* why, uint32_t why_bytes);
  /* The framework's table of functions, a struct of pointers; called on the winner only. */
  const void* (*actions)(void);
  /* Ended by a row whose name is null; may be null. */
  const lamina_parameter* parameters;
} lamina_component;

#ifdef __cplusplus
}
#endif
#endif
