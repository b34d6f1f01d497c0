/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: error handlers of all kinds of objects, inherited, counted and refused where they do not
 * fit; classes, codes and texts of the application, and their removal (MPI-5.0, sections 9.3
 * to 9.5).
 */
#include "test/mpi/check.h"

static int comm_calls = 0, file_calls = 0, last = 0;
static void OnComm(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  ++comm_calls;
  last = *code;
}
static void OnFile(MPI_File* file, int* code, ...) {
  ++file_calls;
  last = *code;
  EXPECT(*file == MPI_FILE_NULL);
}

static void Comms(void) {
  MPI_Errhandler mine, got;
  MPI_Comm twin, deep, part;
  int size, value = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  MPI_Comm_get_errhandler(twin, &got);
  EXPECT(got == MPI_ERRORS_RETURN); /* inherited */
  MPI_Errhandler_free(&got);
  MPI_Comm_create_errhandler(OnComm, &mine);
  MPI_Comm_set_errhandler(twin, mine);
  MPI_Comm_get_errhandler(twin, &got);
  EXPECT(got == mine);
  MPI_Errhandler_free(&got);
  MPI_Errhandler_free(&mine);
  EXPECT(mine == MPI_ERRHANDLER_NULL);
  MPI_Comm_dup(twin, &deep);
  MPI_Comm_free(&twin); /* the handler lives on in the duplicate */
  MPI_Comm_split(deep, 0, 0, &part);
  MPI_Send(&value, 1, MPI_INT, size, 0, part);
  EXPECT(comm_calls == 1 && ClassOf(last) == MPI_ERR_RANK);
  EXPECT(MPI_Comm_call_errhandler(deep, MPI_ERR_TOPOLOGY) == MPI_SUCCESS);
  EXPECT(comm_calls == 2 && last == MPI_ERR_TOPOLOGY);
  MPI_Comm_set_errhandler(deep, MPI_ERRORS_RETURN);
  EXPECT(MPI_Comm_call_errhandler(deep, MPI_ERR_TOPOLOGY) == MPI_SUCCESS && comm_calls == 2);
  MPI_Comm_free(&part);
  MPI_Comm_free(&deep);
}

static void Files(void) {
  MPI_Errhandler mine, got;
  MPI_File_get_errhandler(MPI_FILE_NULL, &got);
  EXPECT(got == MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&got);
  MPI_File_create_errhandler(OnFile, &mine);
  MPI_File_set_errhandler(MPI_FILE_NULL, mine);
  MPI_Errhandler_free(&mine);
  MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_NO_SPACE);
  EXPECT(file_calls == 1 && last == MPI_ERR_NO_SPACE);
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
}

static void Wrong(void) {
  MPI_Errhandler file_handler, got;
  MPI_Errhandler none = MPI_ERRHANDLER_NULL;
  EXPECT(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL) != MPI_SUCCESS);
  EXPECT(ClassOf(MPI_Comm_set_errhandler(MPI_COMM_NULL, MPI_ERRORS_RETURN)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_get_errhandler(MPI_COMM_NULL, &got)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_call_errhandler(MPI_COMM_NULL, MPI_ERR_OTHER)) == MPI_ERR_COMM);
  EXPECT(MPI_Errhandler_free(&none) != MPI_SUCCESS);
  MPI_File_create_errhandler(OnFile, &file_handler);
#ifdef MPI_ABI_VERSION
  EXPECT(ClassOf(MPI_Comm_set_errhandler(MPI_COMM_WORLD, file_handler)) == MPI_ERR_ERRHANDLER);
  EXPECT(ClassOf(MPI_Comm_create_errhandler(NULL, &got)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_File_set_errhandler((MPI_File)&none, MPI_ERRORS_RETURN)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_get_errhandler((MPI_File)&none, &got)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_call_errhandler((MPI_File)&none, MPI_ERR_OTHER)) == MPI_ERR_FILE);
#endif
  MPI_Errhandler_free(&file_handler);
}

static int LastUsed(void) {
  int* value = NULL;
  int flag = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
  return flag ? *value : -1;
}

