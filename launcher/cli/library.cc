// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/cli/library.h"

#include <dlfcn.h>

#include <cstdlib>

namespace lamina::launcher {
namespace {

using DescribeFunction = const char* (*)(const char* filter);

}  // namespace

Result<std::string> DescribeLibrary(const Installation& installation,
                                    const param::Settings& settings, std::string_view filter) {
  if (installation.library.empty())
    return Error(Code::kNotFound, "libmpi_abi.so.1 is not beside this program");
  for (const std::string& assignment : settings.Export()) {
    const std::size_t equals = assignment.find('=');
    setenv(assignment.substr(0, equals).c_str(), assignment.c_str() + equals + 1, 1);
  }
  // It is never closed, because it may have started something that lives as long as the process.
  void* library = dlopen(installation.library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    return Error(Code::kNotFound, "cannot open the MPI library: %s", why != nullptr ? why : "?");
  }
  const auto describe = reinterpret_cast<DescribeFunction>(dlsym(library, "lamina_describe"));
  if (describe == nullptr)
    return Error(Code::kNotFound, "%s cannot describe itself (no lamina_describe)",
                 installation.library.c_str());
  const char* text = describe(std::string(filter).c_str());
  if (text == nullptr)
    return Error(Code::kInvalid, "the MPI library knows nothing named \"%s\"",
                 std::string(filter).c_str());
  return std::string(text);
}

}  // namespace lamina::launcher
