// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/none/none.h"

#include <memory>

#include "runtime/base/version.h"

namespace lamina::checkpoint::none {
namespace {

constexpr const char* kWhy = "no checkpoint engine works here; `lamina info checkpoint` says why";

class None final : public CheckpointEngine {
 public:
  EngineCaps caps() const override { return {}; }
  std::string version() const override { return kVersion; }
  std::vector<std::string> Examine(const Subject&) override { return {kWhy}; }
  Result<std::unique_ptr<Errand>> Save(const Subject&, int) override {
    return Error(Code::kUnsupported, "%s", kWhy);
  }
  std::string Torn(std::span<const int>) const override { return ""; }
  std::vector<std::string> Misfits(int) const override { return {}; }
  Result<std::unique_ptr<Errand>> Revive(const Subject&, int, std::span<const int>) override {
    return Error(Code::kUnsupported, "%s", kWhy);
  }
};

component::Offer Query(const EngineContext&) { return {0, "saves nothing; jobs run as always"}; }

Result<std::unique_ptr<CheckpointEngine>> Make(const EngineContext&) {
  return std::unique_ptr<CheckpointEngine>(std::make_unique<None>());
}

}  // namespace

EngineComponent Describe() { return {{"none", kVersion, "built in"}, Query, Make, {}}; }

}  // namespace lamina::checkpoint::none
