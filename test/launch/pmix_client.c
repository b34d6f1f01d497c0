// SPDX-License-Identifier: BSD-3-Clause
// A rank that speaks PMIx itself, as the library's bootstrap does, and checks the answers.
//
//   pmix_client exchange    put, commit, fence with data, get everybody's value
//   pmix_client late        rank 0 commits late; the others ask before: the answer waits for it
//   pmix_client names       publish, lookup, unpublish
//   pmix_client job         prints what the server says about this rank
//   pmix_client abort       rank 1 aborts with code 9 while the others wait in a fence
//   pmix_client vanish      rank 1 leaves without PMIx_Finalize, status 0
//   pmix_client refuse      spawn is refused with PMIX_ERR_NOT_SUPPORTED
#define _GNU_SOURCE
#include <pmix.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pmix_proc_t me, all;
static uint32_t ranks;

#define MUST(call)                                                                      \
  do {                                                                                  \
    pmix_status_t status_ = (call);                                                     \
    if (status_ != PMIX_SUCCESS) {                                                      \
      fprintf(stderr, "rank %u: %s: %s\n", me.rank, #call, PMIx_Error_string(status_)); \
      exit(50);                                                                         \
    }                                                                                   \
  } while (0)
#define CHECK(truth)                                               \
  do {                                                             \
    if (!(truth)) {                                                \
      fprintf(stderr, "rank %u: not true: %s\n", me.rank, #truth); \
      exit(51);                                                    \
    }                                                              \
  } while (0)

static void Put(const char* key, const char* bytes, size_t count) {
  pmix_value_t value;
  PMIX_VALUE_CONSTRUCT(&value);
  value.type = PMIX_BYTE_OBJECT;
  value.data.bo.bytes = (char*)bytes;
  value.data.bo.size = count;
  MUST(PMIx_Put(PMIX_GLOBAL, key, &value));
  MUST(PMIx_Commit());
}

static void MustHave(uint32_t rank, const char* key, const char* bytes, size_t count) {
  pmix_proc_t peer;
  PMIX_LOAD_PROCID(&peer, me.nspace, rank);
  pmix_info_t info[1];
  int timeout_s = 10;
  PMIX_INFO_LOAD(&info[0], PMIX_TIMEOUT, &timeout_s, PMIX_INT);
  pmix_value_t* value;
  MUST(PMIx_Get(&peer, key, info, 1, &value));
  CHECK(value->type == PMIX_BYTE_OBJECT && value->data.bo.size == count);
  CHECK(memcmp(value->data.bo.bytes, bytes, count) == 0);
  PMIX_VALUE_RELEASE(value);
}

static void Exchange(void) {
  char card[700];
  memset(card, (int)me.rank, sizeof card);
  Put("test.card", card, sizeof card);
  pmix_info_t collect[1];
  bool yes = true;
  PMIX_INFO_LOAD(&collect[0], PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
  MUST(PMIx_Fence(NULL, 0, collect, 1));
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    memset(card, (int)rank, sizeof card);
    MustHave(rank, "test.card", card, sizeof card);
  }
}

static void Late(void) {
  if (me.rank == 0) {
    poll(NULL, 0, 300);
    Put("test.card", "here", 4);
  } else {
    MustHave(0, "test.card", "here", 4);
  }
  MUST(PMIx_Fence(NULL, 0, NULL, 0));
}

static void Names(void) {
  if (me.rank == 0) {
    pmix_info_t info[1];
    PMIX_INFO_LOAD(&info[0], "ocean", "port 17", PMIX_STRING);
    MUST(PMIx_Publish(info, 1));
    CHECK(PMIx_Publish(info, 1) != PMIX_SUCCESS);
  }
  MUST(PMIx_Fence(NULL, 0, NULL, 0));
  pmix_pdata_t data;
  PMIX_PDATA_CONSTRUCT(&data);
  snprintf(data.key, sizeof data.key, "ocean");
  MUST(PMIx_Lookup(&data, 1, NULL, 0));
  CHECK(data.value.type == PMIX_STRING && strcmp(data.value.data.string, "port 17") == 0);
  CHECK(data.proc.rank == 0);
  MUST(PMIx_Fence(NULL, 0, NULL, 0));
  char* keys[] = {"ocean", NULL};
  if (me.rank == 0) MUST(PMIx_Unpublish(keys, NULL, 0));
  MUST(PMIx_Fence(NULL, 0, NULL, 0));
  CHECK(PMIx_Lookup(&data, 1, NULL, 0) != PMIX_SUCCESS);
}

static uint32_t Number(const pmix_proc_t* of, const char* key) {
  pmix_value_t* value;
  MUST(PMIx_Get(of, key, NULL, 0, &value));
  uint32_t number = 0;
  if (value->type == PMIX_UINT32) number = value->data.uint32;
  if (value->type == PMIX_UINT16) number = value->data.uint16;
  PMIX_VALUE_RELEASE(value);
  return number;
}

static void Job(void) {
  pmix_value_t* peers;
  MUST(PMIx_Get(&all, PMIX_LOCAL_PEERS, NULL, 0, &peers));
  printf("rank %u of %u, universe %u, app %u, local rank %u, peers %s\n", me.rank, ranks,
         Number(&all, PMIX_UNIV_SIZE), Number(&me, PMIX_APPNUM), Number(&me, PMIX_LOCAL_RANK),
         peers->data.string);
  PMIX_VALUE_RELEASE(peers);
}

static void Refuse(void) {
  if (me.rank != 0) return;
  pmix_app_t* app;
  PMIX_APP_CREATE(app, 1);
  app->cmd = strdup("true");
  app->argv = calloc(2, sizeof(char*));
  app->argv[0] = strdup("true");
  app->maxprocs = 1;
  pmix_nspace_t space;
  CHECK(PMIx_Spawn(NULL, 0, app, 1, space) == PMIX_ERR_NOT_SUPPORTED);
  CHECK(PMIx_Spawn(NULL, 0, app, 1, space) == PMIX_ERR_NOT_SUPPORTED);
  PMIX_APP_FREE(app, 1);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "job";
  MUST(PMIx_Init(&me, NULL, 0));
  PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
  ranks = Number(&all, PMIX_JOB_SIZE);
  if (strcmp(what, "exchange") == 0)
    Exchange();
  else if (strcmp(what, "late") == 0)
    Late();
  else if (strcmp(what, "names") == 0)
    Names();
  else if (strcmp(what, "job") == 0)
    Job();
  else if (strcmp(what, "refuse") == 0)
    Refuse();
  else if (strcmp(what, "abort") == 0) {
    if (me.rank == 1) PMIx_Abort(9, "no more", NULL, 0);
    PMIx_Fence(NULL, 0, NULL, 0);
  } else if (strcmp(what, "vanish") == 0) {
    if (me.rank == 1) _exit(0);
  }
  MUST(PMIx_Finalize(NULL, 0));
  return 0;
}
