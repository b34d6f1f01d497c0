// SPDX-License-Identifier: BSD-3-Clause
// The PMI-2 wire protocol is text: requests and answers of key=value pairs. Functions here are
// pure.
//
//   "    25cmd=kvs-get;key=universe;"   six columns of length, then pairs, each ended by ';'
//
// A ';' within a value is doubled. The greeting alone is a line in the older form
// ("cmd=init pmi_version=2 pmi_subversion=0\n"), so that an older server can refuse it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/status.h"

namespace lamina::bootstrap::pmi2 {

inline constexpr std::size_t kLengthColumns = 6;
inline constexpr std::size_t kBodyBytesMax = 999'999;
inline constexpr std::size_t kValueBytesMax = 960;  // servers take at least 1023

using Pairs = std::vector<std::pair<std::string, std::string>>;
using Answer = std::map<std::string, std::string, std::less<>>;

// Returns the request with its length in front.
std::string EncodeRequest(const Pairs& pairs);
// Returns the length that stands in the first columns, or nothing if there is none.
std::optional<std::size_t> BodyBytes(std::string_view columns);
Result<Answer> DecodeAnswer(std::string_view body);

// Reads PMI_process_mapping, as in "(vector,(0,4,2))": blocks of (first node, nodes, ranks on each)
// that are repeated until all ranks have a node. The error is kInvalid if the text is anything
// else.
Result<std::vector<std::uint32_t>> NodesOfRanks(std::string_view mapping, std::uint32_t ranks);

// Encodes bytes as values of at most kValueBytesMax letters: "3:0fa0...", then the rest of the
// digits.
std::vector<std::string> EncodeBytes(const std::vector<std::byte>& bytes);
// Returns how many values there are, which the first of them says.
Result<std::size_t> CountOf(std::string_view first);
Result<std::vector<std::byte>> DecodeBytes(const std::vector<std::string>& values);

}  // namespace lamina::bootstrap::pmi2
