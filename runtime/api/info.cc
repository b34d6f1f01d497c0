// SPDX-License-Identifier: BSD-3-Clause
// These are info objects (MPI-5.0, chapter 10). All functions here may be called before MPI_Init.
#include <algorithm>
#include <cstring>

#include "runtime/api/arguments.h"

using lamina::Call;
using lamina::api::CopyText;
using lamina::api::Entry;
using lamina::core::FindInfo;
using lamina::core::Info;

namespace {

int CheckKey(const Entry& entry, const char* key) {
  REQUIRE_POINTER(nullptr, key);
  const std::size_t length = std::strlen(key);
  REQUIRE(length > 0 && length < MPI_MAX_INFO_KEY, nullptr, MPI_ERR_INFO_KEY,
          "key has %zu characters, must have 1..%d", length, MPI_MAX_INFO_KEY - 1);
  return MPI_SUCCESS;
}

}  // namespace

int PMPI_Info_create(MPI_Info* info) {
  Entry entry(Call::MPI_Info_create);
  REQUIRE_POINTER(nullptr, info);
  *info = lamina::core::ToHandle<MPI_Info>(new Info);
  return MPI_SUCCESS;
}
PROFILED(MPI_Info_create);

int PMPI_Info_create_env(int, char*[], MPI_Info* info) {
  Entry entry(Call::MPI_Info_create_env);
  REQUIRE_POINTER(nullptr, info);
  Info* copy = new Info;
  copy->entries = FindInfo(MPI_INFO_ENV)->entries;
  *info = lamina::core::ToHandle<MPI_Info>(copy);
  return MPI_SUCCESS;
}
PROFILED(MPI_Info_create_env);

int PMPI_Info_dup(MPI_Info info, MPI_Info* newinfo) {
  Entry entry(Call::MPI_Info_dup);
  const Info* found = FindInfo(info);
  if (found == nullptr) return BadInfo(entry, info);
  REQUIRE_POINTER(nullptr, newinfo);
  Info* copy = new Info;
  copy->entries = found->entries;
  *newinfo = lamina::core::ToHandle<MPI_Info>(copy);
  return MPI_SUCCESS;
}
PROFILED(MPI_Info_dup);

int PMPI_Info_free(MPI_Info* info) {
  Entry entry(Call::MPI_Info_free);
  REQUIRE_POINTER(nullptr, info);
  Info* found = FindInfo(*info);
  if (found == nullptr) return BadInfo(entry, *info);
  REQUIRE(*info != MPI_INFO_ENV, nullptr, MPI_ERR_INFO,
          "info is MPI_INFO_ENV, which cannot be freed");
  found->kind = lamina::core::Kind::kFreed;
  delete found;
  *info = MPI_INFO_NULL;
  return MPI_SUCCESS;
}
PROFILED(MPI_Info_free);

int PMPI_Info_set(MPI_Info info, const char* key, const char* value) {
  Entry entry(Call::MPI_Info_set);
  Info* found = FindInfo(info);
  if (found == nullptr) return BadInfo(entry, info);
  REQUIRE(info != MPI_INFO_ENV, nullptr, MPI_ERR_INFO,
          "info is MPI_INFO_ENV, which cannot be changed");
  if (const int error = CheckKey(entry, key); error != MPI_SUCCESS) return error;
  REQUIRE_POINTER(nullptr, value);
  const std::size_t length = std::strlen(value);
  REQUIRE(length < MPI_MAX_INFO_VAL, nullptr, MPI_ERR_INFO_VALUE,
          "the value of \"%s\" has %zu characters, at most %d are allowed", key, length,
          MPI_MAX_INFO_VAL - 1);
  found->Set(key, value);
  return MPI_SUCCESS;
}
PROFILED(MPI_Info_set);

int PMPI_Info_delete(MPI_Info info, const char* key) {
  Entry entry(Call::MPI_Info_delete);
  Info* found = FindInfo(info);
  if (found == nullptr) return BadInfo(entry, info);
  REQUIRE(info != MPI_INFO_ENV, nullptr, MPI_ERR_INFO,
          "info is MPI_INFO_ENV, which cannot be changed");
  if (const int error = CheckKey(entry, key); error != MPI_SUCCESS) return error;
  REQUIRE(found->Delete(key), nullptr, MPI_ERR_INFO_NOKEY, "there is no key \"%s\"", key);
  return MPI_SUCCESS;
}
PROFILED(MPI_Info_delete);

