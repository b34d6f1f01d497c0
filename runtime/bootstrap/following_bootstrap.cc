// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/bootstrap/following_bootstrap.h"

#include <cstddef>
#include <utility>

#include "runtime/base/text.h"

namespace lamina::bootstrap {
namespace {

class Following final : public Bootstrap {
 public:
  Following(const Environment& environment, std::unique_ptr<Bootstrap> now)
      : environment_(environment), now_(std::move(now)) {}

  const Identity& identity() const override { return now_->identity(); }
  Status Publish(std::span<const std::byte> card) override { return now_->Publish(card); }
  Result<std::vector<std::byte>> Card(std::uint32_t rank) override { return now_->Card(rank); }
  Result<std::uint32_t> Node(std::uint32_t rank) override { return now_->Node(rank); }
  const std::vector<ProcessSet>& ProcessSets() override { return now_->ProcessSets(); }
  void Abort(int code, const char* why) override { now_->Abort(code, why); }
  Status Leave() override { return now_->Leave(); }

  Status Return(std::uint32_t epoch) override {
    const std::string job = environment_.Get("PMIX_NAMESPACE").value_or("");
    if (job.empty() || job == identity().job) return now_->Return(epoch);
    Result<std::unique_ptr<Bootstrap>> found = FindNow(environment_, epoch);
    if (!found.ok()) return std::move(found).status();
    const Identity& before = identity();
    const Identity& after = (*found)->identity();
    if (after.job_ranks != before.job_ranks || after.rank != before.rank)
      return Error(Code::kInvalid,
                   "this process is rank %u of %u in job %s, but was rank %u of %u before",
                   after.rank, after.job_ranks, job.c_str(), before.rank, before.job_ranks);
    now_ = *std::move(found);
    return {};
  }

 private:
  const Environment& environment_;
  std::unique_ptr<Bootstrap> now_;
};

}  // namespace

std::unique_ptr<Bootstrap> FollowEnvironment(const Environment& environment,
                                             std::unique_ptr<Bootstrap> now) {
  return std::make_unique<Following>(environment, std::move(now));
}

}  // namespace lamina::bootstrap
