/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   every event type and source describes itself and is found by its name; registrations and
 *         their hints live and end; mistakes give their codes (MPI-5.0, section 15.3.8).
 * Method: all types and sources; nothing is known about them.
 */
#include "test/mpi/tool/tool.h"

static int ends;

static void OnEvent(MPI_T_event_instance instance, MPI_T_event_registration registration,
                    MPI_T_cb_safety safety, void* user_data) {
  (void)instance, (void)registration, (void)safety, (void)user_data;
}
static void OnEnd(MPI_T_event_registration registration, MPI_T_cb_safety safety, void* user_data) {
  (void)registration, (void)safety;
  ++*(int*)user_data;
}
static void OnDrop(MPI_Count count, MPI_T_event_registration registration, int source,
                   MPI_T_cb_safety safety, void* user_data) {
  (void)count, (void)registration, (void)source, (void)safety, (void)user_data;
}

static void Sources(void) {
  int count = 0;
  HOLDS(MPI_T_source_get_num(&count) == MPI_SUCCESS);
  for (int i = 0; i < count; ++i) {
    char name[128] = "", description[512] = "";
    int name_length = sizeof name, description_length = sizeof description;
    MPI_T_source_order order = 0;
    MPI_Count ticks = 0, ticks_max = 0, first = -1, second = -1;
    MPI_Info info = MPI_INFO_NULL;
    HOLDS(MPI_T_source_get_info(i, name, &name_length, description, &description_length, &order,
                                &ticks, &ticks_max, &info) == MPI_SUCCESS);
    HOLDS(strlen(name) >= 1);
    HOLDS_FOR(name, order == MPI_T_SOURCE_ORDERED || order == MPI_T_SOURCE_UNORDERED);
    HOLDS_FOR(name, ticks > 0 && ticks_max > 0);
    HOLDS_FOR(name, info != MPI_INFO_NULL);
    MPI_Info_free(&info);
    HOLDS_FOR(name, MPI_T_source_get_timestamp(i, &first) == MPI_SUCCESS);
    HOLDS_FOR(name, MPI_T_source_get_timestamp(i, &second) == MPI_SUCCESS);
    HOLDS_FOR(name, first >= 0 && second >= first);
  }
  MPI_Count ticks;
  HOLDS(MPI_T_source_get_info(count, NULL, NULL, NULL, NULL, NULL, &ticks, NULL, NULL) ==
        MPI_T_ERR_INVALID_INDEX);
  HOLDS(MPI_T_source_get_timestamp(count, &ticks) == MPI_T_ERR_INVALID_INDEX);
}

/* Checks that `info` has `expected` under "color". */
static void Color(MPI_Info info, const char* expected) {
  char value[16] = "";
  int length = sizeof value, flag = 0;
  MPI_Info_get_string(info, "color", &length, value, &flag);
  HOLDS(flag && strcmp(value, expected) == 0);
  MPI_Info_free(&info);
}

static void Registration(int type) {
  MPI_T_event_registration registration = NULL;
  MPI_Info red, blue, used = MPI_INFO_NULL;
  MPI_Info_create(&red);
  MPI_Info_set(red, "color", "red");
  MPI_Info_create(&blue);
  MPI_Info_set(blue, "color", "blue");
  HOLDS(MPI_T_event_handle_alloc(type, NULL, red, &registration) == MPI_SUCCESS);
  HOLDS(MPI_T_event_handle_get_info(registration, &used) == MPI_SUCCESS);
  Color(used, "red");
  HOLDS(MPI_T_event_handle_set_info(registration, blue) == MPI_SUCCESS);
  HOLDS(MPI_T_event_handle_get_info(registration, &used) == MPI_SUCCESS);
  Color(used, "blue");
  HOLDS(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, red, NULL, OnEvent) ==
        MPI_SUCCESS);
  HOLDS(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, &used) == MPI_SUCCESS);
  Color(used, "red");
  HOLDS(MPI_T_event_callback_set_info(registration, MPI_T_CB_REQUIRE_NONE, blue) == MPI_SUCCESS);
  HOLDS(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, &used) == MPI_SUCCESS);
  Color(used, "blue");
  HOLDS(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, &used) !=
        MPI_SUCCESS); /* there is none */
  HOLDS(MPI_T_event_register_callback(registration, (MPI_T_cb_safety)1, MPI_INFO_NULL, NULL,
                                      OnEvent) == MPI_T_ERR_INVALID);
  HOLDS(MPI_T_event_set_dropped_handler(registration, OnDrop) == MPI_SUCCESS);
  HOLDS(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL,
                                      NULL) == MPI_SUCCESS);
  MPI_T_event_registration freed = registration;
  ends = 0;
  HOLDS(MPI_T_event_handle_free(registration, &ends, OnEnd) == MPI_SUCCESS);
  HOLDS(ends == 1);
  HOLDS(MPI_T_event_handle_free(freed, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE);
  MPI_Info_free(&red);
  MPI_Info_free(&blue);
}

