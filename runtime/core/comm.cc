// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/core/comm.h"

#include "runtime/base/check.h"
#include "runtime/core/errors.h"
#include "runtime/core/topology.h"

namespace lamina::core {

constinit Comm* world = nullptr;
constinit Comm* self_comm = nullptr;
constinit Comm* everybody = nullptr;
constinit Comm* parent = nullptr;
void (*on_last_release)(Comm* comm) = nullptr;

namespace {

// Freed communicators wait here for reuse, so that a freed handle can still be told from a live
// one.
constinit Comm* pool = nullptr;

}  // namespace

void DrainCommPool() {
  while (pool != nullptr) {
    Comm* next = pool->next_free;
    delete pool;
    pool = next;
  }
}

Comm* MakeComm(Group* group, ContextId context, const Comm* parent) {
  Comm* comm = pool;
  if (comm != nullptr) {
    pool = comm->next_free;
    *comm = Comm();
  } else {
    comm = new Comm;
  }
  Retain(group);
  comm->group = group;
  comm->context = context;
  comm->rank = group->self;
  comm->size = group->size();
  comm->destinations = comm->size;
  comm->peers = group->peers.data();
  comm->handle = ToHandle<MPI_Comm>(comm);
  comm->errhandler = parent != nullptr ? parent->errhandler : InitialErrhandler();
  Retain(comm->errhandler);
  return comm;
}

Comm* MakeInterComm(Group* group, Group* remote, ContextId context, ContextId local_context,
                    const Comm* parent) {
  Comm* comm = MakeComm(group, context, parent);
  Retain(remote);
  comm->remote = remote;
  comm->destinations = remote->size();
  comm->peers = remote->peers.data();
  comm->local = MakeComm(group, local_context, parent);
  comm->local->inter = comm;
  return comm;
}

int Bury(Comm* comm) {
  CHECK(comm->kind == Kind::kComm && comm->references == 0);
  const int error = DeleteAllAttributes(Holder::kComm, comm->handle, &comm->attributes);
  if (on_last_release != nullptr) on_last_release(comm);
  if (comm == parent) parent = nullptr;
  if (comm->local != nullptr) {
    comm->local->inter = nullptr;
    static_cast<void>(Release(comm->local));
  }
  Release(comm->group);
  if (comm->remote != nullptr) Release(comm->remote);
  Release(comm->errhandler);
  delete comm->topology;
  *comm = Comm();
  comm->kind = Kind::kFreed;
  comm->next_free = pool;
  pool = comm;
  return error;
}

}  // namespace lamina::core
