// SPDX-License-Identifier: BSD-3-Clause
// What a PMI-2 server answers: its length, the pairs, and what is in some of their values.
#include "runtime/base/check.h"
#include "runtime/bootstrap/pmi2_wire.h"
#include "test/fuzz/input.h"

namespace lamina::bootstrap::pmi2 {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const auto bytes = BodyBytes(input.TakeBytes(kLengthColumns));
  CHECK(!bytes || (*bytes >= 1 && *bytes <= kBodyBytesMax));
  const auto answer = DecodeAnswer(input.Rest());
  if (!answer.ok()) return 0;
  std::vector<std::string> values;
  bool is_writable = true;
  for (const auto& [key, value] : *answer) {
    is_writable = is_writable && key.find(';') == std::string::npos;  // our own keys have none
    if (const auto nodes = NodesOfRanks(value, 100); nodes.ok()) CHECK(nodes->size() == 100);
    if (const auto count = CountOf(value); count.ok()) CHECK(*count >= 1);
    values.push_back(value);
  }
  const auto again =
      DecodeAnswer(EncodeRequest({answer->begin(), answer->end()}).substr(kLengthColumns));
  CHECK(!is_writable || (again.ok() && *again == *answer));
  const auto card = DecodeBytes(values);
  if (!card.ok()) return 0;
  const auto same = DecodeBytes(EncodeBytes(*card));
  CHECK(same.ok() && *same == *card);
  return 0;
}

}  // namespace lamina::bootstrap::pmi2
