// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/object/attributes.h"

#include <algorithm>
#include <memory>

namespace lamina::core {
namespace {

// A freed keyval lives on while attributes use it (section 7.7.2).
struct Keyval {
  Holder holder;
  void (*copy)();
  void (*remove)();
  void* extra_state;
  bool freed = false;
  std::uint32_t uses = 0;
};

// The user's number of a keyval is its index plus kFirstKeyval, which is well away from the
// predefined keyvals.
constexpr int kFirstKeyval = 1024;
constinit std::vector<std::unique_ptr<Keyval>>* keyvals = nullptr;

Keyval* Find(Holder holder, int keyval) {
  const int index = keyval - kFirstKeyval;
  if (keyvals == nullptr || index < 0 || index >= static_cast<int>(keyvals->size())) return nullptr;
  Keyval* found = (*keyvals)[index].get();
  return found != nullptr && found->holder == holder ? found : nullptr;
}

void DropIfUnused(int keyval) {
  auto& slot = (*keyvals)[keyval - kFirstKeyval];
  if (slot->freed && slot->uses == 0) slot.reset();
}

template <class Function>
Function* As(void (*function)()) {
  return reinterpret_cast<Function*>(function);
}

int CallDelete(Holder holder, void* object, int keyval, void* value) {
  const Keyval& found = *Find(holder, keyval);
  if (found.remove == nullptr) return MPI_SUCCESS;
  switch (holder) {
    case Holder::kComm:
      return As<MPI_Comm_delete_attr_function>(found.remove)(static_cast<MPI_Comm>(object), keyval,
                                                             value, found.extra_state);
    case Holder::kDatatype:
      return As<MPI_Type_delete_attr_function>(found.remove)(static_cast<MPI_Datatype>(object),
                                                             keyval, value, found.extra_state);
    case Holder::kWin:
      return As<MPI_Win_delete_attr_function>(found.remove)(static_cast<MPI_Win>(object), keyval,
                                                            value, found.extra_state);
  }
  return MPI_ERR_INTERN;
}

int CallCopy(Holder holder, void* old_object, int keyval, void* value, void** copied, int* flag) {
  const Keyval& found = *Find(holder, keyval);
  if (found.copy == nullptr) return MPI_SUCCESS;            // MPI_*_NULL_COPY_FN
  if (reinterpret_cast<std::uintptr_t>(found.copy) == 1) {  // MPI_*_DUP_FN
    *copied = value;
    *flag = 1;
    return MPI_SUCCESS;
  }
  switch (holder) {
    case Holder::kComm:
      return As<MPI_Comm_copy_attr_function>(found.copy)(static_cast<MPI_Comm>(old_object), keyval,
                                                         found.extra_state, value, copied, flag);
    case Holder::kDatatype:
      return As<MPI_Type_copy_attr_function>(found.copy)(
          static_cast<MPI_Datatype>(old_object), keyval, found.extra_state, value, copied, flag);
    case Holder::kWin:
      return As<MPI_Win_copy_attr_function>(found.copy)(static_cast<MPI_Win>(old_object), keyval,
                                                        found.extra_state, value, copied, flag);
  }
  return MPI_ERR_INTERN;
}

auto Position(Attributes* attributes, int keyval) {
  return std::find_if(attributes->values.begin(), attributes->values.end(),
                      [keyval](const auto& entry) { return entry.first == keyval; });
}

}  // namespace

int CreateKeyval(Holder holder, void (*copy)(), void (*remove)(), void* extra_state, int* keyval) {
  if (keyvals == nullptr) keyvals = new std::vector<std::unique_ptr<Keyval>>;
  auto slot = std::find(keyvals->begin(), keyvals->end(), nullptr);
  if (slot == keyvals->end()) slot = keyvals->emplace(keyvals->end());
  *slot = std::make_unique<Keyval>(Keyval{holder, copy, remove, extra_state});
  *keyval = kFirstKeyval + static_cast<int>(slot - keyvals->begin());
  return MPI_SUCCESS;
}

int FreeKeyval(Holder holder, int* keyval) {
  Keyval* found = Find(holder, *keyval);
  if (found == nullptr || found->freed) return MPI_ERR_KEYVAL;
  found->freed = true;
  DropIfUnused(*keyval);
  *keyval = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}

int SetAttribute(Holder holder, void* object, Attributes* attributes, int keyval, void* value) {
  Keyval* found = Find(holder, keyval);
  if (found == nullptr || found->freed) return MPI_ERR_KEYVAL;
  const auto old = Position(attributes, keyval);
  if (old == attributes->values.end()) {
    attributes->values.emplace_back(keyval, value);
    ++found->uses;
    return MPI_SUCCESS;
  }
  const int error = CallDelete(holder, object, keyval, old->second);
  if (error != MPI_SUCCESS) return error;
  // The user's function may have changed the list. What is set anew becomes the last one set.
  const auto entry = Position(attributes, keyval);
  if (entry == attributes->values.end())
    return SetAttribute(holder, object, attributes, keyval, value);
  attributes->values.erase(entry);
  attributes->values.emplace_back(keyval, value);
  return MPI_SUCCESS;
}

int GetAttribute(Holder holder, const Attributes& attributes, int keyval, void** value,
                 bool* found) {
  if (Find(holder, keyval) == nullptr) return MPI_ERR_KEYVAL;
  *found = false;
  for (const auto& [key, stored] : attributes.values)
    if (key == keyval) {
      *value = stored;
      *found = true;
    }
  return MPI_SUCCESS;
}

int DeleteAttribute(Holder holder, void* object, Attributes* attributes, int keyval) {
  if (Find(holder, keyval) == nullptr) return MPI_ERR_KEYVAL;
  auto entry = Position(attributes, keyval);
  if (entry == attributes->values.end()) return MPI_SUCCESS;
  const int error = CallDelete(holder, object, keyval, entry->second);
  if (error != MPI_SUCCESS) return error;
  entry = Position(attributes, keyval);
  if (entry == attributes->values.end()) return MPI_SUCCESS;
  attributes->values.erase(entry);
  --Find(holder, keyval)->uses;
  DropIfUnused(keyval);
  return MPI_SUCCESS;
}

int CopyAttributes(Holder holder, void* old_object, const Attributes& from, Attributes* to) {
  const std::vector<std::pair<int, void*>> values =
      from.values;  // a copy function may change `from`
  for (const auto& [keyval, value] : values) {
    void* copied = nullptr;
    int flag = 0;
    const int error = CallCopy(holder, old_object, keyval, value, &copied, &flag);
    if (error != MPI_SUCCESS) {
      static_cast<void>(DeleteAllAttributes(holder, old_object, to));
      return error;
    }
    if (flag == 0) continue;
    to->values.emplace_back(keyval, copied);
    ++Find(holder, keyval)->uses;
  }
  return MPI_SUCCESS;
}

namespace {

int DeleteAll(Holder holder, void* object, Attributes* attributes, bool stop_at_error) {
  int first_error = MPI_SUCCESS;
  while (!attributes->values.empty()) {
    const auto [keyval, value] = attributes->values.back();
    const int error = CallDelete(holder, object, keyval, value);
    if (first_error == MPI_SUCCESS) first_error = error;
    if (error != MPI_SUCCESS && stop_at_error) break;
    const auto entry = Position(attributes, keyval);
    if (entry == attributes->values.end()) continue;
    attributes->values.erase(entry);
    --Find(holder, keyval)->uses;
    DropIfUnused(keyval);
  }
  return first_error;
}

}  // namespace

int DeleteAllAttributes(Holder holder, void* object, Attributes* attributes) {
  return DeleteAll(holder, object, attributes, false);
}

int TryDeleteAllAttributes(Holder holder, void* object, Attributes* attributes) {
  return DeleteAll(holder, object, attributes, true);
}

}  // namespace lamina::core
