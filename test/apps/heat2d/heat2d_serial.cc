// SPDX-License-Identifier: BSD-3-Clause
// The same plate without MPI, blocks or ghosts: what heat2d's answer is checked against.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "cell.h"
#include "options.h"
#include "picture.h"

int main(int argc, char** argv) {
  heat2d::Options options;
  heat2d::Picture now;
  std::string problem;
  if (!heat2d::ParseOptions(argc, argv, &options, &problem) ||
      !heat2d::ReadPicture(options.input, &now, &problem)) {
    std::fprintf(stderr, "heat2d_serial: %s\n", problem.c_str());
    return 1;
  }
  const std::size_t width = now.width, height = now.height;
  std::vector<double> next(now.values.size());
  for (long step = 0; step < options.steps; ++step) {
    for (std::size_t y = 0; y < height; ++y) {
      for (std::size_t x = 0; x < width; ++x) {
        const auto at = [&](std::size_t column, std::size_t row) {
          return now.values[row * width + column];
        };
        next[y * width + x] = heat2d::NextValue(
            at(x, y), at(x, y > 0 ? y - 1 : y), at(x, std::min(y + 1, height - 1)),
            at(x > 0 ? x - 1 : x, y), at(std::min(x + 1, width - 1), y));
      }
    }
    now.values.swap(next);
  }
  std::uint64_t checksum = 0;
  for (std::size_t i = 0; i < now.values.size(); ++i) {
    checksum += heat2d::CellHash(i, now.values[i]);
  }
  if (!heat2d::WriteGrey(options.output + ".pgm", now, &problem) ||
      !heat2d::WriteHeat(options.output + ".ppm", now, &problem)) {
    std::fprintf(stderr, "heat2d_serial: %s\n", problem.c_str());
    return 1;
  }
  std::printf("checksum %016llx\n", static_cast<unsigned long long>(checksum));
  return 0;
}