int PMPI_Info_get(MPI_Info info, const char* key, int valuelen, char* value, int* flag) {
  Entry entry(Call::MPI_Info_get);
  const Info* found = FindInfo(info);
  if (found == nullptr) return BadInfo(entry, info);
  if (const int error = CheckKey(entry, key); error != MPI_SUCCESS) return error;
  REQUIRE(valuelen >= 0, nullptr, MPI_ERR_ARG, "valuelen is %d, must not be negative", valuelen);
  REQUIRE_POINTER(nullptr, flag);
  REQUIRE_POINTER(nullptr, value);
  const std::string* text = found->Find(key);
  *flag = text != nullptr;
  int length;
  if (text != nullptr) CopyText(text->c_str(), value, valuelen + 1, &length);
  return MPI_SUCCESS;
}
PROFILED(MPI_Info_get);

int PMPI_Info_get_valuelen(MPI_Info info, const char* key, int* valuelen, int* flag) {
  Entry entry(Call::MPI_Info_get_valuelen);
  const Info* found = FindInfo(info);
  if (found == nullptr) return BadInfo(entry, info);
  if (const int error = CheckKey(entry, key); error != MPI_SUCCESS) return error;
  REQUIRE_POINTER(nullptr, valuelen);
  REQUIRE_POINTER(nullptr, flag);
  const std::string* text = found->Find(key);
  *flag = text != nullptr;
  if (text != nullptr) *valuelen = static_cast<int>(text->size());
  return MPI_SUCCESS;
}
PROFILED(MPI_Info_get_valuelen);

// `buflen` counts the end mark on the way in and out.
int PMPI_Info_get_string(MPI_Info info, const char* key, int* buflen, char* value, int* flag) {
  Entry entry(Call::MPI_Info_get_string);
  const Info* found = FindInfo(info);
  if (found == nullptr) return BadInfo(entry, info);
  if (const int error = CheckKey(entry, key); error != MPI_SUCCESS) return error;
  REQUIRE_POINTER(nullptr, buflen);
  REQUIRE(*buflen >= 0, nullptr, MPI_ERR_ARG, "*buflen is %d, must not be negative", *buflen);
  REQUIRE(*buflen == 0 || value != nullptr, nullptr, MPI_ERR_ARG, "value is a null pointer");
  REQUIRE_POINTER(nullptr, flag);
  const std::string* text = found->Find(key);
  *flag = text != nullptr;
  if (text == nullptr) return MPI_SUCCESS;
  int length;
  if (*buflen > 0) CopyText(text->c_str(), value, *buflen, &length);
  *buflen = static_cast<int>(text->size()) + 1;
  return MPI_SUCCESS;
}
PROFILED(MPI_Info_get_string);

int PMPI_Info_get_nkeys(MPI_Info info, int* nkeys) {
  Entry entry(Call::MPI_Info_get_nkeys);
  const Info* found = FindInfo(info);
  if (found == nullptr) return BadInfo(entry, info);
  REQUIRE_POINTER(nullptr, nkeys);
  *nkeys = static_cast<int>(found->entries.size());
  return MPI_SUCCESS;
}
PROFILED(MPI_Info_get_nkeys);

int PMPI_Info_get_nthkey(MPI_Info info, int n, char* key) {
  Entry entry(Call::MPI_Info_get_nthkey);
  const Info* found = FindInfo(info);
  if (found == nullptr) return BadInfo(entry, info);
  REQUIRE_POINTER(nullptr, key);
  const int keys = static_cast<int>(found->entries.size());
  REQUIRE(n >= 0 && n < keys, nullptr, MPI_ERR_ARG, "n is %d, must be 0..%d", n, keys - 1);
  int length;
  CopyText(found->entries[n].first.c_str(), key, MPI_MAX_INFO_KEY, &length);
  return MPI_SUCCESS;
}
PROFILED(MPI_Info_get_nthkey);
