/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   every control variable describes itself, is found by its name and can be read; texts are
 *         cut as asked; mistakes give their codes (MPI-5.0, sections 15.3.3, 15.3.5 and 15.3.6).
 * Method: all variables, before MPI_Init; nothing is known about them.
 */
#include <stdlib.h>

#include "test/mpi/tool/tool.h"

static int IsOneOf(MPI_Datatype type) {
  return type == MPI_INT || type == MPI_UNSIGNED || type == MPI_UNSIGNED_LONG ||
         type == MPI_UNSIGNED_LONG_LONG || type == MPI_COUNT || type == MPI_CHAR ||
         type == MPI_DOUBLE;
}

static int BytesOf(MPI_Datatype type) {
  if (type == MPI_INT || type == MPI_UNSIGNED) return 4;
  return type == MPI_CHAR ? 1 : 8;
}

/* Checks section 15.3.3. `name` is the whole text. */
static void Cutting(int index, const char* name) {
  char text[8];
  int length = 3;
  HOLDS(MPI_T_cvar_get_info(index, text, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
        MPI_SUCCESS);
  HOLDS_FOR(name, strlen(text) == 2 && strncmp(text, name, 2) == 0);
  HOLDS_FOR(name, length == (int)strlen(name) + 1);
  length = 0;
  strcpy(text, "same");
  MPI_T_cvar_get_info(index, text, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
  HOLDS_FOR(name, strcmp(text, "same") == 0 && length == (int)strlen(name) + 1);
  length = 0;
  MPI_T_cvar_get_info(index, NULL, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
  HOLDS_FOR(name, length == (int)strlen(name) + 1);
}

static void Enumeration(MPI_T_enum items, const char* name) {
  int count = 0, length = 64, value;
  char text[64] = "";
  HOLDS_FOR(name, MPI_T_enum_get_info(items, &count, text, &length) == MPI_SUCCESS);
  HOLDS_FOR(name, count > 0 && length > 1);
  for (int i = 0; i < count; ++i) {
    length = sizeof text;
    HOLDS_FOR(name, MPI_T_enum_get_item(items, i, &value, text, &length) == MPI_SUCCESS);
    HOLDS_FOR(name, length >= 1);
  }
  HOLDS_FOR(name,
            MPI_T_enum_get_item(items, count, &value, text, &length) == MPI_T_ERR_INVALID_ITEM);
  HOLDS_FOR(name, MPI_T_enum_get_item(items, -1, &value, text, &length) == MPI_T_ERR_INVALID_ITEM);
}

static void Reading(int index, MPI_Datatype type, const char* name) {
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int count = 0;
  HOLDS_FOR(name, MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS);
  HOLDS_FOR(name, handle != MPI_T_CVAR_HANDLE_NULL && count >= 1);
  char* buffer = malloc((size_t)count * 8 + 1);
  const size_t bytes = (size_t)count * (size_t)BytesOf(type);
  memset(buffer, 0x5a, (size_t)count * 8 + 1);
  HOLDS_FOR(name, MPI_T_cvar_read(handle, buffer) == MPI_SUCCESS);
  HOLDS_FOR(name, buffer[bytes] == 0x5a); /* no more than it said */
  if (type == MPI_CHAR) HOLDS_FOR(name, memchr(buffer, 0, bytes) != NULL);
  free(buffer);
  HOLDS_FOR(name, MPI_T_cvar_handle_free(&handle) == MPI_SUCCESS);
  HOLDS_FOR(name, handle == MPI_T_CVAR_HANDLE_NULL);
}

static void Mistakes(int count) {
  int number = 0, length = 0;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  HOLDS(MPI_T_cvar_get_info(count, NULL, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
        MPI_T_ERR_INVALID_INDEX);
  HOLDS(MPI_T_cvar_get_info(-1, NULL, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
        MPI_T_ERR_INVALID_INDEX);
  HOLDS(MPI_T_cvar_get_index("no such variable", &number) == MPI_T_ERR_INVALID_NAME);
  HOLDS(MPI_T_cvar_handle_alloc(count, NULL, &handle, &number) == MPI_T_ERR_INVALID_INDEX);
  HOLDS(MPI_T_cvar_read(MPI_T_CVAR_HANDLE_NULL, &number) == MPI_T_ERR_INVALID_HANDLE);
  HOLDS(MPI_T_cvar_write(MPI_T_CVAR_HANDLE_NULL, &number) == MPI_T_ERR_INVALID_HANDLE);
  HOLDS(MPI_T_cvar_handle_free(&handle) == MPI_T_ERR_INVALID_HANDLE);
  HOLDS(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &number, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE);
  HOLDS(MPI_T_enum_get_item(MPI_T_ENUM_NULL, 0, &number, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE);
}

int main(void) {
  int provided, count = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  HOLDS(MPI_T_cvar_get_num(&count) == MPI_SUCCESS);
  HOLDS(count > 0);
  for (int i = 0; i < count; ++i) {
    char name[256] = "", description[2048] = "";
    int name_length = sizeof name, description_length = sizeof description, verbosity = -1;
    int bind = -1, scope = -1, found = -1;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum items = MPI_T_ENUM_NULL;
    HOLDS(MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &items, description,
                              &description_length, &bind, &scope) == MPI_SUCCESS);
    HOLDS(name_length > 1 && strlen(name) >= 1);
    HOLDS_FOR(name,
              verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL);
    HOLDS_FOR(name, IsOneOf(type));
    HOLDS_FOR(name, scope >= MPI_T_SCOPE_CONSTANT && scope <= MPI_T_SCOPE_ALL_EQ);
    HOLDS_FOR(name, MPI_T_cvar_get_index(name, &found) == MPI_SUCCESS && found == i);
    if (items != MPI_T_ENUM_NULL) {
      HOLDS_FOR(name, type == MPI_INT);
      Enumeration(items, name);
    }
    if (i == 0) Cutting(i, name);
    if (bind == MPI_T_BIND_NO_OBJECT) Reading(i, type, name);
  }
  Mistakes(count);
  MPI_T_finalize();
  return Ended();
}
