// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/wire/messages.h"

#include <set>
#include <utility>

#include "launcher/wire/bytes.h"
#include "launcher/wire/frame.h"

namespace lamina::launcher::wire {
namespace {

constexpr std::uint8_t kNoRankBy = 255;
constexpr std::uint32_t kRanksMax = 1u << 20;  // so that few bytes cannot ask for much memory

Status Malformed(const char* what) {
  return Error(Code::kInvalid, "%s on the stream makes no sense", what);
}

void PutTexts(const std::vector<std::string>& texts, Writer* writer) {
  writer->U32(static_cast<std::uint32_t>(texts.size()));
  for (const std::string& text : texts) writer->Text(text);
}

std::vector<std::string> GetTexts(Reader* reader) {
  std::vector<std::string> texts;
  const std::uint32_t count = reader->Count(4);
  texts.reserve(count);
  for (std::uint32_t i = 0; i < count && reader->ok(); ++i) texts.emplace_back(reader->Text());
  return texts;
}

void PutNumbers(const std::vector<std::uint32_t>& numbers, Writer* writer) {
  writer->U32(static_cast<std::uint32_t>(numbers.size()));
  for (const std::uint32_t number : numbers) writer->U32(number);
}

std::vector<std::uint32_t> GetNumbers(Reader* reader) {
  std::vector<std::uint32_t> numbers(reader->Count(4));
  for (std::uint32_t& number : numbers) number = reader->U32();
  return numbers;
}

// Ranks follow each other on a host or from host to host, so runs of them are written at once.
struct Run {
  std::uint32_t count = 0, app = 0, host = 0, host_step = 0, local = 0, local_step = 0;

