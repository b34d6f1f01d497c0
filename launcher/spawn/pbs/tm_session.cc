// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/spawn/pbs/tm_session.h"

#include <optional>
#include <utility>

#include "runtime/base/text.h"

namespace lamina::launcher::pbs {
namespace {

constexpr std::string_view kFrameMagic("PKTV1", 6);  // with its zero
// The byte behind the magic is 0 in requests. pbs_mom leaves it uninitialised in its replies, so
// nobody may look at it there.
constexpr std::size_t kFrameLengthAt = 7;
constexpr std::size_t kFrameHeaderBytes = 11;
constexpr std::size_t kFrameBytesMax = 16u << 20;
constexpr std::int64_t kError = 999;
constexpr std::int64_t kNodesMax = 1 << 20;
constexpr std::size_t kDigitsMax = 20;

std::int64_t CommandOf(TmReply::Kind kind) {
  switch (kind) {
    case TmReply::Kind::kInit:
      return 100;
    case TmReply::Kind::kSpawn:
      return 102;
    case TmReply::Kind::kSignal:
      return 103;
    case TmReply::Kind::kObit:
      return 104;
  }
  return 0;
}

// Reads DIS from the front of a text; `ok` becomes false at the end (more may come) and `bad` when
// it is not DIS.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  std::size_t taken() const { return at_; }
  bool ok() const { return ok_; }
  bool bad() const { return bad_; }

  std::int64_t Integer() {
    std::size_t digits = 1;
    while (true) {
      const std::string_view sign = Take(1);
      if (!ok_) return 0;
      if (sign == "+" || sign == "-") {
        const auto value = ParseInteger(Take(digits));
        if (ok_ && (!value || *value < 0)) return Spoil();
        return sign == "-" ? -value.value_or(0) : value.value_or(0);
      }
      // This is not the value yet but the number of its digits, or of that number's digits.
      std::string count(sign);
      count += Take(digits - 1);
      const auto more = ParseInteger(count);
      if (!ok_) return 0;
      if (!more || *more < 2 || *more > static_cast<std::int64_t>(kDigitsMax)) return Spoil();
      digits = static_cast<std::size_t>(*more);
    }
  }

  std::string_view Text() {
    const std::int64_t bytes = Integer();
    if (!ok_ || bytes < 0 || bytes > static_cast<std::int64_t>(kFrameBytesMax)) {
      if (ok_) Spoil();
      return {};
    }
    return Take(static_cast<std::size_t>(bytes));
  }

