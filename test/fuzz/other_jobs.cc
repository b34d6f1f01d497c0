// SPDX-License-Identifier: BSD-3-Clause
// What a process of another job says of itself: who is in its group, and where its port listens.
#include <mpi.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "runtime/agreement/roll.h"
#include "runtime/base/check.h"
#include "runtime/dynamic/port_name.h"
#include "test/fuzz/input.h"

namespace lamina {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  const auto roll = agreement::ReadRoll(bytes);
  CHECK(roll.ok() == roll.status().message().empty());
  if (roll.ok()) CHECK(std::ranges::equal(agreement::RollOf(*roll), bytes));
  // A name as it is, and one with any addresses and the checksum that fits them.
  fuzz::Input input(data, size);
  auto port = dynamic::ReadPortName({reinterpret_cast<const char*>(data), size});
  if (!port.ok()) {
    port = dynamic::PortName{{}, input.Take<std::uint32_t>(), input.Lines()};
    std::erase_if(port->addresses, [](const std::string& address) {
      return address.empty() || address.find_first_of(std::string_view(",\0", 2)) != address.npos;
    });
  }
  const std::string written = dynamic::Write(*port);
  CHECK(written.size() < MPI_MAX_PORT_NAME);
  const auto again = dynamic::ReadPortName(written);
  CHECK(again.ok() && dynamic::Write(*again) == written);
  return 0;
}

}  // namespace lamina
