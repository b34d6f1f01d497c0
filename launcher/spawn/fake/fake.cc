// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/spawn/fake/fake.h"

#include <tuple>
#include <utility>

#include "launcher/spawn/fake/fake_job.h"
#include "runtime/base/text.h"

namespace lamina::launcher::fake {
namespace {

struct Params {
  std::string hosts = "node01:4,node02:4";
  std::string script;
};
constexpr std::tuple kFields{
    param::Describe("spawner.fake.hosts", &Params::hosts, "",
                    "Hosts to pretend, HOST:SLOTS separated by commas."),
    param::Describe("spawner.fake.script", &Params::script, "",
                    "What happens to ranks: RANK:ACTION,...;*:ACTION,... with the actions "
                    "exit=CODE, kill=SIGNAL, fail=TEXT, at=MS, deaf, in=CALL, phase=NUMBER. A rank "
                    "that is not named exits with 0 at once."),
};

Result<Allocation> HostsOf(const std::string& text) {
  Allocation allocation;
  allocation.source = "pretended";
  for (const std::string_view entry : Split(text, ',')) {
    const std::size_t colon = entry.find(':');
    Host host;
    host.name = std::string(Trim(entry.substr(0, colon)));
    const auto slots = colon == std::string_view::npos ? std::optional<std::int64_t>(1)
                                                       : ParseInteger(entry.substr(colon + 1));
    if (host.name.empty() || !slots.has_value() || *slots < 0 || *slots > 1'000'000)
      return Error(Code::kInvalid, "spawner.fake.hosts: \"%s\" is not HOST:SLOTS",
                   std::string(entry).c_str());
    host.slots = static_cast<std::uint32_t>(*slots);
    allocation.hosts.push_back(std::move(host));
  }
  return allocation;
}

class FakeSpawner final : public Spawner {
 public:
  FakeSpawner(Params params, Script script)
      : params_(std::move(params)), script_(std::move(script)) {}

  SpawnerCaps caps() const override { return {}; }
  Result<Allocation> Query(const Environment&) override { return HostsOf(params_.hosts); }
  Result<CommandLine> Render(const Plan&) const override { return CommandLine{"(nothing)"}; }
  Result<std::unique_ptr<Job>> Start(const Plan&, std::span<const RankStart> starts) override {
    return FakeJob::Start(script_, starts);
  }
  ManagerState AskState() override { return {}; }

 private:
  Params params_;
  Script script_;
};

component::Offer Query(const SpawnContext&) { return {-1, "pretends only; used when named"}; }

Result<std::unique_ptr<Spawner>> Make(const SpawnContext& context) {
  Params params;
  if (Status status = param::Load(context.settings, kFields, &params); !status.ok()) return status;
  Result<Script> script = Script::Parse(params.script);
  if (!script.ok()) return std::move(script).status();
  return std::unique_ptr<Spawner>(
      std::make_unique<FakeSpawner>(std::move(params), *std::move(script)));
}

std::vector<param::Row> Parameters(const param::Settings& settings) {
  return param::Rows<Params>(settings, kFields);
}

}  // namespace

SpawnerComponent Describe() { return {{"fake", "0.1.0", "built in"}, Query, Make, Parameters}; }

}  // namespace lamina::launcher::fake
