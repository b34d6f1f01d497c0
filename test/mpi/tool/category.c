/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   every category describes itself, is found by its name and lists its members, as many as
 *         there is room for; categories below one another make no circle (MPI-5.0, section 15.3.9).
 * Method: all categories; nothing is known about them.
 */
#include "test/mpi/tool/tool.h"

enum { kRoom = 512 };

typedef int Lister(int, int, int*);

/* Checks that there are `count` members below `limit`, and no more than asked for. */
static void Members(const char* name, int category, Lister* list, int count, int limit) {
  int indices[kRoom];
  for (int i = 0; i < kRoom; ++i) indices[i] = -7;
  HOLDS_FOR(name, count <= kRoom);
  HOLDS_FOR(name, list(category, kRoom, indices) == MPI_SUCCESS);
  for (int i = 0; i < count; ++i) HOLDS_FOR(name, indices[i] >= 0 && indices[i] < limit);
  HOLDS_FOR(name, count == kRoom || indices[count] == -7);
  if (count > 1) {
    const int second = indices[1];
    indices[1] = -7;
    HOLDS_FOR(name, list(category, 1, indices) == MPI_SUCCESS && indices[1] == -7);
    indices[1] = second;
  }
}

/* Checks that there are at most `left` levels below `category`. */
static void Descend(const char* name, int category, int left) {
  int indices[kRoom], below = 0;
  HOLDS_FOR(name, left > 0);
  if (left == 0) return;
  MPI_T_category_get_info(category, NULL, NULL, NULL, NULL, NULL, NULL, &below);
  MPI_T_category_get_categories(category, kRoom, indices);
  for (int i = 0; i < below; ++i) Descend(name, indices[i], left - 1);
}

int main(void) {
  int provided, count = 0, cvars = 0, pvars = 0, number = 0, indices[kRoom], changed = -1, again;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_T_cvar_get_num(&cvars);
  MPI_T_pvar_get_num(&pvars);
  HOLDS(MPI_T_category_get_num(&count) == MPI_SUCCESS);
  HOLDS(MPI_T_category_changed(&changed) == MPI_SUCCESS && changed >= 0);
  for (int i = 0; i < count; ++i) {
    char name[256] = "", description[1024] = "";
    int name_length = sizeof name, description_length = sizeof description, found = -1;
    int in_cvars = -1, in_pvars = -1, below = -1;
    HOLDS(MPI_T_category_get_info(i, name, &name_length, description, &description_length,
                                  &in_cvars, &in_pvars, &below) == MPI_SUCCESS);
    HOLDS(strlen(name) >= 1);
    HOLDS_FOR(name, MPI_T_category_get_index(name, &found) == MPI_SUCCESS && found == i);
    Members(name, i, MPI_T_category_get_cvars, in_cvars, cvars);
    Members(name, i, MPI_T_category_get_pvars, in_pvars, pvars);
    Members(name, i, MPI_T_category_get_categories, below, count);
#if MPI_VERSION >= 4
    int events = 0, in_events = -1;
    MPI_T_event_get_num(&events);
    HOLDS_FOR(name, MPI_T_category_get_num_events(i, &in_events) == MPI_SUCCESS);
    Members(name, i, MPI_T_category_get_events, in_events, events);
#endif
    Descend(name, i, count);
  }
  HOLDS(MPI_T_category_get_info(count, NULL, NULL, NULL, NULL, &number, NULL, NULL) ==
        MPI_T_ERR_INVALID_INDEX);
  HOLDS(MPI_T_category_get_index("no such category", &number) == MPI_T_ERR_INVALID_NAME);
  HOLDS(MPI_T_category_get_cvars(count, kRoom, indices) == MPI_T_ERR_INVALID_INDEX);
  HOLDS(MPI_T_category_get_pvars(-1, kRoom, indices) == MPI_T_ERR_INVALID_INDEX);
  HOLDS(MPI_T_category_get_categories(count, kRoom, indices) == MPI_T_ERR_INVALID_INDEX);
#if MPI_VERSION >= 4
  HOLDS(MPI_T_category_get_events(count, kRoom, indices) == MPI_T_ERR_INVALID_INDEX);
  HOLDS(MPI_T_category_get_num_events(count, &number) == MPI_T_ERR_INVALID_INDEX);
#endif
  MPI_T_category_changed(&again);
  HOLDS(again == changed);
  MPI_T_finalize();
  return Ended();
}
