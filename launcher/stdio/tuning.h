// SPDX-License-Identifier: BSD-3-Clause
// The constants of this folder that are no parameters.
#pragma once

#include <sys/time.h>

#include <cstddef>

namespace lamina::launcher::stdio {

// Input is read and passed on in pieces of this size.
inline constexpr std::size_t kPieceBytes = 65536;

// So much of what a rank was given is kept where the job is saved: more than can be on its way.
inline constexpr std::size_t kKeptBytes = std::size_t{1} << 20;

// A terminal is asked this often whether we are in its foreground, because no shell tells that.
inline constexpr timeval kForegroundCheck{0, 500'000};

// A source that has begun a line is looked at this often.
inline constexpr timeval kLook{0, 100'000};

// After this many looks that found nothing, the line goes out as it is.
inline constexpr unsigned kSilentLooks = 2;

// A source that has the word may be silent for longer, because others then break its line.
inline constexpr unsigned kSilentLooksOfSpeaker = 20;

}  // namespace lamina::launcher::stdio
