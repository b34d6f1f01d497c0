// SPDX-License-Identifier: BSD-3-Clause
// Guesses, from the outside, whether a program will speak to the PMIx server.
//
// Nothing depends on it being right: it only lets the server start while the ranks are being
// loaded, instead of when the first of them knocks.
#pragma once

#include <string>

namespace lamina::launcher::pmix {

// Is `path` a 64-bit ELF program that needs a library libpmix… or, if its ranks have no roster,
// libmpi…? False for anything that cannot be read or understood.
bool NeedsServer(const std::string& path, bool with_roster);

}  // namespace lamina::launcher::pmix
