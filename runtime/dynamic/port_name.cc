// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/dynamic/port_name.h"

#include <charconv>
#include <cstddef>

#include "runtime/base/fnv.h"
#include "runtime/base/text.h"

namespace lamina::dynamic {
namespace {

constexpr std::string_view kMark = "lamina1";
constexpr std::size_t kBytesMax = 400;

std::uint32_t Checksum(std::string_view head, std::string_view addresses) {
  return Fnv32(std::string(head).append(addresses));
}

template <class Number>
bool ReadHex(std::string_view text, Number* number) {
  if (text.size() != 2 * sizeof *number) return false;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, *number, 16);
  return read.ec == std::errc() && read.ptr == end;
}

Status Damaged() { return Error(Code::kInvalid, "the name of the port is damaged"); }

}  // namespace

std::string Write(const PortName& name) {
  const std::string head = Format("%s-%016llx%016llx-%08x", std::string(kMark).c_str(),
                                  static_cast<unsigned long long>(name.secret[0]),
                                  static_cast<unsigned long long>(name.secret[1]), name.loopback);
  std::string addresses;
  for (const std::string& address : name.addresses)
    if (head.size() + addresses.size() + address.size() < kBytesMax)
      addresses += (addresses.empty() ? "" : ",") + address;
  return Format("%s-%08x@%s", head.c_str(), Checksum(head, addresses), addresses.c_str());
}

Result<PortName> ReadPortName(std::string_view text) {
  if (!text.starts_with(kMark))
    return Error(Code::kInvalid, "it is no name that MPI_Open_port of Lamina gives");
  const std::size_t at = text.find('@');
  if (at == text.npos) return Damaged();
  const std::vector<std::string_view> parts = Split(text.substr(0, at), '-');
  PortName name;
  std::uint32_t sum = 0;
  if (parts.size() != 4 || parts[0] != kMark || parts[1].size() != 32 ||
      !ReadHex(parts[1].substr(0, 16), &name.secret[0]) ||
      !ReadHex(parts[1].substr(16), &name.secret[1]) || !ReadHex(parts[2], &name.loopback) ||
      !ReadHex(parts[3], &sum))
    return Damaged();
  const std::string_view addresses = text.substr(at + 1);
  if (sum != Checksum(text.substr(0, at - parts[3].size() - 1), addresses)) return Damaged();
  for (const std::string_view address : Split(addresses, ','))
    if (!address.empty()) name.addresses.emplace_back(address);
  return name;
}

}  // namespace lamina::dynamic
