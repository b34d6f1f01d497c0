// SPDX-License-Identifier: BSD-3-Clause
// The card that a rank publishes, and the addresses of transports in it.
#include "runtime/base/check.h"
#include "runtime/bootstrap/bootstrap.h"
#include "test/fuzz/input.h"
#include "transports/shm/address.h"
#include "transports/ucx/address.h"

namespace lamina {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  if (const auto shm = shm::DecodeAddress(bytes); shm.ok())
    CHECK(std::ranges::equal(shm::Encode(*shm), bytes));
  if (const auto ucx = ucx::DecodeAddress(bytes); ucx.ok())
    CHECK(std::ranges::equal(ucx::Encode(*ucx), bytes));
  const auto card = bootstrap::Decode(bytes);
  if (!card.ok()) return 0;
  const std::vector<std::byte> written = bootstrap::Encode(*card);
  const auto again = bootstrap::Decode(written);
  CHECK(again.ok() && bootstrap::Encode(*again) == written);
  CHECK(written.size() <= size);
  for (const auto& [transport, address] : card->addresses) {
    static_cast<void>(shm::DecodeAddress(address));
    static_cast<void>(ucx::DecodeAddress(address));
  }
  return 0;
}

}  // namespace lamina
