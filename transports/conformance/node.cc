// SPDX-License-Identifier: BSD-3-Clause
#include "transports/conformance/node.h"

#include <gtest/gtest-spi.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace lamina::conformance {

std::vector<std::byte> PatternOf(std::uint64_t number, std::size_t bytes) {
  std::vector<std::byte> pattern(bytes);
  std::uint64_t state = number * 0x9e3779b97f4a7c15u + bytes;
  for (std::size_t i = 0; i < bytes; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    pattern[i] = static_cast<std::byte>(state >> 56);
  }
  return pattern;
}

PeerId CheckingInbox::Identify(transport::ProcessName name) {
  ++identified;
  return PeerId{static_cast<std::uint32_t>(static_cast<std::uint64_t>(name) - 1000)};
}

void CheckingInbox::Arrived(PeerId from, const transport::Header& header,
                            std::span<const std::byte> payload) {
  EXPECT_EQ(lost.count(from), 0u) << "a frame from a lost peer";
  const std::uint64_t number = ++arrived[from];
  EXPECT_EQ(header.words[0], number) << "from peer " << Index(from);
  ASSERT_EQ(header.words[1], payload.size()) << "frame " << number;
  const auto pattern = PatternOf(header.words[0], payload.size());
  EXPECT_TRUE(std::equal(payload.begin(), payload.end(), pattern.begin()))
      << "frame " << number << " of " << payload.size() << " bytes has changed";
  if (on_arrival) on_arrival(from);
}

void CheckingInbox::Offered(PeerId from, const transport::Header& header, std::size_t bytes,
                            transport::Parcel* parcel) {
  ++offered;
  EXPECT_EQ(header.words[0], ++arrived[from]) << "from peer " << Index(from);
  EXPECT_EQ(header.words[1], bytes);
  kept_.push_back({{Fetched}, this, parcel, header.words[0], std::vector<std::byte>(bytes)});
  if (!keep) AcceptKept();
}

void CheckingInbox::AcceptKept() {
  ASSERT_FALSE(kept_.empty());
  fetching_.splice(fetching_.end(), kept_, kept_.begin());
  Kept& kept = fetching_.back();
  kept.parcel->Accept(kept.place, &kept);
}

void CheckingInbox::DropKept() {
  ASSERT_FALSE(kept_.empty());
  kept_.front().parcel->Drop();
  kept_.pop_front();
}

void CheckingInbox::Fetched(transport::Completion* completion, Code code) {
  auto* const kept = static_cast<Kept*>(completion);
  CheckingInbox* const inbox = kept->inbox;
  ++(code == Code::kOk ? inbox->fetched : inbox->failed);
  if (code == Code::kOk) {
    EXPECT_EQ(kept->place, PatternOf(kept->number, kept->place.size()));
  } else {
    EXPECT_EQ(code, Code::kPeerLost);
  }
  inbox->fetching_.remove_if([kept](const Kept& it) { return &it == kept; });
}

void CheckingInbox::Lost(PeerId peer, Status why) {
  EXPECT_EQ(lost.count(peer), 0u) << "lost twice";
  EXPECT_EQ(why.code(), Code::kPeerLost);
  EXPECT_FALSE(why.message().empty());
  lost[peer] = why.message();
}

Node::Node(const Configuration& configuration, std::uint32_t id, std::uint32_t nodes)
    : configuration_(configuration), environment_(Environment::OfThisProcess()) {
  for (const std::string& param : configuration.params)
    EXPECT_TRUE(settings_.AddCommandLine(param).ok()) << param;
  transport::Context context;
  context.settings = &settings_;
  context.environment = &environment_;
  context.self = transport::ProcessName{id + 1000};
  context.node = "testnode";
  context.local_ranks = context.job_ranks = nodes;
  context.sharing = configuration.sharing;
  context.inbox = &inbox_;
  if (configuration.node_memory >= 0) {
    // Several nodes may be in this process, and each closes its descriptor.
    const int own = dup(configuration.node_memory);
    const std::string place = std::to_string(getpid()) + ":" + std::to_string(own);
    auto opened = NodeMemory::Open(place, "conformance");
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    if (opened.ok()) node_memory_ = *std::move(opened);
    context.node_memory = node_memory_.get();
  }
  const transport::Component component = configuration.describe();
  const component::Offer offer = component.query(context);
  EXPECT_GE(offer.priority, 0) << offer.why;
  auto made = component.make(context);
  EXPECT_TRUE(made.ok()) << made.status().message();
  if (made.ok()) transport_ = *std::move(made);
}

