// SPDX-License-Identifier: BSD-3-Clause
// This is the tool interface: its life, enumerations and categories (MPI-5.0, sections 15.3.4,
// 15.3.5 and 15.3.9).
#include "runtime/api/tool.h"

#include <algorithm>
#include <cstring>

#include "runtime/assembly/parameters.h"
#include "runtime/trace/event.h"

namespace lamina::api {

constinit Tool* tool = nullptr;
constinit std::mutex tool_lock;

Tool::Tool(const std::vector<component::ListedFramework>& tables)
    : controls(trace::ControlVariables(tables)),
      categories(trace::Categories(tables, controls)),
      performances(ReadGauge) {}

const trace::Enumeration* Tool::FindEnumeration(MPI_T_enum handle) const {
  if (handle == MPI_T_ENUM_NULL) return nullptr;
  for (const trace::ControlVariable& variable : controls)
    if (HandleOf(variable.enumeration.get()) == handle) return variable.enumeration.get();
  for (const trace::PerformanceVariable& variable : trace::PerformanceVariables())
    if (HandleOf(variable.enumeration()) == handle) return variable.enumeration();
  for (std::size_t type = 0; type < trace::Index(trace::EventType::kCount); ++type) {
    const auto* names = trace::Describe(static_cast<trace::EventType>(type)).elements_names;
    if (HandleOf(names) == handle) return names;
  }
  return nullptr;
}

void GiveText(std::string_view text, char* buffer, int* length) {
  if (length == nullptr) return;
  if (buffer != nullptr && *length > 0) {
    const std::size_t bytes = std::min(text.size(), static_cast<std::size_t>(*length - 1));
    std::memcpy(buffer, text.data(), bytes);
    buffer[bytes] = '\0';
  }
  *length = static_cast<int>(text.size()) + 1;
}

namespace {

// Gives at most `length` of the indices.
int GiveIndices(const std::vector<int>& indices, int length, int* into) {
  if (length < 0 || (into == nullptr && length > 0)) return MPI_T_ERR_INVALID;
  std::copy_n(indices.begin(), std::min(indices.size(), static_cast<std::size_t>(length)), into);
  return MPI_SUCCESS;
}

int GiveMembers(int category_index, std::vector<int> trace::Category::*members, int length,
                int* into) {
  TOOL_CALL();
  const trace::Category* category = At(tool->categories, category_index);
  if (category == nullptr) return MPI_T_ERR_INVALID_INDEX;
  return GiveIndices(category->*members, length, into);
}

int Size(const std::vector<int>& indices) { return static_cast<int>(indices.size()); }

}  // namespace
}  // namespace lamina::api

namespace api = lamina::api;
namespace trace = lamina::trace;
using api::tool;
using trace::Category;

int PMPI_T_init_thread(int required, int* provided) {
  const api::ToolCall call;
  if (provided == nullptr) return MPI_T_ERR_INVALID;
  if (tool == nullptr)
    tool = new api::Tool(lamina::assembly::ListParameters(
        lamina::assembly::CurrentSettings(lamina::Environment::OfThisProcess())));
  ++tool->initialized;
  api::Give(provided, std::clamp(required, static_cast<int>(MPI_THREAD_SINGLE),
                                 static_cast<int>(MPI_THREAD_MULTIPLE)));
  return MPI_SUCCESS;
}
PROFILED(MPI_T_init_thread);

int PMPI_T_finalize(void) {
  TOOL_CALL();
  if (--tool->initialized > 0) return MPI_SUCCESS;
  tool->control_handles.clear();
  tool->performances.FreeAll();
  trace::TheEvents().FreeAll();
  return MPI_SUCCESS;
}
PROFILED(MPI_T_finalize);

