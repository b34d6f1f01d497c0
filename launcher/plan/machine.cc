// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/plan/machine.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <memory>

#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// Returns the first line of a small file of the kernel's, or "" if it cannot be read.
std::string FirstLine(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(path.c_str(), "re"), fclose);
  if (file == nullptr) return {};
  std::array<char, 4096> line{};
  if (fgets(line.data(), line.size(), file.get()) == nullptr) return {};
  std::string text = line.data();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// The machine may have more CPUs than a cpu_set_t has bits, so the set grows until it fits.
std::uint32_t AllowedCpus() {
  for (int bits = CPU_SETSIZE; bits <= 1 << 20; bits *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(bits),
                                                               [](cpu_set_t* s) { CPU_FREE(s); });
    if (sched_getaffinity(0, CPU_ALLOC_SIZE(bits), set.get()) == 0)
      return static_cast<std::uint32_t>(std::max(1, CPU_COUNT_S(CPU_ALLOC_SIZE(bits), set.get())));
  }
  return 1;
}

// Returns the tightest quota from this process's control group up to the root (version 2 of the
// interface), or the root's (version 1).
std::optional<std::uint32_t> QuotaCpus() {
  std::optional<std::uint32_t> cpus;
  const std::string membership = FirstLine("/proc/self/cgroup");
  if (membership.rfind("0::/", 0) == 0) {
    std::string group = membership.substr(3);
    while (true) {
      const auto here = CpusOfQuota(FirstLine("/sys/fs/cgroup" + group + "/cpu.max"));
      if (here) cpus = std::min(cpus.value_or(*here), *here);
      if (group.size() <= 1) return cpus;
      group.resize(group.find_last_of('/'));
    }
  }
  const std::string quota = FirstLine("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  if (quota.empty() || quota.front() == '-') return std::nullopt;
  return CpusOfQuota(quota + " " + FirstLine("/sys/fs/cgroup/cpu/cpu.cfs_period_us"));
}

std::vector<std::string> OwnAddresses() {
  std::vector<std::string> addresses;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return addresses;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    std::array<char, INET6_ADDRSTRLEN> text{};
    const int family = entry->ifa_addr->sa_family;
    const void* address = nullptr;
    if (family == AF_INET)
      address = &reinterpret_cast<const sockaddr_in*>(entry->ifa_addr)->sin_addr;
    else if (family == AF_INET6)
      address = &reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr)->sin6_addr;
    if (address != nullptr && inet_ntop(family, address, text.data(), text.size()) != nullptr)
      addresses.emplace_back(text.data());
  }
  freeifaddrs(list);
  return addresses;
}

std::uint64_t ProcessesMax() {
  std::uint64_t most = 0;
  if (const auto pids = ParseInteger(FirstLine("/proc/sys/kernel/pid_max")))
    most = static_cast<std::uint64_t>(*pids);
  // The limit does not bind root; for others it counts all their processes, so it is an upper
  // bound.
  rlimit limit{};
  if (geteuid() != 0 && getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    most = most == 0 ? limit.rlim_cur : std::min<std::uint64_t>(most, limit.rlim_cur);
  return most;
}

std::string_view FirstLabel(std::string_view name) { return name.substr(0, name.find('.')); }

}  // namespace

Machine ThisMachine(bool with_addresses) {
  Machine machine;
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (gethostname(name.data(), name.size()) == 0) machine.name = name.data();
  if (machine.name.empty()) machine.name = "localhost";
  const std::uint32_t allowed = AllowedCpus();
  const std::optional<std::uint32_t> quota = QuotaCpus();
  machine.cpus = quota ? std::min(allowed, *quota) : allowed;
  machine.cpus_why =
      machine.cpus < allowed
          ? Format("%u by control group, %u allowed", machine.cpus, allowed)
          : Format("%u allowed of %ld", allowed, std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  machine.numa_domains = std::max(1u, CountOfList(FirstLine("/sys/devices/system/node/online")));
  machine.processes_max = ProcessesMax();
  if (with_addresses) machine.addresses = OwnAddresses();
  return machine;
}

Status KeepToCpus(std::string_view list) {
  constexpr std::size_t kCpusMax = 1 << 20;
  if (CountOfList(list) == 0)
    return Error(Code::kInvalid, "\"%.*s\" is no list of CPUs like 0-3,8",
                 static_cast<int>(list.size()), list.data());
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(kCpusMax),
                                                             [](cpu_set_t* s) { CPU_FREE(s); });
  const std::size_t bytes = CPU_ALLOC_SIZE(kCpusMax);
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> allowed(CPU_ALLOC(kCpusMax),
                                                                 [](cpu_set_t* s) { CPU_FREE(s); });
  CPU_ZERO_S(bytes, set.get());
  CPU_ZERO_S(bytes, allowed.get());
  if (sched_getaffinity(0, bytes, allowed.get()) != 0)
    return SystemError(Code::kInternal, errno, "cannot ask for the CPUs of this process");
  for (const std::string_view piece : Split(list, ',')) {
    const std::size_t dash = piece.find('-');
    const std::int64_t first = ParseInteger(piece.substr(0, dash)).value_or(0);
    const std::int64_t last =
        dash == piece.npos ? first : ParseInteger(piece.substr(dash + 1)).value_or(0);
    for (auto cpu = static_cast<std::size_t>(first); cpu <= static_cast<std::size_t>(last); ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, allowed.get()) == 0)
        return Error(Code::kInvalid, "this process may not run on CPU %zu", cpu);
      CPU_SET_S(cpu, bytes, set.get());
    }
  }
  if (sched_setaffinity(0, bytes, set.get()) != 0)
    return SystemError(Code::kDenied, errno, "cannot keep to CPUs %.*s",
                       static_cast<int>(list.size()), list.data());
  return {};
}

bool IsThisMachineSurely(std::string_view host, const Machine& machine) {
  if (host == machine.name || host == "localhost" || host == "::1" || host.rfind("127.", 0) == 0)
    return true;
  return std::find(machine.addresses.begin(), machine.addresses.end(), host) !=
         machine.addresses.end();
}

bool IsThisMachine(std::string_view host, const Machine& machine) {
  if (IsThisMachineSurely(host, machine)) return true;
  // A short name stands for a long one with the same first label; two long ones must be equal.
  const bool host_is_short = host.find('.') == std::string_view::npos;
  const bool machine_is_short = machine.name.find('.') == std::string::npos;
  return host_is_short != machine_is_short && !host.empty() &&
         FirstLabel(host) == FirstLabel(machine.name);
}

std::optional<std::uint32_t> CpusOfQuota(std::string_view cpu_max) {
  const std::size_t blank = cpu_max.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const auto quota = ParseInteger(cpu_max.substr(0, blank));
  const auto period = ParseInteger(cpu_max.substr(blank + 1));
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  const std::int64_t cpus = (*quota - 1) / *period + 1;
  return static_cast<std::uint32_t>(std::min<std::int64_t>(cpus, 1 << 20));
}

std::uint32_t CountOfList(std::string_view list) {
  std::uint32_t count = 0;
  for (const std::string_view piece : Split(list, ',')) {
    const std::size_t dash = piece.find('-');
    const auto first = ParseInteger(piece.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : ParseInteger(piece.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= 1 << 20) return 0;
    count += static_cast<std::uint32_t>(*last - *first) + 1;
  }
  return count;
}

}  // namespace lamina::launcher
