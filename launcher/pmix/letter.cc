// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/pmix/letter.h"

#include "launcher/wire/bytes.h"

namespace lamina::launcher::pmix {

std::string Encode(const Letter& letter) {
  return wire::Writer()
      .U8(static_cast<std::uint8_t>(letter.subject))
      .U8(letter.good ? 1 : 0)
      .U32(letter.id)
      .U32(letter.rank)
      .Raw(letter.body)
      .Take();
}

Result<Letter> DecodeLetter(std::string_view bytes) {
  wire::Reader reader(bytes);
  Letter letter;
  const std::uint8_t subject = reader.U8();
  letter.subject = static_cast<Subject>(subject);
  letter.good = reader.U8() != 0;
  letter.id = reader.U32();
  letter.rank = reader.U32();
  letter.body = std::string(reader.Rest());
  if (!reader.ok() || subject < static_cast<std::uint8_t>(Subject::kFence) ||
      subject > static_cast<std::uint8_t>(Subject::kAnswer))
    return Error(Code::kInvalid, "a letter of a PMIx server makes no sense");
  return letter;
}

}  // namespace lamina::launcher::pmix
