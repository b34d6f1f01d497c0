// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/plugin/plugin.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "collectives/collective_abi.h"
#include "runtime/base/log.h"

namespace lamina::collective {
namespace {

constexpr std::size_t kAlgorithmBytesMin =
    offsetof(lamina_algorithm, plan) + sizeof(lamina_algorithm::plan);

const std::int64_t* Pointer(std::span<const std::int64_t> values) {
  return values.empty() ? nullptr : values.data();
}

lamina_call ToC(const Call& call) {
  return {.struct_size = sizeof(lamina_call),
          .commutative = call.commutative,
          .all_in_place = call.all_in_place,
          .root = call.root,
          .bytes = call.bytes,
          .in_place = call.in_place,
          .reserved = 0,
          .input_count = call.input_count,
          .output_count = call.output_count,
          .input_counts = Pointer(call.input_counts),
          .input_displacements = Pointer(call.input_displacements),
          .output_counts = Pointer(call.output_counts),
          .output_displacements = Pointer(call.output_displacements)};
}

lamina_shape ToC(const Shape& shape) {
  static_assert(sizeof(Rank) == sizeof(std::int32_t));
  return {.struct_size = sizeof(lamina_shape),
          .ranks = shape.ranks,
          .rank = shape.rank,
          .remote_ranks = shape.remote_ranks,
          .grid = shape.grid,
          .source_count = static_cast<std::int32_t>(shape.sources.size()),
          .destination_count = static_cast<std::int32_t>(shape.destinations.size()),
          .nodes = shape.nodes,
          .sources = shape.sources.data(),
          .destinations = shape.destinations.data()};
}

lamina_link ToC(const LinkModel& link) {
  return {.struct_size = sizeof(lamina_link),
          .reserved = 0,
          .alpha_us = link.alpha_us,
          .overhead_us = link.overhead_us,
          .beta_us_per_byte = link.beta_us_per_byte,
          .gamma_us_per_byte = link.gamma_us_per_byte,
          .crowd = link.crowd,
          .turn_us = link.turn_us,
          .sharers = link.sharers};
}

const lamina_algorithm& Foreign(const void* object) {
  return *static_cast<const lamina_algorithm*>(object);
}

// A plan from outside writes into this. A step that no plan may have ends the process, because
// going on would hang the job or destroy memory.
struct Writer : lamina_schedule {
  const lamina_algorithm* algorithm;
  Schedule* schedule;
  Rank self;
  Rank peers;                      // ranks of this group and of the remote one
  Rank input_types, output_types;  // blocks with their own datatypes; 0 except in w-forms

