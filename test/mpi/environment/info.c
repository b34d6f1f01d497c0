/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: info objects keep keys in order, values whole, and find mistakes; MPI_INFO_ENV and
 * MPI_Info_create_env describe the program; hints of communicators are those that are honoured
 * (MPI-5.0, chapter 10, sections 11.2.1, 7.4.4 and "Memory Allocation Info").
 */
#include "test/mpi/check.h"

#if MPI_VERSION < 4 /* defined for other MPIs */
#define MPI_Info_get_string(info, key, length, value, flag) \
  MPI_Info_get(info, key, *(length)-1, value, flag)
#endif

static int Has(MPI_Info info, const char* key, const char* wanted) {
  char value[200] = "";
  int length = sizeof value, flag = 0;
  MPI_Info_get_string(info, key, &length, value, &flag);
  return flag && (wanted == NULL || strcmp(value, wanted) == 0);
}

static void Objects(void) {
  MPI_Info info, copy;
  int keys, flag, length;
  char key[MPI_MAX_INFO_KEY + 2], value[8];
  MPI_Info_create(&info);
  MPI_Info_get_nkeys(info, &keys);
  EXPECT(keys == 0);
  MPI_Info_set(info, "one", "1");
  MPI_Info_set(info, "two", "two words");
  MPI_Info_set(info, "three", "3");
  MPI_Info_set(info, "two", "changed");
  MPI_Info_get_nkeys(info, &keys);
  EXPECT(keys == 3);
  MPI_Info_get_nthkey(info, 1, key);
  EXPECT(strcmp(key, "two") == 0 && Has(info, "two", "changed"));
  MPI_Info_dup(info, &copy);
  MPI_Info_delete(info, "two");
  EXPECT(!Has(info, "two", NULL) && Has(copy, "two", "changed"));
  MPI_Info_get_nthkey(info, 1, key);
  EXPECT(strcmp(key, "three") == 0);
  MPI_Info_get_valuelen(copy, "two", &length, &flag);
  EXPECT(flag && length == 7);
  MPI_Info_get_valuelen(copy, "no", &length, &flag);
  EXPECT(!flag);
  memset(value, 'x', sizeof value);
  MPI_Info_get(copy, "two", 3, value, &flag); /* room for three and the end mark */
  EXPECT(flag && strcmp(value, "cha") == 0 && value[4] == 'x');
#if MPI_VERSION >= 4
  length = 0;
  MPI_Info_get_string(copy, "two", &length, value, &flag);
  EXPECT(flag && length == 8 && value[0] == 'c');
  length = 4;
  MPI_Info_get_string(copy, "two", &length, value, &flag);
  EXPECT(flag && length == 8 && strcmp(value, "cha") == 0);
#endif
  memset(key, 'k', sizeof key);
  key[MPI_MAX_INFO_KEY - 1] = '\0'; /* the longest there is */
  EXPECT(MPI_Info_set(info, key, "") == MPI_SUCCESS);
  MPI_Info_free(&copy);
  EXPECT(copy == MPI_INFO_NULL);

  EXPECT(ClassOf(MPI_Info_set(info, "", "x")) == MPI_ERR_INFO_KEY);
  EXPECT(ClassOf(MPI_Info_delete(info, "no")) == MPI_ERR_INFO_NOKEY);
  EXPECT(MPI_Info_get_nthkey(info, 77, key) != MPI_SUCCESS);
  EXPECT(MPI_Info_get_nthkey(info, -1, key) != MPI_SUCCESS);
  EXPECT(ClassOf(MPI_Info_get_nkeys(MPI_INFO_NULL, &keys)) == MPI_ERR_INFO);
  EXPECT(ClassOf(MPI_Info_set(MPI_INFO_NULL, "a", "b")) == MPI_ERR_INFO);
  EXPECT(ClassOf(MPI_Info_delete(MPI_INFO_NULL, "a")) == MPI_ERR_INFO);
  EXPECT(ClassOf(MPI_Info_dup(MPI_INFO_NULL, &copy)) == MPI_ERR_INFO);
  EXPECT(ClassOf(MPI_Info_free(&copy)) == MPI_ERR_INFO);
  EXPECT(ClassOf(MPI_Info_get_valuelen(MPI_INFO_NULL, "a", &length, &flag)) == MPI_ERR_INFO);
#ifdef MPI_ABI_VERSION
  memset(key, 'k', sizeof key - 1);
  key[MPI_MAX_INFO_KEY + 1] = '\0';
  EXPECT(ClassOf(MPI_Info_set(info, key, "x")) == MPI_ERR_INFO_KEY);
  EXPECT(ClassOf(MPI_Info_get_string(MPI_INFO_NULL, "a", &length, value, &flag)) == MPI_ERR_INFO);
  EXPECT(ClassOf(MPI_Info_create(NULL)) == MPI_ERR_ARG);
#endif
  MPI_Info_free(&info);
}

