// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/core/session.h"

#include <mutex>

#include "runtime/base/check.h"
#include "runtime/core/errors.h"
#include "runtime/core/info.h"

namespace lamina::core {
namespace {

// Finalised sessions wait here for reuse, so that an old handle can still be told from a live one.
// There are never more than the application had at once.
constinit Session* pool = nullptr;
constinit std::mutex pool_lock;  // sessions come and go on any thread, at any thread level

}  // namespace

Session* MakeSession(Errhandler* errhandler, Info* info) {
  Session* session;
  {
    const std::lock_guard guard(pool_lock);
    session = pool;
    if (session != nullptr) pool = session->next_free;
  }
  if (session != nullptr)
    *session = Session();
  else
    session = new Session;
  Retain(errhandler);
  session->errhandler = errhandler;
  session->info = info;
  session->handle = ToHandle<MPI_Session>(session);
  return session;
}

void Retain(Session* session) { ++session->references; }

void Release(Session* session) {
  CHECK(session->references > 0);
  if (--session->references > 0) return;
  Release(session->errhandler);
  delete session->info;
  session->kind = Kind::kFreed;
  const std::lock_guard guard(pool_lock);
  session->next_free = pool;
  pool = session;
}

}  // namespace lamina::core