std::vector<std::byte> Node::Address() {
  auto address = transport_->LocalAddress();
  EXPECT_TRUE(address.ok()) << address.status().message();
  return address.ok() ? *address : std::vector<std::byte>();
}

Status Node::Connect(std::uint32_t id, std::span<const std::byte> address) {
  auto endpoint = transport_->Connect(PeerId{id}, address);
  if (!endpoint.ok()) return std::move(endpoint).status();
  endpoints_[id] = *std::move(endpoint);
  return {};
}

Code Node::TrySend(std::uint32_t id, std::size_t bytes) {
  const std::uint64_t number = sent_[id] + 1;
  std::vector<std::byte> payload = PatternOf(number, bytes);
  const Code code = to(id).SendShort({{{number, bytes}}, payload});
  if (code == Code::kOk) sent_[id] = number;
  // Copied on return, so what becomes of it does not matter.
  std::fill(payload.begin(), payload.end(), std::byte{0xee});
  return code;
}

Code Node::Send(std::uint32_t id, std::size_t bytes, const std::function<void()>& meanwhile) {
  const auto deadline = Clock::now() + kPatience;
  Code code;
  while ((code = TrySend(id, bytes)) == Code::kAgain && Clock::now() < deadline) {
    transport_->Progress(16);
    if (meanwhile) meanwhile();
  }
  return code;
}

bool Node::PollUntil(const std::function<bool()>& done, milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  while (!done()) {
    if (Clock::now() > deadline) return false;
    if (transport_->Progress(16) == 0) sched_yield();
  }
  return true;
}

bool Node::WaitFor(const transport::Bell& bell, milliseconds limit) {
  if (configuration_.descriptor_sleep) {
    EXPECT_GE(bell.descriptor, 0);
    pollfd waiting{bell.descriptor, POLLIN, 0};
    return poll(&waiting, 1, static_cast<int>(limit.count())) != 0;
  }
  if (bell.word == nullptr) {
    ADD_FAILURE() << "neither a word nor a descriptor";
    return false;
  }
  const timespec time{static_cast<time_t>(limit.count() / 1000),
                      static_cast<long>(limit.count() % 1000) * 1'000'000};
  return syscall(SYS_futex, bell.word, FUTEX_WAIT, bell.value, &time, nullptr, 0) == 0 ||
         errno != ETIMEDOUT;
}

bool Node::SleepOnce(milliseconds limit) {
  transport::Bell bell;
  const Code code = transport_->Arm(configuration_.descriptor_sleep, &bell);
  if (code == Code::kAgain) return false;
  EXPECT_EQ(code, Code::kOk);
  const auto begin = Clock::now();
  WaitFor(bell, limit);
  longest_sleep =
      std::max(longest_sleep, std::chrono::duration_cast<milliseconds>(Clock::now() - begin));
  transport_->Disarm();
  return true;
}

bool Node::SleepUntil(const std::function<bool()>& done, milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  while (!done()) {
    if (Clock::now() > deadline) return false;
    if (transport_->Progress(16) == 0 && !done()) SleepOnce(milliseconds(5000));
  }
  return true;
}

void RunUnderExceptions(const Configuration& configuration, const std::function<void()>& body) {
  std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
  test = test.substr(0, test.find('/'));
  const auto named = [&test](const Exception& exception) { return exception.test == test; };
  for (const Exception& exception : configuration.unsupported)
    if (named(exception)) GTEST_SKIP() << exception.why;
  const auto& failures = configuration.expected_failures;
  const auto expected = std::find_if(failures.begin(), failures.end(), named);
  if (expected == failures.end()) return body();
  testing::TestPartResultArray results;
  {
    testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &results);
    body();
  }
  int failed = 0;
  for (int i = 0; i < results.size(); ++i) failed += results.GetTestPartResult(i).failed();
  EXPECT_GT(failed, 0) << "passes, though it is listed as failing: " << expected->why;
}

}  // namespace lamina::conformance