  bool Next(const RankPlan& rank) const {
    return rank.app == app && rank.host == host + count * host_step &&
           rank.local_rank == local + count * local_step;
  }
};

void PutPlaces(const std::vector<RankPlan>& ranks, Writer* writer) {
  std::vector<Run> runs;
  for (const RankPlan& rank : ranks) {
    if (!runs.empty() && runs.back().count == 1) {
      runs.back().host_step = rank.host - runs.back().host;
      runs.back().local_step = rank.local_rank - runs.back().local;
    }
    if (runs.empty() || !runs.back().Next(rank))
      runs.push_back({0, rank.app, rank.host, 0, rank.local_rank, 0});
    ++runs.back().count;
  }
  writer->U32(static_cast<std::uint32_t>(runs.size()));
  for (const Run& run : runs)
    writer->U32(run.count)
        .U32(run.app)
        .U32(run.host)
        .U32(run.host_step)
        .U32(run.local)
        .U32(run.local_step);
}

// Returns false if there are more ranks than there may be, or one names a host or a program that is
// not there.
bool GetPlaces(Reader* reader, Plan* plan) {
  const std::uint32_t runs = reader->Count(24);
  for (std::uint32_t i = 0; i < runs && reader->ok(); ++i) {
    const Run run{reader->U32(), reader->U32(), reader->U32(),
                  reader->U32(), reader->U32(), reader->U32()};
    if (run.count > kRanksMax - plan->ranks.size() || run.app >= plan->apps.size()) return false;
    for (std::uint32_t at = 0; at < run.count; ++at) {
      RankPlan rank;
      rank.rank = static_cast<std::uint32_t>(plan->ranks.size());
      rank.app = run.app;
      rank.host = run.host + at * run.host_step;
      rank.local_rank = run.local + at * run.local_step;
      if (rank.host >= plan->hosts.size()) return false;
      plan->ranks.push_back(std::move(rank));
    }
  }
  return reader->ok();
}

void PutPlan(const Plan& plan, Writer* writer) {
  writer->U32(static_cast<std::uint32_t>(plan.hosts.size()));
  for (const Host& host : plan.hosts) writer->Text(host.name);
  writer->U32(static_cast<std::uint32_t>(plan.apps.size()));
  for (const App& app : plan.apps) {
    PutTexts(app.argv, writer);
    PutTexts(app.environment, writer);
    writer->Text(app.wdir).Text(app.path).U32(app.ranks);
  }
  PutPlaces(plan.ranks, writer);
  writer->U32(plan.universe_slots);
  const Mapping& mapping = plan.mapping;
  writer->U8(static_cast<std::uint8_t>(mapping.map_by))
      .U8(static_cast<std::uint8_t>(mapping.bind_to))
      .U8(mapping.rank_by ? static_cast<std::uint8_t>(*mapping.rank_by) : kNoRankBy)
      .U32(mapping.ranks_per_object)
      .U32(mapping.cpus_per_rank)
      .U8(mapping.hwthreads_are_cpus ? 1 : 0)
      .Text(mapping.cpu_set);
}

// Returns false if a rank names a host or a program that is not there.
bool GetPlan(Reader* reader, Plan* plan) {
  const std::uint32_t hosts = reader->Count(4);
  for (std::uint32_t i = 0; i < hosts && reader->ok(); ++i) {
    plan->hosts.emplace_back();
    plan->hosts.back().name = std::string(reader->Text());
  }
  const std::uint32_t apps = reader->Count(20);
  for (std::uint32_t i = 0; i < apps && reader->ok(); ++i) {
    App app;
    app.argv = GetTexts(reader);
    app.environment = GetTexts(reader);
    app.wdir = std::string(reader->Text());
    app.path = std::string(reader->Text());
    app.ranks = reader->U32();
    if (app.argv.empty()) return false;
    plan->apps.push_back(std::move(app));
  }
  if (!GetPlaces(reader, plan)) return false;
  plan->universe_slots = reader->U32();
  Mapping& mapping = plan->mapping;
  const std::uint8_t map_by = reader->U8();
  const std::uint8_t bind_to = reader->U8();
  const std::uint8_t rank_by = reader->U8();
  if (map_by > static_cast<std::uint8_t>(MapBy::kRankfile) ||
      bind_to > static_cast<std::uint8_t>(BindTo::kSocket) ||
      (rank_by != kNoRankBy && rank_by > static_cast<std::uint8_t>(MapBy::kRankfile)))
    return false;
  mapping.map_by = static_cast<MapBy>(map_by);
  mapping.bind_to = static_cast<BindTo>(bind_to);
  if (rank_by != kNoRankBy) mapping.rank_by = static_cast<MapBy>(rank_by);
  mapping.ranks_per_object = reader->U32();
  mapping.cpus_per_rank = reader->U32();
  mapping.hwthreads_are_cpus = reader->U8() != 0;
  mapping.cpu_set = std::string(reader->Text());
  return reader->ok();
}

}  // namespace

std::string Encode(const Hello& hello) {
  return Writer()
      .U16(hello.wire_version)
      .Text(hello.version)
      .Text(hello.host)
      .Text(hello.hint)
      .U64(hello.process)
      .Take();
}

// If the wire version is another one, only the two first fields are understood, which is enough to
// say so.
Result<Hello> DecodeHello(std::string_view payload) {
  Reader reader(payload);
  Hello hello;
  hello.wire_version = reader.U16();
  hello.version = std::string(reader.Text());
  if (!reader.ok()) return Malformed("a greeting");
  if (hello.wire_version != kVersion) return hello;
  hello.host = std::string(reader.Text());
  hello.hint = std::string(reader.Text());
  hello.process = reader.U64();
  if (!reader.complete()) return Malformed("a greeting");
  return hello;
}

namespace {

void PutRules(const StartRules& rules, Writer* writer) {
  writer->U32(rules.width).U32(rules.window).U32(rules.attempts).U64(rules.start_ms);
  PutTexts(rules.passing_signs, writer);
  PutTexts(rules.quick_signs, writer);
}

StartRules GetRules(Reader* reader) {
  StartRules rules;
  rules.width = reader->U32();
  rules.window = reader->U32();
  rules.attempts = reader->U32();
  rules.start_ms = reader->U64();
  rules.passing_signs = GetTexts(reader);
  rules.quick_signs = GetTexts(reader);
  return rules;
}

// Returns false if it names a rank that is not there.
bool GetRanks(Reader* reader, Orders* orders) {
  const std::uint32_t ranks = reader->Count(17);
  for (std::uint32_t i = 0; i < ranks && reader->ok(); ++i) {
    RankOrder rank;
    rank.rank = reader->U32();
    rank.reads_input = reader->U8() != 0;
    rank.cpuset = std::string(reader->Text());
    rank.own_environment = GetTexts(reader);
    if (rank.rank >= orders->plan.ranks.size()) return false;
    orders->plan.ranks[rank.rank].place = std::string(reader->Text());
    orders->ranks.push_back(std::move(rank));
  }
  return reader->ok() && !orders->ranks.empty();
}

// Returns false if it names a host that is not there.
bool GetBelow(Reader* reader, Orders* orders) {
  const std::uint32_t below = reader->Count(8);
  for (std::uint32_t i = 0; i < below && reader->ok(); ++i) {
    Below host;
    host.host = reader->U32();
    host.command = GetTexts(reader);
    if (host.host >= orders->plan.hosts.size() || host.command.empty()) return false;
    orders->below.push_back(std::move(host));
  }
  return reader->ok();
}

}  // namespace

std::string Encode(const Orders& orders) {
  Writer writer;
  writer.U32(orders.host)
      .Text(orders.job)
      .Text(orders.directory)
      .U64(orders.silence_ms)
      .U64(orders.open_files_max)
      .U8(orders.profiled ? 1 : 0)
      .U8(orders.held ? 1 : 0)
      .U64(orders.trace_bytes)
      .U8(orders.trace_keeps_first ? 1 : 0);
  PutRules(orders.rules, &writer);
  PutPlan(orders.plan, &writer);
  writer.U32(static_cast<std::uint32_t>(orders.ranks.size()));
  for (const RankOrder& rank : orders.ranks) {
    writer.U32(rank.rank).U8(rank.reads_input ? 1 : 0).Text(rank.cpuset);
    PutTexts(rank.own_environment, &writer);
    writer.Text(orders.plan.ranks[rank.rank].place);
  }
  writer.U32(static_cast<std::uint32_t>(orders.below.size()));
  for (const Below& host : orders.below) {
    writer.U32(host.host);
    PutTexts(host.command, &writer);
  }
  writer.Text(orders.saving.engine)
      .Text(orders.saving.directory)
      .U32(orders.saving.revived)
      .Text(orders.saving.revived_in)
      .U32(orders.saving.last_process)
      .U8(orders.saving.secluded ? 1 : 0)
      .U8(orders.saving.apart ? 1 : 0)
      .Text(orders.saving.mark);
  return writer.Take();
}

Result<Orders> DecodeOrders(std::string_view payload) {
  Reader reader(payload);
  Orders orders;
  orders.host = reader.U32();
  orders.job = std::string(reader.Text());
  orders.directory = std::string(reader.Text());
  orders.silence_ms = reader.U64();
  orders.open_files_max = reader.U64();
  orders.profiled = reader.U8() != 0;
  orders.held = reader.U8() != 0;
  orders.trace_bytes = reader.U64();
  orders.trace_keeps_first = reader.U8() != 0;
  orders.rules = GetRules(&reader);
  if (!GetPlan(&reader, &orders.plan) || orders.host >= orders.plan.hosts.size() ||
      orders.job.size() < 16 || !GetRanks(&reader, &orders) || !GetBelow(&reader, &orders))
    return Malformed("an order to start");
  orders.saving.engine = std::string(reader.Text());
  orders.saving.directory = std::string(reader.Text());
  orders.saving.revived = reader.U32();
  orders.saving.revived_in = std::string(reader.Text());
  orders.saving.last_process = reader.U32();
  orders.saving.secluded = reader.U8() != 0;
  orders.saving.apart = reader.U8() != 0;
  orders.saving.mark = std::string(reader.Text());
  if (!reader.complete()) return Malformed("an order to start");
  std::set<std::uint32_t> hosts = {orders.host};
  for (const Below& below : orders.below) hosts.insert(below.host);
  for (const RankOrder& rank : orders.ranks)
    if (!hosts.contains(orders.plan.ranks[rank.rank].host)) return Malformed("an order to start");
  return orders;
}

std::string Encode(const std::vector<Ended>& ends) {
  Writer writer;
  writer.U32(static_cast<std::uint32_t>(ends.size()));
  for (const Ended& ended : ends) {
    writer.U32(ended.rank)
        .U8(ended.kind)
        .U32(static_cast<std::uint32_t>(ended.code))
        .U32(static_cast<std::uint32_t>(ended.signal))
        .U64(ended.process)
        .Text(ended.why)
        .Text(ended.ring_head);
    PutTexts(ended.events, &writer);
    writer.Text(ended.profile);
  }
  return writer.Take();
}

Result<std::vector<Ended>> DecodeEnds(std::string_view payload) {
  Reader reader(payload);
  std::vector<Ended> ends;
  const std::uint32_t count = reader.Count(37);
  for (std::uint32_t i = 0; i < count && reader.ok(); ++i) {
    Ended ended;
    ended.rank = reader.U32();
    ended.kind = reader.U8();
    ended.code = static_cast<std::int32_t>(reader.U32());
    ended.signal = static_cast<std::int32_t>(reader.U32());
    ended.process = reader.U64();
    ended.why = std::string(reader.Text());
    ended.ring_head = std::string(reader.Text());
    ended.events = GetTexts(&reader);
    ended.profile = std::string(reader.Text());
    ends.push_back(std::move(ended));
  }
  if (!reader.complete()) return Malformed("an exit record");
  return ends;
}

std::string Encode(const std::vector<Started>& started) {
  Writer writer;
  writer.U32(static_cast<std::uint32_t>(started.size()));
  for (const Started& each : started) writer.U32(each.rank).U64(each.process);
  return writer.Take();
}

Result<std::vector<Started>> DecodeStarted(std::string_view payload) {
  Reader reader(payload);
  std::vector<Started> started;
  const std::uint32_t count = reader.Count(12);
  for (std::uint32_t i = 0; i < count && reader.ok(); ++i) {
    const std::uint32_t rank = reader.U32();
    started.push_back({rank, reader.U64()});
  }
  if (!reader.complete()) return Malformed("a list of processes");
  return started;
}

std::string Encode(const TracePiece& piece) {
  return Writer().U32(piece.rank).Raw(piece.bytes).Take();
}

Result<TracePiece> DecodeTracePiece(std::string_view payload) {
  Reader reader(payload);
  TracePiece piece;
  piece.rank = reader.U32();
  piece.bytes = reader.Rest();
  if (!reader.complete()) return Malformed("a timeline");
  return piece;
}

std::string Encode(const std::vector<RankUsage>& usage) {
  Writer writer;
  writer.U32(static_cast<std::uint32_t>(usage.size()));
  for (const RankUsage& its : usage)
    writer.U32(its.rank)
        .U64(its.taken_ns)
        .U8(static_cast<std::uint8_t>(its.state))
        .U64(its.cpu_ns)
        .U64(its.memory_bytes)
        .U8(its.counted ? 1 : 0)
        .U64(its.sent_messages)
        .U64(its.sent_bytes)
        .U64(its.received_messages)
        .U64(its.received_bytes)
        .U64(its.unexpected);
  return writer.Take();
}

Result<std::vector<RankUsage>> DecodeUsage(std::string_view payload) {
  constexpr std::size_t kBytes = 70;
  Reader reader(payload);
  std::vector<RankUsage> usage(reader.Count(kBytes));
  bool valid = true;
  for (RankUsage& its : usage) {
    its.rank = reader.U32();
    its.taken_ns = reader.U64();
    its.state = static_cast<char>(reader.U8());
    its.cpu_ns = reader.U64();
    its.memory_bytes = reader.U64();
    const std::uint8_t counted = reader.U8();
    its.counted = counted == 1;
    its.sent_messages = reader.U64();
    its.sent_bytes = reader.U64();
    its.received_messages = reader.U64();
    its.received_bytes = reader.U64();
    its.unexpected = reader.U64();
    // It is shown to people, as the kernel's letter.
    valid = valid && counted <= 1 && its.state >= 'A' && its.state <= 'z';
  }
  if (!reader.complete() || !valid) return Malformed("usage of ranks");
  return usage;
}

std::string Encode(const Gone& gone) {
  Writer writer;
  writer.U8(gone.lost ? 1 : 0);
  PutNumbers(gone.hosts, &writer);
  return writer.Text(gone.why).Take();
}

Result<Gone> DecodeGone(std::string_view payload) {
  Reader reader(payload);
  Gone gone;
  gone.lost = reader.U8() != 0;
  gone.hosts = GetNumbers(&reader);
  gone.why = std::string(reader.Text());
  if (!reader.complete()) return Malformed("a loss");
  return gone;
}

std::string Encode(const Ready& ready) {
  return Writer().U32(ready.sharing_host).Text(ready.why).Take();
}

Result<Ready> DecodeReady(std::string_view payload) {
  Reader reader(payload);
  Ready ready;
  ready.sharing_host = reader.U32();
  ready.why = std::string(reader.Text());
  if (!reader.complete()) return Malformed("readiness");
  return ready;
}

std::string Encode(const Start& start) {
  return Writer().U8(start.sharing == Sharing::kShared ? 1 : 0).Take();
}

Result<Start> DecodeStart(std::string_view payload) {
  Reader reader(payload);
  Start start;
  start.sharing = reader.U8() != 0 ? Sharing::kShared : Sharing::kExclusive;
  if (!reader.complete()) return Malformed("a start");
  return start;
}

std::string Encode(const Piece& piece) {
  return Writer().U32(piece.rank).U8(piece.stream).Raw(piece.bytes).Take();
}

Result<Piece> DecodePiece(std::string_view payload) {
  Reader reader(payload);
  Piece piece;
  piece.rank = reader.U32();
  piece.stream = reader.U8();
  piece.bytes = reader.Rest();
  if (!reader.ok() || piece.stream > 2) return Malformed("a piece of input or output");
  return piece;
}

std::string Encode(const Credit& credit) {
  return Writer().U32(credit.rank).U8(credit.stream).U32(credit.bytes).Take();
}

Result<Credit> DecodeCredit(std::string_view payload) {
  Reader reader(payload);
  Credit credit;
  credit.rank = reader.U32();
  credit.stream = reader.U8();
  credit.bytes = reader.U32();
  if (!reader.complete() || credit.stream > 2) return Malformed("a credit");
  return credit;
}

std::string Encode(const SignalOrder& order) {
  Writer writer;
  writer.U32(order.signal);
  PutNumbers(order.ranks, &writer);
  return writer.Take();
}

Result<SignalOrder> DecodeSignal(std::string_view payload) {
  Reader reader(payload);
  SignalOrder order;
  order.signal = reader.U32();
  order.ranks = GetNumbers(&reader);
  if (!reader.complete() || order.signal == 0 || order.signal > 64) return Malformed("a signal");
  return order;
}

std::string Encode(const Beat& beat) {
  Writer writer;
  writer.U32(static_cast<std::uint32_t>(beat.heads.size()));
  for (const Beat::Head& head : beat.heads) writer.U32(head.rank).Text(head.ring_head);
  return writer.Take();
}

Result<Beat> DecodeBeat(std::string_view payload) {
  Reader reader(payload);
  Beat beat;
  const std::uint32_t heads = reader.Count(8);
  for (std::uint32_t i = 0; i < heads && reader.ok(); ++i) {
    Beat::Head head;
    head.rank = reader.U32();
    head.ring_head = std::string(reader.Text());
    beat.heads.push_back(std::move(head));
  }
  if (!reader.complete()) return Malformed("a heartbeat");
  return beat;
}

std::string Encode(const Ping& ping) {
  return Writer().U32(ping.host).U64(ping.sent_ns).U8(ping.usage ? 1 : 0).U64(ping.clock_ns).Take();
}

Result<Ping> DecodePing(std::string_view payload) {
  Reader reader(payload);
  Ping ping;
  ping.host = reader.U32();
  ping.sent_ns = reader.U64();
  const std::uint8_t usage = reader.U8();
  ping.usage = usage == 1;
  ping.clock_ns = reader.U64();
  if (!reader.complete() || usage > 1) return Malformed("a ping");
  return ping;
}

std::string Encode(const Visit& visit) {
  return Writer().U32(visit.host).U64(visit.guest).Raw(visit.bytes).Take();
}

Result<Visit> DecodeVisit(std::string_view payload) {
  Reader reader(payload);
  Visit visit;
  visit.host = reader.U32();
  visit.guest = reader.U64();
  visit.bytes = reader.Rest();
  if (!reader.ok()) return Malformed("a visit");
  return visit;
}

std::string Encode(const SavingWord& word) {
  Writer writer;
  writer.U32(word.rank)
      .U8(static_cast<std::uint8_t>(word.kind))
      .Text(word.bytes)
      .U64(word.process)
      .U32(word.last_process);
  PutTexts(word.links, &writer);
  writer.U64(word.input_bytes);
  return writer.Take();
}

Result<SavingWord> DecodeSavingWord(std::string_view payload) {
  Reader reader(payload);
  SavingWord word;
  word.rank = reader.U32();
  const std::uint8_t kind = reader.U8();
  word.bytes = std::string(reader.Text());
  word.process = reader.U64();
  word.last_process = reader.U32();
  word.links = GetTexts(&reader);
  word.input_bytes = reader.U64();
  if (!reader.complete() || kind > static_cast<std::uint8_t>(SavingWord::Kind::kStore))
    return Malformed("a word about saving");
  word.kind = static_cast<SavingWord::Kind>(kind);
  return word;
}

std::string Encode(const StoreWord& word) {
  Writer writer;
  writer.U8(static_cast<std::uint8_t>(word.kind))
      .U32(word.host)
      .U32(word.generation)
      .U32(word.rank);
  PutNumbers(word.ranks, &writer);
  writer.U32(static_cast<std::uint32_t>(word.files.size()));
  for (const StoreWord::File& file : word.files)
    writer.Text(file.name).U64(file.bytes).U32(file.checksum);
  writer.U32(word.to).Text(word.name).U64(word.at).Text(word.text).Text(word.bytes);
  return writer.Take();
}

Result<StoreWord> DecodeStoreWord(std::string_view payload) {
  Reader reader(payload);
  StoreWord word;
  const std::uint8_t kind = reader.U8();
  word.host = reader.U32();
  word.generation = reader.U32();
  word.rank = reader.U32();
  word.ranks = GetNumbers(&reader);
  const std::uint32_t files = reader.Count(16);  // a name's length, a length and a checksum
  for (std::uint32_t i = 0; i < files; ++i) {
    StoreWord::File& file = word.files.emplace_back();
    file.name = std::string(reader.Text());
    file.bytes = reader.U64();
    file.checksum = reader.U32();
  }
  word.to = reader.U32();
  word.name = std::string(reader.Text());
  word.at = reader.U64();
  word.text = std::string(reader.Text());
  word.bytes = std::string(reader.Text());
  if (!reader.complete() || kind > static_cast<std::uint8_t>(StoreWord::Kind::kTaken))
    return Malformed("a word about a directory of saved states");
  word.kind = static_cast<StoreWord::Kind>(kind);
  return word;
}

}  // namespace lamina::launcher::wire
