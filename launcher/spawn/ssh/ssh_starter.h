// SPDX-License-Identifier: BSD-3-Clause
// How ssh is asked to start a shepherd. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "launcher/shepherd/shepherded_job.h"
#include "runtime/base/param.h"

namespace lamina::launcher::ssh {

struct Params {
  std::string command = "ssh";
  std::string options;
  std::uint32_t connect_s = 10;
};
inline constexpr std::tuple kFields{
    param::Describe("spawner.ssh.command", &Params::command, "",
                    "The remote shell: ssh, or a program that takes the same arguments. Words "
                    "after the first are passed to it first."),
    param::Describe("spawner.ssh.options", &Params::options, "",
                    "More words for it, in front of the host: \"-F other_config -o User=ada\"."),
    param::Describe("spawner.ssh.connect_s", &Params::connect_s, Unit::kSeconds, 1u, 3600u,
                    "How long ssh tries to connect to a host that does not answer."),
};

class SshStarter final : public ShepherdStarter {
 public:
  explicit SshStarter(Params params) : params_(std::move(params)) {}
  bool dials_back() const override { return false; }
  CommandLine CommandFor(const Host& host, std::span<const std::string> shepherd) const override;
  RetryRule retry() const override;
  bool works_everywhere() const override { return true; }
  Result<std::unique_ptr<ShepherdCrew>> StartAll(const Plan& plan,
                                                 std::span<const std::uint32_t> hosts,
                                                 std::span<const std::string> shepherd,
                                                 const DialBack& dial_back) override;

 private:
  Params params_;
};

// One word for a POSIX shell, quoted only if it has to be.
std::string QuotedForShell(std::string_view word);

}  // namespace lamina::launcher::ssh