static void Codes(void) {
  int first, second, code, other, length, before = LastUsed();
  char text[MPI_MAX_ERROR_STRING];
  MPI_Add_error_class(&first);
  EXPECT(first > MPI_ERR_LASTCODE && first > before && LastUsed() == first);
  EXPECT(ClassOf(first) == first);
  MPI_Error_string(first, text, &length);
  EXPECT(length == 0 && text[0] == '\0');
  MPI_Add_error_code(first, &code);
  EXPECT(code != first && ClassOf(code) == first && LastUsed() >= code);
  MPI_Add_error_code(MPI_ERR_IO, &other); /* in a predefined class */
  EXPECT(ClassOf(other) == MPI_ERR_IO);
  MPI_Add_error_string(code, "first");
  MPI_Add_error_string(code, "second"); /* replaces it */
  MPI_Error_string(code, text, &length);
  EXPECT(strcmp(text, "second") == 0 && length == 6);
  /* Section 9.5: the text is the application's also after an error of that code. */
  MPI_Comm_call_errhandler(MPI_COMM_WORLD, code);
  MPI_Error_string(code, text, &length);
  EXPECT(strcmp(text, "second") == 0 && length == 6);
  MPI_Add_error_class(&second);
  EXPECT(second != first && second != code && second != other);
  EXPECT(MPI_Add_error_string(MPI_ERR_TAG, "mine") != MPI_SUCCESS);
#ifdef MPI_ABI_VERSION
  EXPECT(MPI_Add_error_code(code, &length) != MPI_SUCCESS); /* a code is no class */
  EXPECT(MPI_Remove_error_class(first) != MPI_SUCCESS);     /* has a code */
  EXPECT(MPI_Remove_error_class(MPI_ERR_TAG) != MPI_SUCCESS);
  EXPECT(MPI_Remove_error_code(MPI_ERR_TAG) != MPI_SUCCESS);
  EXPECT(MPI_Remove_error_code(first) != MPI_SUCCESS); /* a class is no code of this kind */
  EXPECT(MPI_Remove_error_string(MPI_ERR_TAG) != MPI_SUCCESS);
  /* Section 9.5: the string must be removed before the code or class that has it. */
  MPI_Add_error_string(second, "mine");
  EXPECT(ClassOf(MPI_Remove_error_class(second)) == MPI_ERR_OTHER);
  EXPECT(MPI_Remove_error_string(second) == MPI_SUCCESS);
  EXPECT(ClassOf(MPI_Remove_error_code(code)) == MPI_ERR_OTHER);
  EXPECT(ClassOf(code) == first);
  EXPECT(MPI_Remove_error_string(code) == MPI_SUCCESS);
  MPI_Error_string(code, text, &length);
  EXPECT(length == 0);
  EXPECT(MPI_Remove_error_string(code) != MPI_SUCCESS); /* has none any more */
  EXPECT(MPI_Remove_error_code(code) == MPI_SUCCESS);
  EXPECT(MPI_Error_class(code, &length) != MPI_SUCCESS);
  EXPECT(MPI_Remove_error_code(other) == MPI_SUCCESS);
  EXPECT(MPI_Remove_error_class(second) == MPI_SUCCESS);
  EXPECT(MPI_Remove_error_class(first) == MPI_SUCCESS);
  EXPECT(MPI_Remove_error_class(first) != MPI_SUCCESS);
#endif
}

/* Every predefined class has a text, and is its own class. */
static void Texts(void) {
  static const int classes[] = {MPI_SUCCESS,
                                MPI_ERR_BUFFER,
                                MPI_ERR_COUNT,
                                MPI_ERR_TYPE,
                                MPI_ERR_TAG,
                                MPI_ERR_COMM,
                                MPI_ERR_RANK,
                                MPI_ERR_REQUEST,
                                MPI_ERR_ROOT,
                                MPI_ERR_GROUP,
                                MPI_ERR_OP,
                                MPI_ERR_TOPOLOGY,
                                MPI_ERR_DIMS,
                                MPI_ERR_ARG,
                                MPI_ERR_UNKNOWN,
                                MPI_ERR_TRUNCATE,
                                MPI_ERR_OTHER,
                                MPI_ERR_INTERN,
                                MPI_ERR_IN_STATUS,
                                MPI_ERR_PENDING,
                                MPI_ERR_ACCESS,
                                MPI_ERR_AMODE,
                                MPI_ERR_ASSERT,
                                MPI_ERR_BAD_FILE,
                                MPI_ERR_BASE,
                                MPI_ERR_CONVERSION,
                                MPI_ERR_DISP,
                                MPI_ERR_DUP_DATAREP,
                                MPI_ERR_FILE_EXISTS,
                                MPI_ERR_FILE_IN_USE,
                                MPI_ERR_FILE,
                                MPI_ERR_INFO_KEY,
                                MPI_ERR_INFO_NOKEY,
                                MPI_ERR_INFO_VALUE,
                                MPI_ERR_INFO,
                                MPI_ERR_IO,
                                MPI_ERR_KEYVAL,
                                MPI_ERR_LOCKTYPE,
                                MPI_ERR_NAME,
                                MPI_ERR_NO_MEM,
                                MPI_ERR_NOT_SAME,
                                MPI_ERR_NO_SPACE,
                                MPI_ERR_NO_SUCH_FILE,
                                MPI_ERR_PORT,
                                MPI_ERR_QUOTA,
                                MPI_ERR_READ_ONLY,
                                MPI_ERR_RMA_CONFLICT,
                                MPI_ERR_RMA_SYNC,
                                MPI_ERR_RMA_RANGE,
                                MPI_ERR_RMA_ATTACH,
                                MPI_ERR_RMA_SHARED,
                                MPI_ERR_RMA_FLAVOR,
                                MPI_ERR_SERVICE,
                                MPI_ERR_SIZE,
                                MPI_ERR_SPAWN,
                                MPI_ERR_UNSUPPORTED_DATAREP,
                                MPI_ERR_UNSUPPORTED_OPERATION,
                                MPI_ERR_WIN};
  char text[MPI_MAX_ERROR_STRING];
  size_t i;
  int length, ignored;
  for (i = 0; i < sizeof classes / sizeof classes[0]; ++i) {
    EXPECT(MPI_Error_string(classes[i], text, &length) == MPI_SUCCESS);
    EXPECT(length > 0 && (int)strlen(text) == length && length < MPI_MAX_ERROR_STRING);
    EXPECT(ClassOf(classes[i]) == classes[i]);
    EXPECT(classes[i] <= MPI_ERR_LASTCODE);
  }
#ifdef MPI_ABI_VERSION
  EXPECT(MPI_Error_string(-17, text, &length) != MPI_SUCCESS);
  EXPECT(MPI_Error_class(-17, &ignored) != MPI_SUCCESS);
#else
  (void)ignored;
#endif
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  Comms();
  Files();
  Wrong();
  Codes();
  Texts();
  return Passed();
}