#ifdef MPI_ABI_VERSION
static void Environment(int argc, char** argv) {
  MPI_Info copy, env = MPI_INFO_ENV;
  EXPECT(Has(MPI_INFO_ENV, "command", NULL) && Has(MPI_INFO_ENV, "wdir", NULL));
  EXPECT(Has(MPI_INFO_ENV, "host", NULL) && Has(MPI_INFO_ENV, "arch", NULL));
  EXPECT(Has(MPI_INFO_ENV, "maxprocs", NULL));
  EXPECT(Has(MPI_INFO_ENV, "thread_level", "MPI_THREAD_FUNNELED"));
  EXPECT(Has(MPI_INFO_ENV, "mpi_memory_alloc_kinds", NULL));
  MPI_Info_create_env(argc, argv, &copy);
  EXPECT(Has(copy, "command", NULL));
  EXPECT(MPI_Info_set(copy, "mine", "1") == MPI_SUCCESS && !Has(MPI_INFO_ENV, "mine", NULL));
  MPI_Info_free(&copy);
  EXPECT(ClassOf(MPI_Info_set(MPI_INFO_ENV, "mine", "1")) == MPI_ERR_INFO);
  EXPECT(ClassOf(MPI_Info_delete(MPI_INFO_ENV, "command")) == MPI_ERR_INFO);
  EXPECT(ClassOf(MPI_Info_free(&env)) == MPI_ERR_INFO);
  EXPECT(ClassOf(MPI_Info_create_env(argc, argv, NULL)) == MPI_ERR_ARG);
}

static void Hints(void) {
  MPI_Comm twin, plain;
  MPI_Info hints, used;
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "mpi_assert_no_any_source", "true");
  MPI_Info_set(hints, "mpi_assert_exact_length", "perhaps"); /* no value for it */
  MPI_Info_set(hints, "unheard_of", "true");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, hints, &twin);
  MPI_Comm_get_info(twin, &used);
  EXPECT(Has(used, "mpi_assert_no_any_source", "true"));
  EXPECT(Has(used, "mpi_assert_no_any_tag", "false"));
  EXPECT(Has(used, "mpi_assert_exact_length", "false"));
  EXPECT(Has(used, "mpi_assert_allow_overtaking", "false"));
  EXPECT(Has(used, "mpi_memory_alloc_kinds", NULL));
  EXPECT(!Has(used, "unheard_of", NULL));
  MPI_Info_free(&used);
  MPI_Comm_dup(twin, &plain); /* hints are not handed on */
  MPI_Comm_get_info(plain, &used);
  EXPECT(Has(used, "mpi_assert_no_any_source", "false"));
  MPI_Info_free(&used);
  MPI_Info_set(hints, "mpi_assert_no_any_source", "false");
  MPI_Info_set(hints, "mpi_assert_allow_overtaking", "true");
  MPI_Comm_set_info(twin, hints);
  MPI_Comm_get_info(twin, &used);
  EXPECT(Has(used, "mpi_assert_no_any_source", "false"));
  EXPECT(Has(used, "mpi_assert_allow_overtaking", "true"));
  MPI_Info_free(&used);
  MPI_Info_free(&hints);
  EXPECT(ClassOf(MPI_Comm_set_info(MPI_COMM_NULL, MPI_INFO_NULL)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_set_info(MPI_COMM_WORLD, (MPI_Info)&hints)) == MPI_ERR_INFO);
  EXPECT(ClassOf(MPI_Comm_get_info(MPI_COMM_NULL, &used)) == MPI_ERR_COMM);
  MPI_Comm_free(&plain);
  MPI_Comm_free(&twin);
}

/* A supported request is granted to a session and to its communicators. */
static void MemoryKinds(void) {
  MPI_Session session;
  MPI_Info info, got;
  MPI_Group group;
  MPI_Comm comm;
  char value[200] = "";
  int length = sizeof value, flag;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_memory_alloc_kinds", "system,mpi:alloc_mem,moonlight:full");
  MPI_Session_init(info, MPI_ERRORS_RETURN, &session);
  MPI_Session_get_info(session, &got);
  MPI_Info_get_string(got, "mpi_memory_alloc_kinds", &length, value, &flag);
  EXPECT(flag && strstr(value, "system") && strstr(value, "mpi:alloc_mem"));
  EXPECT(!strstr(value, "moonlight"));
  MPI_Info_free(&got);
  MPI_Group_from_session_pset(session, "mpi://SELF", &group);
  MPI_Comm_create_from_group(group, "kinds", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Comm_get_info(comm, &got);
  EXPECT(Has(got, "mpi_memory_alloc_kinds", value));
  MPI_Info_free(&got);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Info_free(&info);
  MPI_Session_finalize(&session);
}
#endif

#ifdef MPI_ABI_VERSION
/* Before MPI_Init and after MPI_Finalize the program is described as well (MPI-5.0, 11.2.1). */
static MPI_Info Described(int argc, char** argv) {
  MPI_Info info;
  MPI_Info_create_env(argc, argv, &info);
  return info;
}
static int SameIn(MPI_Info one, MPI_Info other, const char* key) {
  char value[200] = "";
  int length = sizeof value, flag = 0;
  MPI_Info_get_string(one, key, &length, value, &flag);
  return flag && Has(other, key, value);
}
#endif

int main(int argc, char** argv) {
  int provided;
#ifdef MPI_ABI_VERSION
  MPI_Info before = Described(argc, argv), between, after;
#endif
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  Objects();
#ifdef MPI_ABI_VERSION
  Environment(argc, argv);
  Hints();
  MemoryKinds();
  between = Described(argc, argv);
  EXPECT(SameIn(before, between, "host"));
  EXPECT(!Has(before, "maxprocs", NULL) || SameIn(before, between, "maxprocs"));
  EXPECT(Has(before, "thread_level", "MPI_THREAD_SINGLE"));
  MPI_Finalize();
  after = Described(argc, argv);
  if (!SameIn(between, after, "host") || !SameIn(between, after, "maxprocs") ||
      !SameIn(between, after, "thread_level"))
    return 2;
  MPI_Info_free(&before);
  MPI_Info_free(&between);
  MPI_Info_free(&after);
  return failures == 0 ? 0 : 1;
#else
  return Passed();
#endif
}
