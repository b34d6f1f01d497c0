// SPDX-License-Identifier: BSD-3-Clause
// The functions of UCX that this folder calls, found at run time. Nothing links UCX, so a job on
// one node does not load it, and a machine without UCX can run such a job.
#pragma once

#include <ucp/api/ucp.h>

#include <string>

#include "runtime/base/status.h"

namespace lamina::ucx {

// X(name): a function of libucp.
// clang-format off
#define LAMINA_UCP_FUNCTIONS(X)                                                                 \
  X(ucp_get_version) X(ucp_config_read) X(ucp_config_modify) X(ucp_config_release)              \
  X(ucp_init_version) X(ucp_cleanup) X(ucp_worker_create) X(ucp_worker_destroy)                 \
  X(ucp_worker_get_address) X(ucp_worker_release_address) X(ucp_worker_progress)                \
  X(ucp_worker_get_efd) X(ucp_worker_arm) X(ucp_worker_signal) X(ucp_worker_flush_nbx)          \
  X(ucp_worker_set_am_recv_handler) X(ucp_ep_create) X(ucp_ep_flush_nbx) X(ucp_ep_close_nbx)    \
  X(ucp_am_send_nbx) X(ucp_am_recv_data_nbx) X(ucp_am_data_release) X(ucp_request_check_status) \
  X(ucp_request_free)
// The ones that reach memory of peers.
#define LAMINA_UCP_ONE_SIDED_FUNCTIONS(X)                                                       \
  X(ucp_mem_map) X(ucp_mem_unmap) X(ucp_rkey_pack) X(ucp_rkey_buffer_release)                   \
  X(ucp_ep_rkey_unpack) X(ucp_rkey_destroy) X(ucp_put_nbx) X(ucp_get_nbx)
// clang-format on

struct Library {
#define LAMINA_UCP_POINTER(name) decltype(&::name) name = nullptr;
  LAMINA_UCP_FUNCTIONS(LAMINA_UCP_POINTER)
  decltype(&::ucs_status_string) ucs_status_string = nullptr;
};

struct OneSidedLibrary {
  LAMINA_UCP_ONE_SIDED_FUNCTIONS(LAMINA_UCP_POINTER)
#undef LAMINA_UCP_POINTER
};

// The line that UCX last logged as an error, which names device and address as a status does not.
// Taking it empties it.
std::string TakeLastError();

// Loads libucp.so.0 and libucs.so.0. They stay loaded, because UCX hooks memory functions. UCX's
// log goes to the library's own, and its signal handlers are removed. kUnsupported says what is
// missing.
Result<const Library*> Load();
// Finds what else is in it.
Result<const OneSidedLibrary*> LoadOneSided();

}  // namespace lamina::ucx
