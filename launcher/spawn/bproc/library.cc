// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/spawn/bproc/library.h"

#include <dlfcn.h>

#include <array>
#include <cerrno>
#include <map>
#include <optional>

#include "runtime/base/text.h"

namespace lamina::launcher::bproc {
namespace {

constexpr int kExecute = 1;
constexpr int kNodeMax = 1 << 16;

template <class Function>
bool Find(void* handle, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(handle, name));
  return *function != nullptr;
}

// Returns why a node cannot be used; nothing if it can.
std::optional<std::string> Complaint(const Library& library, int node) {
  std::array<char, 64> status{};
  if (library.node_status(node, status.data(), static_cast<int>(status.size() - 1)) < 0)
    return Format("n%d: %s", node, library.error_text(errno));
  if (std::string_view(status.data()) != "up") return Format("n%d is %s", node, status.data());
  if (library.access(node, kExecute) != 0) return Format("n%d: no permission to execute", node);
  return std::nullopt;
}

Host HostOf(int node) {
  Host host;
  host.name = node == kMaster ? "master" : Format("n%d", node);
  host.schedulable = node != kMaster;
  return host;
}

}  // namespace

Result<Library> OpenLibrary() {
  void* handle = dlopen("libbproc.so.4", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) handle = dlopen("libbproc.so", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return Error(Code::kNotFound, "no libbproc.so.4 on this machine");
  Library library{};
  if (!Find(handle, "bproc_version", &library.version) ||
      !Find(handle, "bproc_currnode", &library.current_node) ||
      !Find(handle, "bproc_numnodes", &library.node_count) ||
      !Find(handle, "bproc_nodestatus", &library.node_status) ||
      !Find(handle, "bproc_access", &library.access) ||
      !Find(handle, "bproc_vexecmove_io", &library.move) ||
      !Find(handle, "bproc_strerror", &library.error_text))
    return Error(Code::kUnsupported, "libbproc is older than version 4: %s", dlerror());
  std::array<char, 256> version{};
  if (library.version(version.data()) != 0)
    return Error(Code::kNotFound, "libbproc is there, but no BProc: %s", library.error_text(errno));
  if (library.current_node() != kMaster)
    return Error(Code::kUnsupported, "this is node %d of a BProc machine, not its front end",
                 library.current_node());
  return library;
}

Result<int> NodeNumber(std::string_view name) {
  if (name == "master") return kMaster;
  const auto number = ParseInteger(name.starts_with('n') ? name.substr(1) : name);
  if (!number || *number < kMaster || *number > kNodeMax)
    return Error(Code::kInvalid, "\"%s\" is no node of BProc",
                 std::string(name.substr(0, 60)).c_str());
  return static_cast<int>(*number);
}

Result<Allocation> ReadAllocation(const Library& library, std::string_view nodes) {
  Allocation allocation;
  allocation.managed = true;
  allocation.hosts.push_back(HostOf(kMaster));
  if (nodes.empty()) {
    allocation.source = "the nodes of BProc";
    allocation.open_to_all = true;
    int left = library.node_count();
    for (int node = 0; left > 0 && node < kNodeMax; ++node) {  // numbers may have holes
      std::array<char, 64> status{};
      if (library.node_status(node, status.data(), static_cast<int>(status.size() - 1)) < 0)
        continue;
      --left;
      if (!Complaint(library, node)) allocation.hosts.push_back(HostOf(node));
    }
    if (allocation.hosts.size() == 1)
      return Error(Code::kUnsupported, "no node of BProc is up and permitted");
    return allocation;
  }
  allocation.source = "the nodes of NODES";
  std::map<int, std::size_t> index;
  std::string complaints;
  for (const std::string_view name : Split(nodes, ',')) {
    if (Trim(name).empty()) continue;
    Result<int> node = NodeNumber(Trim(name));
    if (!node.ok()) return std::move(node).status().Within("NODES");
    const auto [entry, is_new] = index.emplace(*node, allocation.hosts.size());
    if (!is_new) {
      ++allocation.hosts[entry->second].slots;
    } else if (const auto complaint = Complaint(library, *node)) {
      complaints += (complaints.empty() ? "" : "; ") + *complaint;
      entry->second = 0;
    } else {
      allocation.hosts.push_back(HostOf(*node));
    }
  }
  if (!complaints.empty()) return Error(Code::kUnsupported, "NODES: %s", complaints.c_str());
  return allocation;
}

}  // namespace lamina::launcher::bproc
