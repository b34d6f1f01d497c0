// SPDX-License-Identifier: BSD-3-Clause
// These turn handles into integers and back (MPI-5.0, section 21.5). A predefined handle is its own
// number; one of ours gets a number when it is first asked for and keeps it.
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/api/api.h"

using lamina::core::IsPredefined;
using lamina::core::kPredefinedEnd;

namespace {

// This grows with the number of different addresses ever converted. It is usable before MPI_Init,
// so it has a lock of its own.
class HandleNumbers {
 public:
  int Of(void* handle) {
    const std::lock_guard guard(lock_);
    const auto [entry, is_new] =
        numbers_.try_emplace(handle, static_cast<int>(kPredefinedEnd + handles_.size()));
    if (is_new) handles_.push_back(handle);
    return entry->second;
  }
  // Returns null for a number that was never given out.
  void* Handle(int number) {
    const std::lock_guard guard(lock_);
    const std::size_t index = static_cast<std::size_t>(number) - kPredefinedEnd;
    return index < handles_.size() ? handles_[index] : nullptr;
  }

 private:
  std::mutex lock_;
  std::unordered_map<void*, int> numbers_;
  std::vector<void*> handles_;
};

HandleNumbers& Numbers() {
  static HandleNumbers* const numbers = new HandleNumbers;
  return *numbers;
}

template <class Handle>
int ToInt(Handle handle) {
  if (IsPredefined(handle)) return static_cast<int>(reinterpret_cast<std::uintptr_t>(handle));
  return Numbers().Of(handle);
}

template <class Handle>
Handle FromInt(int number) {
  if (number >= 0 && number < static_cast<int>(kPredefinedEnd))
    return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(number));
  return static_cast<Handle>(Numbers().Handle(number));
}

}  // namespace

int PMPI_Comm_toint(MPI_Comm comm) { return ToInt(comm); }
PROFILED(MPI_Comm_toint);
MPI_Comm PMPI_Comm_fromint(int comm) { return FromInt<MPI_Comm>(comm); }
PROFILED(MPI_Comm_fromint);

int PMPI_Errhandler_toint(MPI_Errhandler errhandler) { return ToInt(errhandler); }
PROFILED(MPI_Errhandler_toint);
MPI_Errhandler PMPI_Errhandler_fromint(int errhandler) {
  return FromInt<MPI_Errhandler>(errhandler);
}
PROFILED(MPI_Errhandler_fromint);

int PMPI_File_toint(MPI_File file) { return ToInt(file); }
PROFILED(MPI_File_toint);
MPI_File PMPI_File_fromint(int file) { return FromInt<MPI_File>(file); }
PROFILED(MPI_File_fromint);

int PMPI_Group_toint(MPI_Group group) { return ToInt(group); }
PROFILED(MPI_Group_toint);
MPI_Group PMPI_Group_fromint(int group) { return FromInt<MPI_Group>(group); }
PROFILED(MPI_Group_fromint);

int PMPI_Info_toint(MPI_Info info) { return ToInt(info); }
PROFILED(MPI_Info_toint);
MPI_Info PMPI_Info_fromint(int info) { return FromInt<MPI_Info>(info); }
PROFILED(MPI_Info_fromint);

int PMPI_Message_toint(MPI_Message message) { return ToInt(message); }
PROFILED(MPI_Message_toint);
MPI_Message PMPI_Message_fromint(int message) { return FromInt<MPI_Message>(message); }
PROFILED(MPI_Message_fromint);

int PMPI_Op_toint(MPI_Op op) { return ToInt(op); }
PROFILED(MPI_Op_toint);
MPI_Op PMPI_Op_fromint(int op) { return FromInt<MPI_Op>(op); }
PROFILED(MPI_Op_fromint);

int PMPI_Request_toint(MPI_Request request) { return ToInt(request); }
PROFILED(MPI_Request_toint);
MPI_Request PMPI_Request_fromint(int request) { return FromInt<MPI_Request>(request); }
PROFILED(MPI_Request_fromint);

int PMPI_Session_toint(MPI_Session session) { return ToInt(session); }
PROFILED(MPI_Session_toint);
MPI_Session PMPI_Session_fromint(int session) { return FromInt<MPI_Session>(session); }
PROFILED(MPI_Session_fromint);

int PMPI_Type_toint(MPI_Datatype datatype) { return ToInt(datatype); }
PROFILED(MPI_Type_toint);
MPI_Datatype PMPI_Type_fromint(int datatype) { return FromInt<MPI_Datatype>(datatype); }
PROFILED(MPI_Type_fromint);

int PMPI_Win_toint(MPI_Win win) { return ToInt(win); }
PROFILED(MPI_Win_toint);
MPI_Win PMPI_Win_fromint(int win) { return FromInt<MPI_Win>(win); }
PROFILED(MPI_Win_fromint);