int PMPI_T_enum_get_info(MPI_T_enum enumtype, int* num, char* name, int* name_len) {
  TOOL_CALL();
  const trace::Enumeration* enumeration = tool->FindEnumeration(enumtype);
  if (enumeration == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  api::Give(num, static_cast<int>(enumeration->items.size()));
  api::GiveText(enumeration->name, name, name_len);
  return MPI_SUCCESS;
}
PROFILED(MPI_T_enum_get_info);

int PMPI_T_enum_get_item(MPI_T_enum enumtype, int index, int* value, char* name, int* name_len) {
  TOOL_CALL();
  const trace::Enumeration* enumeration = tool->FindEnumeration(enumtype);
  if (enumeration == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  const auto* item = api::At(enumeration->items, index);
  if (item == nullptr) return MPI_T_ERR_INVALID_ITEM;
  api::Give(value, item->first);
  api::GiveText(item->second, name, name_len);
  return MPI_SUCCESS;
}
PROFILED(MPI_T_enum_get_item);

int PMPI_T_category_get_num(int* num_cat) {
  TOOL_CALL();
  if (num_cat == nullptr) return MPI_T_ERR_INVALID;
  *num_cat = static_cast<int>(tool->categories.size());
  return MPI_SUCCESS;
}
PROFILED(MPI_T_category_get_num);

int PMPI_T_category_get_info(int cat_index, char* name, int* name_len, char* desc, int* desc_len,
                             int* num_cvars, int* num_pvars, int* num_categories) {
  TOOL_CALL();
  const Category* category = api::At(tool->categories, cat_index);
  if (category == nullptr) return MPI_T_ERR_INVALID_INDEX;
  api::GiveText(category->name, name, name_len);
  api::GiveText(category->description, desc, desc_len);
  api::Give(num_cvars, api::Size(category->controls));
  api::Give(num_pvars, api::Size(category->performances));
  api::Give(num_categories, api::Size(category->categories));
  return MPI_SUCCESS;
}
PROFILED(MPI_T_category_get_info);

int PMPI_T_category_get_num_events(int cat_index, int* num_events) {
  TOOL_CALL();
  const Category* category = api::At(tool->categories, cat_index);
  if (category == nullptr) return MPI_T_ERR_INVALID_INDEX;
  if (num_events == nullptr) return MPI_T_ERR_INVALID;
  *num_events = api::Size(category->events);
  return MPI_SUCCESS;
}
PROFILED(MPI_T_category_get_num_events);

int PMPI_T_category_get_index(const char* name, int* cat_index) {
  TOOL_CALL();
  if (name == nullptr || cat_index == nullptr) return MPI_T_ERR_INVALID;
  for (std::size_t i = 0; i < tool->categories.size(); ++i) {
    if (tool->categories[i].name != name) continue;
    *cat_index = static_cast<int>(i);
    return MPI_SUCCESS;
  }
  return MPI_T_ERR_INVALID_NAME;
}
PROFILED(MPI_T_category_get_index);

int PMPI_T_category_get_cvars(int cat_index, int len, int indices[]) {
  return api::GiveMembers(cat_index, &Category::controls, len, indices);
}
PROFILED(MPI_T_category_get_cvars);

int PMPI_T_category_get_pvars(int cat_index, int len, int indices[]) {
  return api::GiveMembers(cat_index, &Category::performances, len, indices);
}
PROFILED(MPI_T_category_get_pvars);

int PMPI_T_category_get_events(int cat_index, int len, int indices[]) {
  return api::GiveMembers(cat_index, &Category::events, len, indices);
}
PROFILED(MPI_T_category_get_events);

int PMPI_T_category_get_categories(int cat_index, int len, int indices[]) {
  return api::GiveMembers(cat_index, &Category::categories, len, indices);
}
PROFILED(MPI_T_category_get_categories);

// All variables are there from the beginning.
int PMPI_T_category_changed(int* update_number) {
  TOOL_CALL();
  if (update_number == nullptr) return MPI_T_ERR_INVALID;
  *update_number = 0;
  return MPI_SUCCESS;
}
PROFILED(MPI_T_category_changed);
