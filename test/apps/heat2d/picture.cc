// SPDX-License-Identifier: BSD-3-Clause
#include "picture.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace heat2d {
namespace {

constexpr std::size_t kPixelsMax = std::size_t{1} << 28;

// Walks over the bytes of a file already in memory.
class Scanner {
 public:
  explicit Scanner(const std::string& bytes) : bytes_(bytes) {}

  // The next decimal number, or -1. Skips white space and comments before it.
  long Number() {
    while (at_ < bytes_.size()) {
      if (bytes_[at_] == '#') {
        while (at_ < bytes_.size() && bytes_[at_] != '\n') ++at_;
      } else if (std::strchr(" \t\r\n\v\f", bytes_[at_]) != nullptr) {
        ++at_;
      } else {
        break;
      }
    }
    long number = -1;
    while (at_ < bytes_.size() && bytes_[at_] >= '0' && bytes_[at_] <= '9') {
      number = std::max(number, 0L) * 10 + (bytes_[at_++] - '0');
      if (number > 1 << 30) return -1;
    }
    return number;
  }

  // The next `width` bytes as a big-endian number, or -1.
  long Binary(std::size_t width) {
    if (at_ + width > bytes_.size()) return -1;
    long number = 0;
    for (std::size_t i = 0; i < width; ++i) {
      number = number * 256 + static_cast<unsigned char>(bytes_[at_++]);
    }
    return number;
  }

  void Skip(std::size_t count) { at_ += count; }

 private:
  const std::string& bytes_;
  std::size_t at_ = 0;
};

bool ReadAll(const std::string& path, std::string* bytes, std::string* problem) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    *problem = path + ": " + std::strerror(errno);
    return false;
  }
  char chunk[65536];
  std::size_t got = 0;
  while ((got = std::fread(chunk, 1, sizeof chunk, file)) > 0) bytes->append(chunk, got);
  const bool good = std::ferror(file) == 0;
  if (!good) *problem = path + ": " + std::strerror(errno);
  std::fclose(file);
  return good;
}

bool WriteAll(const std::string& path, const std::string& bytes, std::string* problem) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  bool good = file != nullptr;
  good = good && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (!good) *problem = path + ": " + std::strerror(errno);
  if (file != nullptr && std::fclose(file) != 0 && good) {
    *problem = path + ": " + std::strerror(errno);
    good = false;
  }
  return good;
}

unsigned char Byte(double value) {
  return static_cast<unsigned char>(std::lround(std::clamp(value, 0.0, 255.0)));
}

std::string Header(const char* magic, const Picture& picture) {
  return std::string(magic) + "\n" + std::to_string(picture.width) + " " +
         std::to_string(picture.height) + "\n255\n";
}

}  // namespace

bool ReadPicture(const std::string& path, Picture* picture, std::string* problem) {
  std::string bytes;
  if (!ReadAll(path, &bytes, problem)) return false;
  const char kind = bytes.size() > 2 && bytes[0] == 'P' ? bytes[1] : '?';
  if (std::strchr("2356", kind) == nullptr) {
    *problem = path + ": neither PGM nor PPM (it starts with no P2, P3, P5 or P6)";
    return false;
  }
  const bool text = kind == '2' || kind == '3';
  const bool colour = kind == '3' || kind == '6';

  Scanner scanner(bytes);
  scanner.Skip(2);
  const long width = scanner.Number();
  const long height = scanner.Number();
  const long top = scanner.Number();
  if (width < 1 || height < 1 || top < 1 || top > 65535 ||
      static_cast<std::size_t>(width) > kPixelsMax / static_cast<std::size_t>(height)) {
    *problem = path + ": width, height or maximum is missing or out of range";
    return false;
  }
  scanner.Skip(1);  // the one white space between header and samples

  Picture read;
  read.width = static_cast<std::size_t>(width);
  read.height = static_cast<std::size_t>(height);
  read.values.resize(read.width * read.height);
  const std::size_t sample_bytes = top > 255 ? 2 : 1;
  const auto next = [&] { return text ? scanner.Number() : scanner.Binary(sample_bytes); };
  for (double& value : read.values) {
    const long red = next();
    const long green = colour ? next() : red;
    const long blue = colour ? next() : red;
    if (red < 0 || green < 0 || blue < 0) {
      *problem = path + ": the file ends before its last pixel";
      return false;
    }
    const double luminance = colour ? 0.299 * static_cast<double>(red) +
                                          0.587 * static_cast<double>(green) +
                                          0.114 * static_cast<double>(blue)
                                    : static_cast<double>(red);
    value = luminance * 255.0 / static_cast<double>(top);
  }
  *picture = std::move(read);
  return true;
}

bool WriteGrey(const std::string& path, const Picture& picture, std::string* problem) {
  std::string bytes = Header("P5", picture);
  for (double value : picture.values) bytes.push_back(static_cast<char>(Byte(value)));
  return WriteAll(path, bytes, problem);
}

bool WriteHeat(const std::string& path, const Picture& picture, std::string* problem) {
  std::string bytes = Header("P6", picture);
  for (double value : picture.values) {
    // Three ramps one after the other: red rises first, then green, then blue.
    const double third = value * 3;
    bytes.push_back(static_cast<char>(Byte(third)));
    bytes.push_back(static_cast<char>(Byte(third - 255)));
    bytes.push_back(static_cast<char>(Byte(third - 510)));
  }
  return WriteAll(path, bytes, problem);
}

std::string Sketch(const Picture& picture, std::size_t columns) {
  static constexpr char kShades[] = " .:-=+*#%@";
  columns = std::min(columns, picture.width);
  const std::size_t lines = std::max<std::size_t>(1, columns * picture.height / picture.width / 2);
  std::string out;
  for (std::size_t line = 0; line < lines; ++line) {
    for (std::size_t column = 0; column < columns; ++column) {
      const std::size_t y = (2 * line + 1) * picture.height / (2 * lines);
      const std::size_t x = (2 * column + 1) * picture.width / (2 * columns);
      const double value = std::clamp(picture.values[y * picture.width + x], 0.0, 255.0);
      out.push_back(kShades[static_cast<std::size_t>(value * 9.0 / 255.0 + 0.5)]);
    }
    while (!out.empty() && out.back() == ' ') out.pop_back();
    out.push_back('\n');
  }
  return out;
}

}  // namespace heat2d