 private:
  std::string_view Take(std::size_t bytes) {
    if (!ok_ || text_.size() - at_ < bytes) {
      ok_ = false;
      return {};
    }
    at_ += bytes;
    return text_.substr(at_ - bytes, bytes);
  }
  std::int64_t Spoil() {
    bad_ = true;
    ok_ = false;
    return 0;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool ok_ = true;
  bool bad_ = false;
};

}  // namespace

std::string DisInteger(std::int64_t value) {
  std::string text = std::to_string(value);
  if (value >= 0) text.insert(0, "+");
  for (std::size_t digits = text.size() - 1; digits > 1;) {
    const std::string count = std::to_string(digits);
    text.insert(0, count);
    digits = count.size();
  }
  return text;
}

std::string DisText(std::string_view text) {
  return DisInteger(static_cast<std::int64_t>(text.size())) + std::string(text);
}

std::string ErrorText(std::int64_t error) {
  const char* text = error == 17000   ? "system error"
                     : error == 17002 ? "not connected"
                     : error == 17003 ? "unknown event"
                     : error == 17004 ? "not implemented"
                     : error == 17005 ? "bad environment"
                     : error == 17006 ? "no such node or task"
                     : error == 17007 ? "already initialised"
                                      : "error";
  return Format("%s (%lld)", text, static_cast<long long>(error));
}

Result<TmSession> TmSession::Open(const Environment& environment) {
  for (const char* name : {"PBS_JOBID", "PBS_JOBCOOKIE", "PBS_TASKNUM", "PBS_MOMPORT"})
    if (environment.Get(name).value_or("").empty())
      return Error(Code::kNotFound, "%s is not set: mpiexec was not started by pbs_mom", name);
  TmSession session;
  session.job_ = *environment.Get("PBS_JOBID");
  session.cookie_ = *environment.Get("PBS_JOBCOOKIE");
  const std::string task = *environment.Get("PBS_TASKNUM");
  for (const char digit : task) {  // hexadecimal
    const std::size_t value =
        std::string_view("0123456789abcdef")
            .find(static_cast<char>(digit >= 'A' && digit <= 'F' ? digit - 'A' + 'a' : digit));
    if (value == std::string_view::npos || task.size() > 8)
      return Error(Code::kInvalid, "PBS_TASKNUM=%s is not a number", task.c_str());
    session.task_ = session.task_ * 16 + static_cast<std::int64_t>(value);
  }
  session.torque_ = environment.Get("PBS_VERSION").value_or("").starts_with("TORQUE") ||
                    environment.Get("PBS_VNODENUM").has_value();
  return session;
}

std::string TmSession::Request(TmReply::Kind kind, std::string_view body, std::int64_t* event) {
  *event = next_event_++;
  waiting_.emplace(*event, kind);
  std::string message = DisInteger(torque_ ? 5 : 2) + DisInteger(2) + DisText(job_) +
                        DisText(cookie_) + DisInteger(CommandOf(kind)) + DisInteger(*event) +
                        DisInteger(task_) + std::string(body);
  if (torque_) return message;
  std::string frame(kFrameMagic);
  frame.resize(kFrameLengthAt);
  for (int shift = 24; shift >= 0; shift -= 8)
    frame += static_cast<char>(message.size() >> shift & 0xff);
  return frame + message;
}

std::string TmSession::Init(std::int64_t* event) {
  return Request(TmReply::Kind::kInit, "", event);
}

std::string TmSession::Spawn(std::int64_t node, std::span<const std::string> argv,
                             std::span<const std::string> environment, std::int64_t* event) {
  std::string body = DisInteger(node) + DisInteger(static_cast<std::int64_t>(argv.size()));
  for (const std::string& word : argv) body += DisText(word);
  for (const std::string& assignment : environment) body += DisText(assignment);
  return Request(TmReply::Kind::kSpawn, body + DisText(""), event);
}

std::string TmSession::Signal(std::int64_t node, std::int64_t task, int signal,
                              std::int64_t* event) {
  return Request(TmReply::Kind::kSignal, DisInteger(node) + DisInteger(task) + DisInteger(signal),
                 event);
}

std::string TmSession::Obit(std::int64_t node, std::int64_t task, std::int64_t* event) {
  return Request(TmReply::Kind::kObit, DisInteger(node) + DisInteger(task), event);
}

Status TmSession::Feed(std::string_view bytes, std::vector<TmReply>* replies) {
  if (torque_) {
    plain_ += bytes;
  } else {
    framed_ += bytes;
    while (framed_.size() >= kFrameHeaderBytes) {
      std::size_t length = 0;
      for (std::size_t i = kFrameLengthAt; i < kFrameHeaderBytes; ++i)
        length = length << 8 | static_cast<unsigned char>(framed_[i]);
      if (!framed_.starts_with(kFrameMagic) || length > kFrameBytesMax)
        return Error(Code::kInvalid, "pbs_mom does not speak TM as OpenPBS does");
      if (framed_.size() < kFrameHeaderBytes + length) break;
      plain_ += framed_.substr(kFrameHeaderBytes, length);
      framed_.erase(0, kFrameHeaderBytes + length);
    }
  }
  while (!plain_.empty()) {
    Reader reader(plain_);
    TmReply reply;
    reader.Integer();  // protocol
    reader.Integer();  // version
    const std::int64_t code = reader.Integer();
    const std::int64_t event = reader.Integer();
    if (reader.ok()) {
      const auto waiting = waiting_.find(event);
      if (waiting == waiting_.end())
        return Error(Code::kInvalid, "pbs_mom answers what nobody has asked");
      reply.event = waiting->first;
      reply.kind = waiting->second;
      if (code == kError) {
        reply.error = reader.Integer();
      } else if (reply.kind == TmReply::Kind::kInit) {
        const std::int64_t nodes = reader.Integer();
        if (nodes < 0 || nodes > kNodesMax) return Error(Code::kInvalid, "pbs_mom: bad reply");
        for (std::int64_t i = 0; i < nodes && reader.ok(); ++i)
          reply.nodes.push_back(reader.Integer());
        reader.Text();     // of the parent: job,
        reader.Integer();  // node
        reader.Integer();  // and task
      } else if (reply.kind != TmReply::Kind::kSignal) {
        reply.value = reader.Integer();
      }
    }
    if (reader.bad()) return Error(Code::kInvalid, "pbs_mom sends what is not TM");
    if (!reader.ok()) return {};  // more has to come
    waiting_.erase(reply.event);
    plain_.erase(0, reader.taken());
    replies->push_back(std::move(reply));
  }
  return {};
}

}  // namespace lamina::launcher::pbs
