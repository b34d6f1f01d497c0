// SPDX-License-Identifier: BSD-3-Clause
// These are events and their sources (MPI-5.0, section 15.3.8).
//
// They do without the tools' lock, because they call back and may be called from callbacks;
// runtime/trace/event.h has a lock of its own.
#include <algorithm>
#include <cstring>
#include <limits>

#include "runtime/api/tool.h"
#include "runtime/core/info.h"
#include "runtime/trace/event.h"

namespace api = lamina::api;
namespace core = lamina::core;
namespace trace = lamina::trace;
using trace::EventInstance;
using trace::EventRegistration;
using trace::EventType;
using trace::TheEvents;

// This stands at the top of every function here.
#define TOOL_UP()                                      \
  do {                                                 \
    if (!ToolIsUp()) return MPI_T_ERR_NOT_INITIALIZED; \
  } while (false)

namespace {

bool ToolIsUp() {
  const std::lock_guard guard(api::tool_lock);
  return api::tool != nullptr && api::tool->up();
}

constexpr int kTypes = static_cast<int>(EventType::kCount);
constexpr int kSource = 0;  // there is one, the clock of this process

const EventRegistration* Handle(MPI_T_event_registration handle) {
  return reinterpret_cast<const EventRegistration*>(handle);
}
const EventInstance* Handle(MPI_T_event_instance handle) {
  return reinterpret_cast<const EventInstance*>(handle);
}

MPI_Info MakeInfo(const trace::Hints& hints) {
  auto* info = new core::Info;
  info->entries = hints;
  return core::ToHandle<MPI_Info>(info);
}

// MPI_INFO_NULL has no hints. Returns false if `handle` is no info.
bool HintsOf(MPI_Info handle, trace::Hints* hints) {
  if (handle == MPI_INFO_NULL) return true;
  const core::Info* info = core::FindInfo(handle);
  if (info == nullptr) return false;
  *hints = info->entries;
  return true;
}

}  // namespace

int PMPI_T_source_get_num(int* num_sources) {
  TOOL_UP();
  if (num_sources == nullptr) return MPI_T_ERR_INVALID;
  *num_sources = 1;
  return MPI_SUCCESS;
}
PROFILED(MPI_T_source_get_num);

int PMPI_T_source_get_info(int source_index, char* name, int* name_len, char* desc, int* desc_len,
                           MPI_T_source_order* ordering, MPI_Count* ticks_per_second,
                           MPI_Count* max_ticks, MPI_Info* info) {
  TOOL_UP();
  if (source_index != kSource) return MPI_T_ERR_INVALID_INDEX;
  api::GiveText("process", name, name_len);
  api::GiveText("This process, with the monotonic clock of its node.", desc, desc_len);
  api::Give(ordering, MPI_T_SOURCE_ORDERED);
  api::Give(ticks_per_second, static_cast<MPI_Count>(trace::kTicksPerSecond));
  api::Give(max_ticks, std::numeric_limits<MPI_Count>::max());
  if (info != nullptr) *info = MakeInfo({});
  return MPI_SUCCESS;
}
PROFILED(MPI_T_source_get_info);

int PMPI_T_source_get_timestamp(int source_index, MPI_Count* timestamp) {
  TOOL_UP();
  if (source_index != kSource) return MPI_T_ERR_INVALID_INDEX;
  if (timestamp == nullptr) return MPI_T_ERR_INVALID;
  *timestamp = trace::NowTicks();
  return MPI_SUCCESS;
}
PROFILED(MPI_T_source_get_timestamp);

int PMPI_T_event_get_num(int* num_events) {
  TOOL_UP();
  if (num_events == nullptr) return MPI_T_ERR_INVALID;
  *num_events = kTypes;
  return MPI_SUCCESS;
}
PROFILED(MPI_T_event_get_num);

