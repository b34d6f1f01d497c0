// SPDX-License-Identifier: BSD-3-Clause
#include "transports/shm/address.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "runtime/base/roster.h"

namespace lamina::shm {

namespace {

constexpr std::uint32_t kMagic = 0x4d48534cu;  // "LSHM"
constexpr std::uint16_t kVersion = 2;

// Fields follow one another in the machine's byte order, because both ends are on one node, or the
// boot id tells that they are not.
class Writer {
 public:
  template <class T>
  void Put(const T& value) {
    const auto* begin = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), begin, begin + sizeof value);
  }
  std::vector<std::byte> Take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class T>
  void Get(T* value) {
    std::memcpy(value, bytes_.data(), sizeof *value);
    bytes_ = bytes_.subspan(sizeof *value);
  }

 private:
  std::span<const std::byte> bytes_;
};

int HexValue(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  return -1;
}

}  // namespace

std::vector<std::byte> Encode(const Address& address) {
  Writer writer;
  writer.Put(kMagic);
  writer.Put(kVersion);
  writer.Put(static_cast<std::uint16_t>(kAddressBytes));
  writer.Put(address.boot_id);
  writer.Put(address.pid_namespace);
  writer.Put(address.pid);
  writer.Put(address.descriptor);
  writer.Put(address.uid);
  writer.Put(address.cells);
  writer.Put(address.area_bytes);
  writer.Put(address.rings_max);
  writer.Put(address.token);
  writer.Put(address.inode);
  writer.Put(address.offset);
  writer.Put(address.probe_address);
  return writer.Take();
}

Result<Address> DecodeAddress(std::span<const std::byte> bytes) {
  if (bytes.size() != kAddressBytes)
    return Error(Code::kInvalid, "shm address of %zu bytes, need %zu", bytes.size(), kAddressBytes);
  Reader reader(bytes);
  std::uint32_t magic = 0;
  std::uint16_t version = 0, stated_bytes = 0;
  reader.Get(&magic);
  reader.Get(&version);
  reader.Get(&stated_bytes);
  if (magic != kMagic) return Error(Code::kInvalid, "not an shm address (magic %08x)", magic);
  if (version != kVersion)
    return Error(Code::kInvalid, "shm address of version %u, ours is %u", version, kVersion);
  if (stated_bytes != bytes.size())
    return Error(Code::kInvalid, "shm address of %zu bytes says it has %u", bytes.size(),
                 stated_bytes);
  Address address;
  reader.Get(&address.boot_id);
  reader.Get(&address.pid_namespace);
  reader.Get(&address.pid);
  reader.Get(&address.descriptor);
  reader.Get(&address.uid);
  reader.Get(&address.cells);
  reader.Get(&address.area_bytes);
  reader.Get(&address.rings_max);
  reader.Get(&address.token);
  reader.Get(&address.inode);
  reader.Get(&address.offset);
  reader.Get(&address.probe_address);
  if (address.pid <= 0 || address.descriptor < 0)
    return Error(Code::kInvalid, "shm address names process %d, descriptor %d", address.pid,
                 address.descriptor);
  if (!std::has_single_bit(address.cells) || address.cells < 2 || address.cells > 65536 ||
      address.area_bytes % 64 != 0 || address.area_bytes < 512 ||
      address.area_bytes > 16u * 1024 * 1024 || address.rings_max == 0 ||
      address.rings_max > (1u << 24))
    return Error(Code::kInvalid, "shm address with %u rings of %u cells and %u bytes",
                 address.rings_max, address.cells, address.area_bytes);
  return address;
}

Status FillMachine(Address* address) {
  const char* path = "/proc/sys/kernel/random/boot_id";
  char text[64] = {};
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return SystemError(Code::kUnsupported, errno, "open(%s)", path);
  const ssize_t got = read(descriptor, text, sizeof text - 1);
  const int error = errno;
  close(descriptor);
  if (got < 0) return SystemError(Code::kUnsupported, error, "read(%s)", path);
  std::size_t digits = 0;
  address->boot_id = {};
  for (const char letter : text) {
    const int value = HexValue(letter);
    if (value < 0 || digits >= 32) continue;
    std::byte& place = address->boot_id[digits / 2];
    place = place << 4 | static_cast<std::byte>(value);
    ++digits;
  }
  if (digits != 32) return Error(Code::kUnsupported, "%s holds no id", path);
  address->pid_namespace = PidNamespaceOfProc();
  return {};
}

}  // namespace lamina::shm
