/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   small functions that hardly anybody calls wrongly tell it too, when somebody does: places
 *         for answers that are null, sizes below nothing, handles that are none, a second
 *         initialisation (MPI-5.0, sections 9.1, 9.2, 9.4, 9.5, 10, 11.2, 11.4 and 20).
 * Method: MPI_ERRORS_RETURN on MPI_COMM_SELF, which hears of errors without an object.
 */
#include "test/mpi/check.h"

static int number, other;
static char text[MPI_MAX_LIBRARY_VERSION_STRING];

static void Inquiry(void) {
  EXPECT(ClassOf(MPI_Get_version(NULL, &number)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Get_library_version(text, NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Get_processor_name(NULL, &number)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Query_thread(NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Is_thread_main(NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Add_error_class(NULL)) == MPI_ERR_ARG);
#if MPI_VERSION >= 5
  EXPECT(ClassOf(MPI_Abi_get_version(&number, NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Abi_get_info(NULL)) == MPI_ERR_ARG);
#endif
}

static void Memory(void) {
  void* block = &number;
  EXPECT(ClassOf(MPI_Alloc_mem(-1, MPI_INFO_NULL, &block)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Alloc_mem((MPI_Aint)1 << 60, MPI_INFO_NULL, &block)) == MPI_ERR_NO_MEM);
  EXPECT(block == &number);
  EXPECT(ClassOf(MPI_Get_address(&number, NULL)) == MPI_ERR_ARG);
}

static void Handles(void) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Info info;
  EXPECT(ClassOf(MPI_Errhandler_free(&handler)) == MPI_ERR_ERRHANDLER);
#if MPI_VERSION >= 4
  EXPECT(ClassOf(MPI_Session_create_errhandler(NULL, &handler)) == MPI_ERR_ARG);
#endif
  EXPECT(handler == MPI_ERRHANDLER_NULL);
  EXPECT(ClassOf(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, NULL,
                                        NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Type_get_name(MPI_INT, NULL, &number)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Info_get(MPI_INFO_NULL, "key", 9, text, &number)) == MPI_ERR_INFO);
  MPI_Info_create(&info);
  EXPECT(ClassOf(MPI_Info_get_nthkey(info, 0, text)) == MPI_ERR_ARG);
  MPI_Info_free(&info);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  EXPECT(ClassOf(MPI_Init(&argc, &argv)) == MPI_ERR_OTHER);
  EXPECT(ClassOf(MPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, &other)) == MPI_ERR_OTHER);
  Inquiry();
  Memory();
  Handles();
  return Passed();
}