  void Refuse(const char* what, long long value) {
    Log(lamina::Level::kError, "collective",
        "algorithm %s of %s, from a component outside: its plan %s %lld", algorithm->name,
        algorithm->operation, what, value);
    std::abort();
  }
  Slice Checked(const lamina_slice* slice) {
    if (slice->where < LAMINA_INPUT || slice->where > LAMINA_SCRATCH)
      Refuse("has a slice of place", slice->where);
    if (slice->first < 0) Refuse("has a slice that begins at", slice->first);
    if (slice->count < 0) Refuse("has a slice of length", slice->count);
    if (slice->type_of < -1 ||
        slice->type_of >= (slice->where == LAMINA_INPUT ? input_types : output_types))
      Refuse("has a slice of the datatype of block", slice->type_of);
    return {static_cast<Where>(slice->where), slice->first, slice->count, slice->type_of};
  }
  Rank Peer(std::int32_t peer) {
    if (peer < 0 || peer >= peers || peer == self) Refuse("has a message with rank", peer);
    return peer;
  }
};

Writer& Of(lamina_schedule* schedule) { return *static_cast<Writer*>(schedule); }

void Send(lamina_schedule* to, std::int32_t peer, const lamina_slice* from) {
  Of(to).schedule->Send(Of(to).Peer(peer), Of(to).Checked(from));
}
void Receive(lamina_schedule* to, std::int32_t peer, const lamina_slice* into) {
  Of(to).schedule->Receive(Of(to).Peer(peer), Of(to).Checked(into));
}
void Copy(lamina_schedule* to, const lamina_slice* from, const lamina_slice* into) {
  Of(to).schedule->Copy(Of(to).Checked(from), Of(to).Checked(into));
}
void Reduce(lamina_schedule* to, const lamina_slice* from, const lamina_slice* into) {
  Of(to).schedule->Reduce(Of(to).Checked(from), Of(to).Checked(into));
}
void EndRound(lamina_schedule* to) { Of(to).schedule->EndRound(); }
void Scratch(lamina_schedule* to, std::int64_t elements) {
  if (elements < 0) Of(to).Refuse("wants scratch elements", elements);
  Of(to).schedule->scratch_elements = elements;
}

bool Fits(const void* object, const Call& call, const Shape& shape) {
  const lamina_algorithm& algorithm = Foreign(object);
  if (algorithm.fits == nullptr) return true;
  const lamina_call c_call = ToC(call);
  const lamina_shape c_shape = ToC(shape);
  return algorithm.fits(&algorithm, &c_call, &c_shape) != 0;
}

double CostUs(const void* object, const Call& call, const Shape& shape, const LinkModel& link) {
  const lamina_algorithm& algorithm = Foreign(object);
  if (algorithm.cost_us == nullptr) return 0;
  const lamina_call c_call = ToC(call);
  const lamina_shape c_shape = ToC(shape);
  const lamina_link c_link = ToC(link);
  return algorithm.cost_us(&algorithm, &c_call, &c_shape, &c_link);
}

void Plan(const void* object, const Call& call, const Shape& shape, Schedule* schedule) {
  const lamina_algorithm& algorithm = Foreign(object);
  const lamina_call c_call = ToC(call);
  const lamina_shape c_shape = ToC(shape);
  const bool typed = Typed(call.operation);
  Writer writer{{sizeof(lamina_schedule), Send, Receive, Copy, Reduce, EndRound, Scratch},
                &algorithm,
                schedule,
                shape.rank,
                shape.ranks + shape.remote_ranks,
                typed ? static_cast<Rank>(call.input_counts.size()) : 0,
                typed ? static_cast<Rank>(call.output_counts.size()) : 0};
  algorithm.plan(&algorithm, &c_call, &c_shape, &writer);
  schedule->EndRound();  // the last round may have been left open
}

std::optional<Operation> OperationNamed(const char* name) {
  for (std::size_t i = 0; i < kOperations; ++i)
    if (std::strcmp(Name(static_cast<Operation>(i)), name) == 0) return static_cast<Operation>(i);
  return std::nullopt;
}

class Foreigners final : public Collective {
 public:
  // `list` ends in null. An entry is left out if it cannot be an algorithm, or is one for an
  // operation that this library does not know.
  explicit Foreigners(const lamina_algorithm* const* list) {
    for (; *list != nullptr; ++list) {
      const lamina_algorithm& one = **list;
      if (one.struct_size < kAlgorithmBytesMin || one.plan == nullptr || one.name == nullptr ||
          one.operation == nullptr)
        continue;
      const std::optional<Operation> operation = OperationNamed(one.operation);
      if (!operation) continue;
      all_.push_back(std::make_unique<Algorithm>(Algorithm{
          one.name, *operation, {Fits, &one}, {CostUs, &one}, {Plan, &one}, one.inter != 0}));
      pointers_.push_back(all_.back().get());
    }
  }
  std::span<const Algorithm* const> Algorithms() const override { return pointers_; }

 private:
  std::vector<std::unique_ptr<Algorithm>> all_;
  std::vector<const Algorithm*> pointers_;
};

Result<std::unique_ptr<Collective>> Wrap(const component::Plugin& plugin, const Context&) {
  const auto actions = component::ActionsOf<lamina_collective_actions>(plugin);
  const lamina_algorithm* const* list =
      actions.algorithms == nullptr ? nullptr : actions.algorithms();
  if (list == nullptr) return Error(Code::kUnsupported, "it offers no algorithms");
  return std::unique_ptr<Collective>(std::make_unique<Foreigners>(list));
}

}  // namespace

std::vector<component::Refusal> AddPlugins(const std::vector<std::string>& directories,
                                           Registry* registry) {
  component::Plugins plugins =
      component::LoadPlugins({"collective", LAMINA_COLLECTIVE_MAJOR}, directories);
  for (const component::Plugin& plugin : plugins.loaded)
    if (Status status = registry->Add(component::Adapt<Collective, Context>(plugin, Wrap));
        !status.ok())
      plugins.refused.push_back({plugin.info.source, std::string(status.message())});
  return std::move(plugins.refused);
}

}  // namespace lamina::collective
