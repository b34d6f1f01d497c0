// SPDX-License-Identifier: BSD-3-Clause
// A Letter is what the PMIx servers of a job's nodes ask of each other, by way of the hub.
//
//   byte 0      subject         bytes 2..5   id, of the asker's choice; an answer repeats it
//   byte 1      1: it went well bytes 6..9   rank: who asks, or who is asked about
//   the rest    body, by subject
//
//   subject     from  body
//   1 fence     node  count, that many ranks (none: all of the job); what its ranks contribute
//   2 modex     both  -                              (`rank`: whose card is wanted)
//   3 publish   node  1 byte: gone after one look; count; name, value each
//   4 lookup    node  count; names
//   5 unpublish node  count; names (none: all of this rank's)
//   6 abort     node  message                        (`id`: the code)
//   7 answer    both  to a fence: all contributions; to a modex: the card; to a lookup: count;
//                     name, owner, value each
//
// Numbers are 32 bits little endian; a name or value is its length and its bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace lamina::launcher::pmix {

enum class Subject : std::uint8_t {
  kFence = 1,
  kModex = 2,
  kPublish = 3,
  kLookup = 4,
  kUnpublish = 5,
  kAbort = 6,
  kAnswer = 7,
};

struct Letter {
  Subject subject = Subject::kAnswer;
  bool good = true;
  std::uint32_t id = 0;
  std::uint32_t rank = 0;
  std::string body;
};

std::string Encode(const Letter& letter);
// kInvalid means that it is no letter. The body is not looked at.
Result<Letter> DecodeLetter(std::string_view bytes);

}  // namespace lamina::launcher::pmix
