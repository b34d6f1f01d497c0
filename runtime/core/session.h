// SPDX-License-Identifier: BSD-3-Clause
// A session is one independent way into MPI (MPI-5.0, section "The Sessions Model"). Groups made
// from its process sets, and communicators made from those groups, belong to it.
//
// Ownership: References own it; groups hold one, so what belongs to a session may outlive its
//            handle.
#pragma once

#include <mpi.h>

#include "runtime/object/object.h"

namespace lamina::p2p {
class SendBuffer;  // p2p/buffered.h: what MPI_Session_attach_buffer attached
}

namespace lamina::core {

struct Errhandler;
struct Info;

struct Session : Object {
  static constexpr Kind kKind = Kind::kSession;
  Session() : Object(kKind) {}

  MPI_Session handle = MPI_SESSION_NULL;
  Errhandler* errhandler = nullptr;
  Info* info = nullptr;                    // what was asked for and is honoured; owned
  p2p::SendBuffer* send_buffer = nullptr;  // owned; null unless one is attached
  Session* next_free = nullptr;            // while it is freed
};

// Finds a session of ours that has not been finalised; returns null for everything else.
inline Session* FindSession(MPI_Session handle) { return FromHandle<Session>(handle); }

// Makes a session with this error handler, whose reference it takes, and these hints, which it
// takes over.
Session* MakeSession(Errhandler* errhandler, Info* info);
void Retain(Session* session);
void Release(Session* session);

}  // namespace lamina::core
