// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ucx/library.h"

#include <dlfcn.h>
#include <ucs/debug/log_def.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "runtime/base/log.h"

namespace lamina::ucx {

namespace {

std::mutex last_error_mutex;  // UCX logs from its own thread too
char last_error[512];

// UCX would print to standard output. It calls things errors that are none, such as a peer that
// ended in good order, so this logs them as information; the caller that gets the status decides.
ucs_log_func_rc_t ForwardLog(const char*, unsigned, const char*, ucs_log_level_t level,
                             const ucs_log_component_config_t*, const char* message, va_list list) {
  char line[sizeof last_error];
  std::vsnprintf(line, sizeof line, message, list);
  if (level == UCS_LOG_LEVEL_ERROR) {
    const std::lock_guard lock(last_error_mutex);
    std::memcpy(last_error, line, sizeof line);
  }
  Log(level == UCS_LOG_LEVEL_FATAL  ? Level::kError
      : level <= UCS_LOG_LEVEL_WARN ? Level::kInfo
                                    : Level::kDebug,
      "ucx", "%s", line);
  return UCS_LOG_FUNC_RC_STOP;
}

template <class Function>
Status Find(void* handle, const char* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(handle, name));
  if (*function != nullptr) return {};
  return Error(Code::kUnsupported, "%s has no %s", library, name);
}

// ucs is not a public interface: its log handler has had this shape since 1.10.
void CalmDown(void* ucs, const Library& library) {
  unsigned major = 0, minor = 0, release = 0;
  library.ucp_get_version(&major, &minor, &release);
  if (major == 1 && minor >= 10) {
    if (auto push =
            reinterpret_cast<decltype(&ucs_log_push_handler)>(dlsym(ucs, "ucs_log_push_handler")))
      push(ForwardLog);
  }
  if (auto disable = reinterpret_cast<void (*)()>(dlsym(ucs, "ucs_debug_disable_signals")))
    disable();
}

}  // namespace

std::string TakeLastError() {
  const std::lock_guard lock(last_error_mutex);
  std::string text = last_error;
  last_error[0] = '\0';
  return text;
}

Result<const Library*> Load() {
  static Library library;
  static bool loaded = false;
  if (loaded) return static_cast<const Library*>(&library);
  void* const ucs = dlopen("libucs.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (ucs == nullptr) return Error(Code::kUnsupported, "UCX: %s", dlerror());
  void* const ucp = dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (ucp == nullptr) return Error(Code::kUnsupported, "UCX: %s", dlerror());
  Library found;
#define LAMINA_UCP_FIND(name) \
  if (Status status = Find(ucp, "libucp.so.0", #name, &found.name); !status.ok()) return status;
  LAMINA_UCP_FUNCTIONS(LAMINA_UCP_FIND)
  if (Status status = Find(ucs, "libucs.so.0", "ucs_status_string", &found.ucs_status_string);
      !status.ok())
    return status;
  CalmDown(ucs, found);
  library = found;
  loaded = true;
  return static_cast<const Library*>(&library);
}

[[gnu::cold]] Result<const OneSidedLibrary*> LoadOneSided() {
  static OneSidedLibrary library;
  static bool loaded = false;
  if (loaded) return static_cast<const OneSidedLibrary*>(&library);
  void* const ucp = dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (ucp == nullptr) return Error(Code::kUnsupported, "UCX: %s", dlerror());
  OneSidedLibrary found;
  LAMINA_UCP_ONE_SIDED_FUNCTIONS(LAMINA_UCP_FIND)
#undef LAMINA_UCP_FIND
  library = found;
  loaded = true;
  return static_cast<const OneSidedLibrary*>(&library);
}

}  // namespace lamina::ucx
