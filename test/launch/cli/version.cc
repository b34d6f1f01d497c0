// SPDX-License-Identifier: BSD-3-Clause
// A C++ program that asks the library for its version.
#include <mpi.h>

#include <iostream>
#include <vector>

int main() {
  std::vector<int> version(2);
  MPI_Get_version(version.data(), version.data() + 1);
  std::cout << "MPI " << version[0] << "." << version[1] << std::endl;
}
