// SPDX-License-Identifier: BSD-3-Clause
// The command line of heat2d.
#pragma once

#include <string>

namespace heat2d {

struct Options {
  std::string input;   // empty: the picture that comes with the program
  std::string output;  // .pgm and .ppm are appended
  long steps = 300;
  double tolerance = 0.0;  // stop when no cell changes by more than this in a step
  bool quiet = false;      // no progress, no sketch
};

inline constexpr char kUsage[] =
    "usage: heat2d [--input FILE] [--output NAME] [--steps N] [--tolerance X] [--quiet]\n"
    "  Lets the heat in a picture (PGM or PPM) spread and writes NAME.pgm and NAME.ppm,\n"
    "  without --output as heat2d_UID in $TMPDIR or /tmp.\n";

// False: the command line is wrong and `problem` says where. Without --output the pictures go to
// the directory for temporary files, so that a run leaves nothing where the user happens to be.
bool ParseOptions(int argc, char** argv, Options* options, std::string* problem);

// The picture beside the running program, named like it.
std::string DefaultInput();

}  // namespace heat2d