static void Mistakes(int count) {
  int number = 0;
  MPI_Count ticks = 0;
  MPI_Info info = MPI_INFO_NULL;
  MPI_T_event_registration none = NULL;
  MPI_T_event_instance instance = NULL;
  HOLDS(MPI_T_event_get_info(count, NULL, NULL, &number, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                             NULL) == MPI_T_ERR_INVALID_INDEX);
  HOLDS(MPI_T_event_get_index("no such event", &number) == MPI_T_ERR_INVALID_NAME);
  HOLDS(MPI_T_event_handle_alloc(count, NULL, MPI_INFO_NULL, &none) == MPI_T_ERR_INVALID_INDEX);
  HOLDS(MPI_T_event_handle_alloc(-1, NULL, MPI_INFO_NULL, &none) == MPI_T_ERR_INVALID_INDEX);
  HOLDS(MPI_T_event_handle_set_info(none, MPI_INFO_NULL) == MPI_T_ERR_INVALID_HANDLE);
  HOLDS(MPI_T_event_handle_get_info(none, &info) == MPI_T_ERR_INVALID_HANDLE);
  HOLDS(MPI_T_event_register_callback(none, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, OnEvent) ==
        MPI_T_ERR_INVALID_HANDLE);
  HOLDS(MPI_T_event_callback_set_info(none, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL) ==
        MPI_T_ERR_INVALID_HANDLE);
  HOLDS(MPI_T_event_callback_get_info(none, MPI_T_CB_REQUIRE_NONE, &info) ==
        MPI_T_ERR_INVALID_HANDLE);
  HOLDS(MPI_T_event_set_dropped_handler(none, OnDrop) == MPI_T_ERR_INVALID_HANDLE);
  HOLDS(MPI_T_event_handle_free(none, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE);
  HOLDS(MPI_T_event_read(instance, 0, &number) == MPI_T_ERR_INVALID_HANDLE);
  HOLDS(MPI_T_event_copy(instance, &number) == MPI_T_ERR_INVALID_HANDLE);
  HOLDS(MPI_T_event_get_timestamp(instance, &ticks) == MPI_T_ERR_INVALID_HANDLE);
  HOLDS(MPI_T_event_get_source(instance, &number) == MPI_T_ERR_INVALID_HANDLE);
}

int main(int argc, char** argv) {
  int provided, count = 0;
  MPI_Init(&argc, &argv);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  Sources();
  HOLDS(MPI_T_event_get_num(&count) == MPI_SUCCESS);
  for (int i = 0; i < count; ++i) {
    char name[128] = "", description[512] = "";
    int name_length = sizeof name, description_length = sizeof description, verbosity = -1;
    int elements = 1, bind = -1, found = -1;
    MPI_Datatype types[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
    MPI_Aint places[2] = {-1, -1};
    MPI_T_enum items = MPI_T_ENUM_NULL;
    MPI_Info info = MPI_INFO_NULL;
    HOLDS(MPI_T_event_get_info(i, name, &name_length, &verbosity, types, places, &elements, &items,
                               &info, description, &description_length, &bind) == MPI_SUCCESS);
    HOLDS(strlen(name) >= 1);
    HOLDS_FOR(name, verbosity >= MPI_T_VERBOSITY_USER_BASIC);
    HOLDS_FOR(name, elements >= 1 && types[0] != MPI_DATATYPE_NULL && places[0] >= 0);
    HOLDS_FOR(name, types[1] == MPI_DATATYPE_NULL && places[1] == -1); /* room for one */
    HOLDS_FOR(name, info != MPI_INFO_NULL);
    MPI_Info_free(&info);
    HOLDS_FOR(name, MPI_T_event_get_index(name, &found) == MPI_SUCCESS && found == i);
    if (bind == MPI_T_BIND_NO_OBJECT) Registration(i);
  }
  Mistakes(count);
  MPI_T_finalize();
  MPI_Finalize();
  return Ended();
}