int PMPI_T_event_get_info(int event_index, char* name, int* name_len, int* verbosity,
                          MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[],
                          int* num_elements, MPI_T_enum* enumtype, MPI_Info* info, char* desc,
                          int* desc_len, int* bind) {
  TOOL_UP();
  if (event_index < 0 || event_index >= kTypes) return MPI_T_ERR_INVALID_INDEX;
  const trace::EventDescription event = trace::Describe(static_cast<EventType>(event_index));
  api::GiveText(event.name, name, name_len);
  api::Give(verbosity, static_cast<int>(MPI_T_VERBOSITY_USER_DETAIL));
  if (num_elements != nullptr) {
    const auto elements = trace::EventElements();
    const std::size_t room = static_cast<std::size_t>(std::max(*num_elements, 0));
    for (std::size_t i = 0; i < std::min(room, elements.size()); ++i) {
      if (array_of_datatypes != nullptr) array_of_datatypes[i] = elements[i].datatype;
      if (array_of_displacements != nullptr) array_of_displacements[i] = elements[i].displacement;
    }
    *num_elements = static_cast<int>(elements.size());
  }
  api::Give(enumtype, api::HandleOf(event.elements_names));
  if (info != nullptr) *info = MakeInfo({});
  api::GiveText(event.description, desc, desc_len);
  api::Give(bind, static_cast<int>(MPI_T_BIND_NO_OBJECT));
  return MPI_SUCCESS;
}
PROFILED(MPI_T_event_get_info);

int PMPI_T_event_get_index(const char* name, int* event_index) {
  TOOL_UP();
  if (name == nullptr || event_index == nullptr) return MPI_T_ERR_INVALID;
  for (int i = 0; i < kTypes; ++i) {
    if (std::strcmp(trace::Describe(static_cast<EventType>(i)).name, name) != 0) continue;
    *event_index = i;
    return MPI_SUCCESS;
  }
  return MPI_T_ERR_INVALID_NAME;
}
PROFILED(MPI_T_event_get_index);

int PMPI_T_event_handle_alloc(int event_index, void*, MPI_Info info,
                              MPI_T_event_registration* event_registration) {
  TOOL_UP();
  if (event_index < 0 || event_index >= kTypes) return MPI_T_ERR_INVALID_INDEX;
  trace::Hints hints;
  if (event_registration == nullptr || !HintsOf(info, &hints)) return MPI_T_ERR_INVALID;
  *event_registration = reinterpret_cast<MPI_T_event_registration>(
      TheEvents().MakeRegistration(static_cast<EventType>(event_index), std::move(hints)));
  return MPI_SUCCESS;
}
PROFILED(MPI_T_event_handle_alloc);

int PMPI_T_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info) {
  TOOL_UP();
  trace::Hints hints;
  if (!HintsOf(info, &hints)) return MPI_T_ERR_INVALID;
  const bool found = TheEvents().With(Handle(event_registration), [&](EventRegistration& one) {
    trace::Update(&one.hints, hints);
  });
  return found ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}
PROFILED(MPI_T_event_handle_set_info);

int PMPI_T_event_handle_get_info(MPI_T_event_registration event_registration, MPI_Info* info_used) {
  TOOL_UP();
  if (info_used == nullptr) return MPI_T_ERR_INVALID;
  const bool found = TheEvents().With(Handle(event_registration), [&](EventRegistration& one) {
    *info_used = MakeInfo(one.hints);
  });
  return found ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}
PROFILED(MPI_T_event_handle_get_info);

int PMPI_T_event_register_callback(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info info, void* user_data,
                                   MPI_T_event_cb_function event_cb_function) {
  TOOL_UP();
  const int safety = trace::SafetyIndex(cb_safety);
  trace::Hints hints;
  if (safety < 0 || !HintsOf(info, &hints)) return MPI_T_ERR_INVALID;
  const bool found = TheEvents().With(Handle(event_registration), [&](EventRegistration& one) {
    one.callbacks[static_cast<std::size_t>(safety)] = {event_cb_function, user_data, hints};
  });
  return found ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}
PROFILED(MPI_T_event_register_callback);

