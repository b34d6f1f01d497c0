// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/run_hosts.h"

#include <algorithm>

#include "launcher/plan/hosts.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

Host* Find(std::vector<Host>* hosts, std::string_view name) {
  const auto found = std::find_if(hosts->begin(), hosts->end(),
                                  [name](const Host& host) { return host.name == name; });
  return found != hosts->end() ? &*found : nullptr;
}

}  // namespace

Status RunHosts::Grow(std::string_view list) {
  Result<std::vector<HostEntry>> entries = ParseHostList(list);
  if (!entries.ok()) return std::move(entries).status();
  std::vector<Host> hosts = hosts_;
  for (const HostEntry& entry : MergeHosts(*entries)) {
    Host* host = Find(&hosts, entry.name);
    if (host == nullptr && !allocation_.empty())
      return Error(Code::kInvalid, "host %s does not belong to %s", entry.name.c_str(),
                   allocation_.c_str());
    if (host == nullptr) {
      host = &hosts.emplace_back();
      host->name = entry.name;
      host->user = entry.user;
    }
    host->schedulable = true;
    if (!entry.slots) continue;
    host->slots = *entry.slots;
    host->promised = true;
  }
  has_grown_ = has_grown_ || hosts.size() > hosts_.size();
  hosts_ = std::move(hosts);
  return {};
}

Status RunHosts::Shrink(std::string_view name) {
  Host* const host = Find(&hosts_, name);
  if (host == nullptr)
    return Error(Code::kNotFound, "%s is no host of this job", std::string(name).c_str());
  host->schedulable = false;
  return {};
}

std::string RunHosts::Text(RanksByHost running) const {
  for (const Host& host : hosts_)
    if (host.taken > 0) running[host.name] += host.taken;
  std::string text;
  for (const Host& host : hosts_) {
    const bool is_address = host.name.find(':') != host.name.npos;
    text += (is_address ? "[" + host.name + "]" : host.name) + Format(" slots=%u", host.slots);
    if (host.slots_max != 0) text += Format(" max_slots=%u", host.slots_max);
    if (!host.user.empty()) text += " user=" + host.user;
    if (host.port != 0) text += Format(" port=%u", host.port);
    if (!host.prefix.empty()) text += " prefix=" + host.prefix;
    if (!host.schedulable) text += " schedule=no";
    if (!host.promised) text += " promised=no";
    text += Format(" taken=%u\n", running[host.name]);
  }
  return text;
}

}  // namespace lamina::launcher
