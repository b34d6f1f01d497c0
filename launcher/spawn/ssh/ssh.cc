// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/spawn/ssh/ssh.h"

#include <utility>

#include "launcher/shepherd/shepherded_job.h"
#include "launcher/spawn/ssh/ssh_command.h"

namespace lamina::launcher::ssh {
namespace {

component::Offer Query(const SpawnContext&) {
  return {-1, "for hosts other than this one; used when -H or a host file names some"};
}

Result<std::unique_ptr<Spawner>> Make(const SpawnContext& context) {
  Params params;
  if (Status status = param::Load(context.settings, kFields, &params); !status.ok()) return status;
  return MakeShepherdSpawner(PipesBy(std::move(params)), context);
}

std::vector<param::Row> Parameters(const param::Settings& settings) {
  std::vector<param::Row> rows = param::Rows<Params>(settings, kFields);
  for (param::Row& row : ShepherdParameters(settings)) rows.push_back(std::move(row));
  return rows;
}

}  // namespace

SpawnerComponent Describe() { return {{"ssh", "0.1.0", "built in"}, Query, Make, Parameters}; }

}  // namespace lamina::launcher::ssh
