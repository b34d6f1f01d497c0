// SPDX-License-Identifier: BSD-3-Clause
// Pictures as fields of numbers: reading PGM/PPM files, writing them back.
//
// Reads P2, P3, P5 and P6 (text and binary, grey and colour) of up to 16 bits a sample; a colour
// becomes its luminance. Values are scaled to 0..255 whatever the file's own maximum.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace heat2d {

struct Picture {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<double> values;  // row by row, width * height of them
};

// On failure returns false, says why in `problem`, and leaves `picture` as it was.
bool ReadPicture(const std::string& path, Picture* picture, std::string* problem);

// Grey (P5), values cut to 0..255.
bool WriteGrey(const std::string& path, const Picture& picture, std::string* problem);

// Colour (P6) on a scale from black over red and yellow to white.
bool WriteHeat(const std::string& path, const Picture& picture, std::string* problem);

// The picture as lines of characters, for a terminal.
std::string Sketch(const Picture& picture, std::size_t columns);

}  // namespace heat2d
