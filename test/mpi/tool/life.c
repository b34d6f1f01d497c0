/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   the tool interface is initialised and finalised any number of times, before, during and
 *         after MPI, and says so when it is not (MPI-5.0, section 15.3.4).
 * Method: every function without the interface; then nested pairs around MPI_Init and MPI_Finalize.
 */
#include "test/mpi/tool/tool.h"

static void WithoutInterface(void) {
  int number = 0, other = 0, indices[1];
  MPI_Count ticks = 0;
  MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_handle pvar = MPI_T_PVAR_HANDLE_NULL;
  MPI_T_cvar_handle cvar = MPI_T_CVAR_HANDLE_NULL;
  (void)ticks;
#define NOT(call) HOLDS((call) == MPI_T_ERR_NOT_INITIALIZED)
  NOT(MPI_T_finalize());
  NOT(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &number, NULL, NULL));
  NOT(MPI_T_enum_get_item(MPI_T_ENUM_NULL, 0, &number, NULL, NULL));
  NOT(MPI_T_cvar_get_num(&number));
  NOT(MPI_T_cvar_get_info(0, NULL, NULL, &number, NULL, NULL, NULL, NULL, NULL, NULL));
  NOT(MPI_T_cvar_get_index("x", &number));
  NOT(MPI_T_cvar_handle_alloc(0, NULL, &cvar, &number));
  NOT(MPI_T_cvar_handle_free(&cvar));
  NOT(MPI_T_cvar_read(cvar, &number));
  NOT(MPI_T_cvar_write(cvar, &number));
  NOT(MPI_T_pvar_get_num(&number));
  NOT(MPI_T_pvar_get_info(0, NULL, NULL, &number, &other, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                          NULL));
  NOT(MPI_T_pvar_get_index("x", MPI_T_PVAR_CLASS_LEVEL, &number));
  NOT(MPI_T_pvar_session_create(&session));
  NOT(MPI_T_pvar_session_free(&session));
  NOT(MPI_T_pvar_handle_alloc(session, 0, NULL, &pvar, &number));
  NOT(MPI_T_pvar_handle_free(session, &pvar));
  NOT(MPI_T_pvar_start(session, pvar));
  NOT(MPI_T_pvar_stop(session, pvar));
  NOT(MPI_T_pvar_read(session, pvar, &number));
  NOT(MPI_T_pvar_write(session, pvar, &number));
  NOT(MPI_T_pvar_reset(session, pvar));
  NOT(MPI_T_pvar_readreset(session, pvar, &number));
  NOT(MPI_T_category_get_num(&number));
  NOT(MPI_T_category_get_info(0, NULL, NULL, NULL, NULL, &number, NULL, NULL));
  NOT(MPI_T_category_get_index("x", &number));
  NOT(MPI_T_category_get_cvars(0, 1, indices));
  NOT(MPI_T_category_get_pvars(0, 1, indices));
  NOT(MPI_T_category_get_categories(0, 1, indices));
  NOT(MPI_T_category_changed(&number));
#if MPI_VERSION >= 4
  {
    MPI_T_event_registration registration = NULL;
    MPI_T_event_instance instance = NULL;
    MPI_Info info = MPI_INFO_NULL;
    NOT(MPI_T_category_get_num_events(0, &number));
    NOT(MPI_T_category_get_events(0, 1, indices));
    NOT(MPI_T_source_get_num(&number));
    NOT(MPI_T_source_get_info(0, NULL, NULL, NULL, NULL, NULL, &ticks, NULL, NULL));
    NOT(MPI_T_source_get_timestamp(0, &ticks));
    NOT(MPI_T_event_get_num(&number));
    NOT(MPI_T_event_get_info(0, NULL, NULL, &number, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                             NULL));
    NOT(MPI_T_event_get_index("x", &number));
    NOT(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &registration));
    NOT(MPI_T_event_handle_set_info(registration, MPI_INFO_NULL));
    NOT(MPI_T_event_handle_get_info(registration, &info));
    NOT(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL,
                                      NULL));
    NOT(MPI_T_event_callback_set_info(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL));
    NOT(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, &info));
    NOT(MPI_T_event_set_dropped_handler(registration, NULL));
    NOT(MPI_T_event_handle_free(registration, NULL, NULL));
    NOT(MPI_T_event_read(instance, 0, &number));
    NOT(MPI_T_event_copy(instance, &number));
    NOT(MPI_T_event_get_timestamp(instance, &ticks));
    NOT(MPI_T_event_get_source(instance, &number));
  }
#endif
}

/* The codes are error classes with texts (section 15.3.10). */
static void Texts(void) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0, error_class = 0;
  HOLDS(MPI_Error_class(MPI_T_ERR_INVALID_INDEX, &error_class) == MPI_SUCCESS);
  HOLDS(error_class == MPI_T_ERR_INVALID_INDEX);
  HOLDS(MPI_Error_string(MPI_T_ERR_PVAR_NO_ATOMIC, text, &length) == MPI_SUCCESS && length > 0);
  HOLDS(MPI_T_ERR_CANNOT_INIT > MPI_SUCCESS && MPI_T_ERR_PVAR_NO_ATOMIC <= MPI_ERR_LASTCODE);
}

int main(int argc, char** argv) {
  int provided = -1, number = 0;

  WithoutInterface();
  Texts();
  HOLDS(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
  HOLDS(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE);
  HOLDS(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS);
  HOLDS(MPI_T_finalize() == MPI_SUCCESS);
  HOLDS(MPI_T_cvar_get_num(&number) == MPI_SUCCESS); /* once more initialised than finalised */
  HOLDS(MPI_T_finalize() == MPI_SUCCESS);
  WithoutInterface();

  HOLDS(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
  MPI_Init(&argc, &argv);
  HOLDS(MPI_T_cvar_get_num(&number) == MPI_SUCCESS);
  HOLDS(MPI_T_finalize() == MPI_SUCCESS);
  WithoutInterface();
  HOLDS(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
  MPI_Finalize();
  HOLDS(MPI_T_pvar_get_num(&number) == MPI_SUCCESS);
  HOLDS(MPI_T_finalize() == MPI_SUCCESS);
  WithoutInterface();
  HOLDS(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
  HOLDS(MPI_T_pvar_get_num(&number) == MPI_SUCCESS);
  HOLDS(MPI_T_finalize() == MPI_SUCCESS);
  return Ended();
}
