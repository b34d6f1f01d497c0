// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "runtime/base/param.h"

namespace lamina::dynamic {

struct Params {
  std::string listen = "auto";
  std::string range;
  std::uint32_t timeout_s = 600;
  std::string launcher = "auto";
  std::string names_file;
};
inline constexpr std::tuple kFields{
    param::Describe(
        "dynamic.port.listen", &Params::listen, "",
        "Where MPI_Open_port listens: loopback, all, the address of a network, or auto: "
        "loopback if all ranks are on one host and there is no file of names, else all."),
    param::Describe("dynamic.port.range", &Params::range, "",
                    "The TCP ports that MPI_Open_port and MPI_Comm_spawn may listen at, as in "
                    "40000-40099, for networks with firewalls; empty: any."),
    param::Describe(
        "dynamic.connect.timeout_s", &Params::timeout_s, Unit::kSeconds, 0u, 86400u,
        "MPI_Comm_connect waits this long for somebody to accept; 0: for ever. The info "
        "key timeout says it for one call."),
    param::Describe(
        "dynamic.spawn.launcher", &Params::launcher, "",
        "What MPI_Comm_spawn starts where no mpiexec looks after the job: the mpiexec of this path "
        "or (auto) of this installation, for jobs of one rank, or (always) of any; never: nothing "
        "is spawned."),
    param::Describe("dynamic.names.file", &Params::names_file, "",
                    "A file on a file system that several machines see. Published names stand "
                    "there too, and are found from all of them; mpiexec --name-server FILE says "
                    "the same.")};

}  // namespace lamina::dynamic
