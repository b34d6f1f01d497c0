// SPDX-License-Identifier: BSD-3-Clause
// What pbs_mom answers, in the form of OpenPBS or, behind a first byte 't', of TORQUE.
#include <iterator>

#include "launcher/spawn/pbs/tm_session.h"
#include "runtime/base/check.h"
#include "test/fuzz/input.h"

namespace lamina::launcher::pbs {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const bool is_torque = input.Take<char>() == 't';
  std::vector<std::string> variables = {"PBS_JOBID=1.head", "PBS_JOBCOOKIE=abc", "PBS_TASKNUM=1F",
                                        "PBS_MOMPORT=15003"};
  if (is_torque) variables.emplace_back("PBS_VNODENUM=0");
  auto opened = TmSession::Open(Environment(variables));
  CHECK(opened.ok());
  TmSession session = *std::move(opened);
  std::int64_t event = 0;
  session.Init(&event);
  session.Spawn(0, {}, {}, &event);
  session.Signal(0, 1, 9, &event);
  session.Obit(0, 1, &event);
  std::vector<TmReply> replies;
  while (!input.empty())
    if (!session.Feed(input.TakeText(), &replies).ok()) break;
  CHECK(std::ssize(replies) <= event);  // each request is answered once
  for (const TmReply& reply : replies) {
    CHECK(reply.event >= 1 && reply.event <= event);
    CHECK(reply.error == 0 || !ErrorText(reply.error).empty());
  }
  return 0;
}

}  // namespace lamina::launcher::pbs
