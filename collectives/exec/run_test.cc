// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the executor asks a communicator's meeting before it runs a plan, and does what it says:
//         nothing more, report the failure, run a plan by messages, or run a plan whose steps at
//         a board come back to the meeting.
// Method: a fake component, whose meeting answers as the test tells it and whose plans need no
//         messages, on a communicator that belongs to no job.
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectives/call/meeting.h"
#include "collectives/exec/exec.h"
#include "collectives/select/table.h"
#include "runtime/core/errors.h"
#include "runtime/core/process.h"

namespace lamina::collective {
namespace {

using datatype::Buffer;

// What the meeting is to answer, and what it was asked.
struct Script {
  Served served = Served::kDone;
  bool convenes = true;
  int step_error = MPI_SUCCESS;
  std::vector<Operation> asked;
  std::vector<Verb> steps;
  std::optional<Place> place;
};
Script* script = nullptr;

class FakeMeeting final : public Meeting {
 public:
  explicit FakeMeeting(Failure* failure) : failure_(*failure) {}
  Served Run(const Invocation& invocation) override {
    script->asked.push_back(invocation.operation);
    if (script->served == Served::kFailed) failure_ = {MPI_ERR_ROOT, "as told", true};
    return script->served;
  }
  int Step(const collective::Step& step, const Buffer&, const Buffer&,
           const datatype::Op*) override {
    script->steps.push_back(step.verb);
    return script->step_error;
  }

 private:
  Failure& failure_;
};

constexpr bool Fits(const Call&, const Shape&) { return true; }
constexpr double Free(const Call&, const Shape&, const LinkModel&) { return 0; }
// Without a board, nothing; with one, a fold and a bcast.
void PlanBarrier(const Call& call, const Shape&, Schedule* schedule) {
  if (call.board) schedule->Fold(0, {}, {});
  if (call.board) schedule->Tell(0, {});
  schedule->EndRound();
}
const Algorithm kBarrier{"fake", Operation::kBarrier, Fits, Free, PlanBarrier, false, true};
constexpr const Algorithm* kAlgorithms[] = {&kBarrier};

class Fake final : public Collective, public Convener {
 public:
  std::span<const Algorithm* const> Algorithms() const override { return kAlgorithms; }
  const Convener* convener() const override { return this; }
  Offer offer() const override { return {{}, {Operation::kBarrier}, true, "", ""}; }
  std::unique_ptr<Meeting> Convene(const Place& place) const override {
    script->place.emplace(place);
    if (!script->convenes) return nullptr;
    return std::make_unique<FakeMeeting>(place.failure);
  }
};

class RunTest : public testing::Test {
 protected:
  RunTest() {
    script = &script_;
    process_.identity.job_ranks = kRanks;
    process_.identity.local_peers = {0, 1, 2, 3};
    core::process = &process_;
    comm_.size = kRanks;
    comm_.rank = 1;
    comm_.errhandler = core::FindErrhandler(MPI_ERRORS_RETURN);
    comm_.peers = kPeers;
    Registry registry;
    EXPECT_TRUE(registry
                    .Add({{"fake", "0.1.0", "test"},
                          [](const Context&) {
                            return component::Offer{1, "for this test"};
                          },
                          [](const Context&) -> Result<std::unique_ptr<Collective>> {
                            return std::unique_ptr<Collective>(std::make_unique<Fake>());
                          },
                          nullptr})
                    .ok());
    EXPECT_TRUE(Install(registry, {}).ok());
  }
  ~RunTest() override {
    collective::Free(&comm_);
    Uninstall();
    core::process = nullptr;
  }
  int Barrier() {
    Invocation barrier;
    barrier.operation = Operation::kBarrier;
    barrier.comm = &comm_;
    return collective::Run(barrier);
  }

  static constexpr int kRanks = 4;
  static constexpr PeerId kPeers[kRanks] = {PeerId{0}, PeerId{1}, PeerId{2}, PeerId{3}};
  Script script_;
  core::Process process_;
  core::Comm comm_;
};

TEST_F(RunTest, ACallThatTheMeetingServesIsDone) {
  EXPECT_EQ(Barrier(), MPI_SUCCESS);
  EXPECT_EQ(Barrier(), MPI_SUCCESS);
  EXPECT_EQ(script_.asked.size(), 2u);
  EXPECT_TRUE(script_.steps.empty());
  EXPECT_EQ(comm_.collective_serial, 0u) << "no plan was run";
}

TEST_F(RunTest, AFailureOfTheMeetingIsReported) {
  script_.served = Served::kFailed;
  EXPECT_EQ(Barrier(), MPI_ERR_ROOT);
  EXPECT_EQ(comm_.collectives->failure.text, "as told");
  EXPECT_EQ(comm_.collective_serial, 0u);
}

TEST_F(RunTest, WhatTheMeetingLeavesGoesByMessages) {
  script_.served = Served::kByMessages;
  EXPECT_EQ(Barrier(), MPI_SUCCESS);
  EXPECT_EQ(comm_.collective_serial, 1u) << "a plan was run";
  EXPECT_TRUE(script_.steps.empty());
}

TEST_F(RunTest, StepsAtABoardComeBackToTheMeeting) {
  script_.served = Served::kBySteps;
  EXPECT_EQ(Barrier(), MPI_SUCCESS);
  EXPECT_EQ(comm_.collective_serial, 1u);
  EXPECT_EQ(script_.steps, (std::vector{Verb::kFold, Verb::kTell}));
  script_.step_error = MPI_ERR_PROC_ABORTED;
  EXPECT_EQ(Barrier(), MPI_ERR_PROC_ABORTED);
}

TEST_F(RunTest, WhereErrorsEndTheJobNothingIsDoneBehindOne) {
  script_.served = Served::kBySteps;
  script_.step_error = MPI_ERR_TRUNCATE;
  comm_.errhandler = core::FindErrhandler(MPI_ERRORS_ARE_FATAL);
  const auto barrier = [this] {
    Barrier();
    _exit(0);  // it has come back
  };
  EXPECT_EXIT(barrier(), testing::ExitedWithCode(MPI_ERR_TRUNCATE), "counts or datatypes");
}

TEST_F(RunTest, TheMeetingIsConvenedOnceAndToldWhereItIs) {
  EXPECT_EQ(Barrier(), MPI_SUCCESS);
  ASSERT_TRUE(script_.place.has_value());
  EXPECT_EQ(script_.place->comm, &comm_);
  EXPECT_TRUE(script_.place->operations.Has(Operation::kBarrier));
  EXPECT_FALSE(script_.place->operations.Has(Operation::kBcast));
  EXPECT_TRUE(script_.place->named.empty());
  script_.place.reset();
  EXPECT_EQ(Barrier(), MPI_SUCCESS);
  EXPECT_FALSE(script_.place.has_value());
}

TEST_F(RunTest, WithoutAMeetingEverythingGoesByMessages) {
  script_.convenes = false;
  EXPECT_EQ(Barrier(), MPI_SUCCESS);
  EXPECT_TRUE(script_.asked.empty());
  EXPECT_EQ(comm_.collective_serial, 1u);
}

TEST_F(RunTest, NobodyMeetsWhereItIsNotKnownWhoIsOnANode) {
  process_.identity.local_peers = {0, 1};
  EXPECT_EQ(Barrier(), MPI_SUCCESS);
  EXPECT_FALSE(script_.place.has_value());
}

}  // namespace
}  // namespace lamina::collective