namespace {

// Looks at the callback of one safety level; there must be one.
template <class Look>
int WithCallback(MPI_T_event_registration handle, MPI_T_cb_safety cb_safety, const Look& look) {
  const int safety = trace::SafetyIndex(cb_safety);
  if (safety < 0) return MPI_T_ERR_INVALID;
  int error = MPI_SUCCESS;
  const bool found = TheEvents().With(Handle(handle), [&](EventRegistration& one) {
    trace::EventCallback& callback = one.callbacks[static_cast<std::size_t>(safety)];
    if (callback.function == nullptr)
      error = MPI_T_ERR_INVALID;
    else
      look(callback);
  });
  return found ? error : MPI_T_ERR_INVALID_HANDLE;
}

}  // namespace

int PMPI_T_event_callback_set_info(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info info) {
  TOOL_UP();
  trace::Hints hints;
  if (!HintsOf(info, &hints)) return MPI_T_ERR_INVALID;
  return WithCallback(event_registration, cb_safety, [&](trace::EventCallback& callback) {
    trace::Update(&callback.hints, hints);
  });
}
PROFILED(MPI_T_event_callback_set_info);

int PMPI_T_event_callback_get_info(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info* info_used) {
  TOOL_UP();
  if (info_used == nullptr) return MPI_T_ERR_INVALID;
  return WithCallback(event_registration, cb_safety, [&](trace::EventCallback& callback) {
    *info_used = MakeInfo(callback.hints);
  });
}
PROFILED(MPI_T_event_callback_get_info);

int PMPI_T_event_set_dropped_handler(MPI_T_event_registration event_registration,
                                     MPI_T_event_dropped_cb_function dropped_cb_function) {
  TOOL_UP();
  const bool found = TheEvents().With(Handle(event_registration), [&](EventRegistration& one) {
    one.dropped_function = dropped_cb_function;
  });
  return found ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}
PROFILED(MPI_T_event_set_dropped_handler);

int PMPI_T_event_handle_free(MPI_T_event_registration event_registration, void* user_data,
                             MPI_T_event_free_cb_function free_cb_function) {
  TOOL_UP();
  return TheEvents().Free(Handle(event_registration), free_cb_function, user_data)
             ? MPI_SUCCESS
             : MPI_T_ERR_INVALID_HANDLE;
}
PROFILED(MPI_T_event_handle_free);

int PMPI_T_event_read(MPI_T_event_instance event_instance, int element_index, void* buffer) {
  TOOL_UP();
  const trace::EventElement* element = api::At(trace::EventElements(), element_index);
  if (buffer == nullptr) return MPI_T_ERR_INVALID;
  const bool found =
      TheEvents().WithInstance(Handle(event_instance), [&](const EventInstance& instance) {
        if (element == nullptr) return;
        const auto* data = reinterpret_cast<const std::byte*>(&instance.data);
        std::memcpy(buffer, data + element->displacement, element->bytes);
      });
  if (!found) return MPI_T_ERR_INVALID_HANDLE;
  return element != nullptr ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX;
}
PROFILED(MPI_T_event_read);

int PMPI_T_event_copy(MPI_T_event_instance event_instance, void* buffer) {
  TOOL_UP();
  if (buffer == nullptr) return MPI_T_ERR_INVALID;
  const bool found =
      TheEvents().WithInstance(Handle(event_instance), [&](const EventInstance& instance) {
        std::memcpy(buffer, &instance.data, sizeof instance.data);
      });
  return found ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}
PROFILED(MPI_T_event_copy);

int PMPI_T_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count* event_timestamp) {
  TOOL_UP();
  if (event_timestamp == nullptr) return MPI_T_ERR_INVALID;
  const bool found = TheEvents().WithInstance(
      Handle(event_instance),
      [&](const EventInstance& instance) { *event_timestamp = instance.time; });
  return found ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}
PROFILED(MPI_T_event_get_timestamp);

int PMPI_T_event_get_source(MPI_T_event_instance event_instance, int* source_index) {
  TOOL_UP();
  if (source_index == nullptr) return MPI_T_ERR_INVALID;
  const bool found = TheEvents().WithInstance(Handle(event_instance), [](const EventInstance&) {});
  if (!found) return MPI_T_ERR_INVALID_HANDLE;
  *source_index = kSource;
  return MPI_SUCCESS;
}
PROFILED(MPI_T_event_get_source);
