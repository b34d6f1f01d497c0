// SPDX-License-Identifier: BSD-3-Clause
// These are control variables (MPI-5.0, section 15.3.6): the parameter tables, which can be read at
// any time, and be written before MPI is initialised, because that is when they are obeyed.
#include <algorithm>

#include "runtime/api/tool.h"
#include "runtime/assembly/parameters.h"

namespace api = lamina::api;
namespace assembly = lamina::assembly;
namespace core = lamina::core;
namespace trace = lamina::trace;
using api::ControlHandle;
using api::tool;
using trace::ControlVariable;

namespace {

ControlHandle* Find(MPI_T_cvar_handle handle) {
  for (const auto& one : tool->control_handles)
    if (reinterpret_cast<MPI_T_cvar_handle>(one.get()) == handle) return one.get();
  return nullptr;
}

// Returns what was obeyed while MPI is up, else what would be obeyed.
lamina::param::Settings Settings() {
  if (core::process != nullptr) return core::process->settings;
  return assembly::CurrentSettings(lamina::Environment::OfThisProcess());
}

}  // namespace

int PMPI_T_cvar_get_num(int* num_cvar) {
  TOOL_CALL();
  if (num_cvar == nullptr) return MPI_T_ERR_INVALID;
  *num_cvar = static_cast<int>(tool->controls.size());
  return MPI_SUCCESS;
}
PROFILED(MPI_T_cvar_get_num);

int PMPI_T_cvar_get_info(int cvar_index, char* name, int* name_len, int* verbosity,
                         MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len,
                         int* bind, int* scope) {
  TOOL_CALL();
  const ControlVariable* variable = api::At(tool->controls, cvar_index);
  if (variable == nullptr) return MPI_T_ERR_INVALID_INDEX;
  api::GiveText(variable->name, name, name_len);
  api::Give(verbosity, variable->verbosity);
  api::Give(datatype, variable->datatype);
  api::Give(enumtype, api::HandleOf(variable->enumeration.get()));
  api::GiveText(variable->description, desc, desc_len);
  api::Give(bind, static_cast<int>(MPI_T_BIND_NO_OBJECT));
  api::Give(scope, variable->scope);
  return MPI_SUCCESS;
}
PROFILED(MPI_T_cvar_get_info);

int PMPI_T_cvar_get_index(const char* name, int* cvar_index) {
  TOOL_CALL();
  if (name == nullptr || cvar_index == nullptr) return MPI_T_ERR_INVALID;
  for (std::size_t i = 0; i < tool->controls.size(); ++i) {
    if (tool->controls[i].name != name) continue;
    *cvar_index = static_cast<int>(i);
    return MPI_SUCCESS;
  }
  return MPI_T_ERR_INVALID_NAME;
}
PROFILED(MPI_T_cvar_get_index);

int PMPI_T_cvar_handle_alloc(int cvar_index, void*, MPI_T_cvar_handle* handle, int* count) {
  TOOL_CALL();
  const ControlVariable* variable = api::At(tool->controls, cvar_index);
  if (variable == nullptr) return MPI_T_ERR_INVALID_INDEX;
  if (handle == nullptr || count == nullptr) return MPI_T_ERR_INVALID;
  tool->control_handles.push_back(std::make_unique<ControlHandle>(ControlHandle{variable}));
  *handle = reinterpret_cast<MPI_T_cvar_handle>(tool->control_handles.back().get());
  *count = variable->count;
  return MPI_SUCCESS;
}
PROFILED(MPI_T_cvar_handle_alloc);

int PMPI_T_cvar_handle_free(MPI_T_cvar_handle* handle) {
  TOOL_CALL();
  if (handle == nullptr) return MPI_T_ERR_INVALID;
  const ControlHandle* control = Find(*handle);
  if (control == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  std::erase_if(tool->control_handles, [&](const auto& one) { return one.get() == control; });
  *handle = MPI_T_CVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}
PROFILED(MPI_T_cvar_handle_free);

int PMPI_T_cvar_read(MPI_T_cvar_handle handle, void* buf) {
  TOOL_CALL();
  const ControlHandle* control = Find(handle);
  if (control == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (buf == nullptr) return MPI_T_ERR_INVALID;
  const ControlVariable& variable = *control->variable;
  trace::ToBuffer(variable, trace::ValueOf(variable, assembly::ListParameters(Settings())), buf);
  return MPI_SUCCESS;
}
PROFILED(MPI_T_cvar_read);

int PMPI_T_cvar_write(MPI_T_cvar_handle handle, const void* buf) {
  TOOL_CALL();
  const ControlHandle* control = Find(handle);
  if (control == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (buf == nullptr) return MPI_T_ERR_INVALID;
  const ControlVariable& variable = *control->variable;
  if (variable.scope == MPI_T_SCOPE_CONSTANT) return MPI_T_ERR_CVAR_SET_NEVER;
  if (core::process != nullptr) return MPI_T_ERR_CVAR_SET_NOT_NOW;
  const std::optional<std::string> value = trace::FromBuffer(variable, buf);
  if (!value || !assembly::SetByTool(variable.name, *value).ok()) return MPI_T_ERR_INVALID;
  return MPI_SUCCESS;
}
PROFILED(MPI_T_cvar_write);
