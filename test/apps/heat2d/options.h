// SPDX-License-Identifier: BSD-3-Clause
// The command line of heat2d.
#pragma once

#include <string>

namespace heat2d {

struct Options {
  std::string input;                     // empty: the picture that comes with the program
  std::string output = "heat2d_result";  // .pgm and .ppm are appended
  long steps = 300;
  double tolerance = 0.0;  // stop when no cell changes by more than this in a step
  bool quiet = false;      // no progress, no sketch
};

inline constexpr char kUsage[] =
    "usage: heat2d [--input FILE] [--output NAME] [--steps N] [--tolerance X] [--quiet]\n"
    "  Lets the heat in a picture (PGM or PPM) spread and writes NAME.pgm and NAME.ppm.\n";

// False: the command line is wrong and `problem` says where.
bool ParseOptions(int argc, char** argv, Options* options, std::string* problem);

// The picture beside the running program, named like it.
std::string DefaultInput();

}  // namespace heat2d
