// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/timeline/reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "launcher/timeline/fields.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// No packet of ours is longer, and nobody is asked to hold more of another's.
constexpr std::uint64_t kPacketBytesMax = 1u << 20;
constexpr std::size_t kPieceBytes = 1u << 18;
// Whoever makes up a trace must not fill our memory with tracks and names.
constexpr std::size_t kTracksMax = 1u << 22;
constexpr std::size_t kOpenMax = 4096;  // slices within each other

// Reads a number of seven bits a byte.
bool TakeVarint(std::string_view* bytes, std::uint64_t* number) {
  *number = 0;
  for (unsigned shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes->front());
    bytes->remove_prefix(1);
    *number |= std::uint64_t{byte & 127u} << shift;
    if (byte < 128) return true;
  }
  return false;
}

// One field: a number, or bytes. Those of four bytes are passed over.
struct Field {
  std::uint64_t number = 0;
  std::uint64_t value = 0;
  std::string_view bytes;
};

bool TakeField(std::string_view* message, Field* field) {
  std::uint64_t key = 0;
  if (!TakeVarint(message, &key)) return false;
  *field = {key >> 3, 0, {}};
  std::uint64_t length = 0;
  switch (key & 7) {
    case 0:
      return TakeVarint(message, &field->value);
    case 1:
      length = 8;
      break;
    case 2:
      if (!TakeVarint(message, &length)) return false;
      break;
    case 5:
      length = 4;
      break;
    default:
      return false;
  }
  if (length > message->size()) return false;
  field->bytes = message->substr(0, length);
  if ((key & 7) == 1)
    for (std::size_t at = 0; at < 8; ++at)
      field->value |= std::uint64_t{static_cast<unsigned char>(field->bytes[at])} << 8 * at;
  message->remove_prefix(length);
  return true;
}

// Hands each field to `take`. False: the message is damaged.
template <class Take>
bool EachField(std::string_view message, Take take) {
  for (Field field; !message.empty();) {
    if (!TakeField(&message, &field)) return false;
    take(field);
  }
  return true;
}

}  // namespace

Result<std::size_t> TraceReader::Take(std::string_view bytes) {
  const std::size_t all = bytes.size();
  while (!bytes.empty()) {
    std::string_view rest = bytes;
    std::uint64_t key = 0;
    std::uint64_t length = 0;
    if (!TakeVarint(&rest, &key) || !TakeVarint(&rest, &length)) {
      if (bytes.size() < 20) break;  // the rest of them is to come
      return Error(Code::kInvalid, "it is no trace of mpiexec --trace");
    }
    if (key != (kTracePacket << 3 | 2) || length > kPacketBytesMax)
      return Error(Code::kInvalid, "it is no trace of mpiexec --trace");
    if (length > rest.size()) break;
    if (!TakePacket(rest.substr(0, length)))
      return Error(Code::kInvalid, "a packet in it is damaged");
    bytes = rest.substr(length);
  }
  return all - bytes.size();
}

bool TraceReader::TakePacket(std::string_view packet) {
  std::uint64_t sequence = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t flags = 0;
  std::optional<std::string_view> names, track, event;
  const bool whole = EachField(packet, [&](const Field& field) {
    if (field.number == kSequence) sequence = field.value;
    if (field.number == kTimestamp) time_ns = field.value;
    if (field.number == kSequenceFlags) flags = field.value;
    if (field.number == kInternedData) names = field.bytes;
    if (field.number == kTrackDescriptor) track = field.bytes;
    if (field.number == kTrackEvent) event = field.bytes;
  });
  if (!whole) return false;
  if ((flags & kCleared) != 0)
    names_.erase(names_.lower_bound({sequence, 0}), names_.upper_bound({sequence, UINT64_MAX}));
  return (!names || TakeNames(sequence, *names)) && (!track || TakeTrack(*track)) &&
         (!event || TakeEvent(sequence, time_ns, *event));
}

bool TraceReader::TakeNames(std::uint64_t sequence, std::string_view interned) {
  bool valid = true;
  const bool whole = EachField(interned, [&](const Field& field) {
    if (field.number != kEventNames) return;
    std::uint64_t id = 0;
    std::string_view name;
    valid = valid && EachField(field.bytes, [&](const Field& part) {
              if (part.number == kId) id = part.value;
              if (part.number == kName) name = part.bytes;
            });
    if (names_.size() < kTracksMax) names_[{sequence, id}] = std::string(name);
  });
  return whole && valid;
}

bool TraceReader::TakeTrack(std::string_view descriptor) {
  std::uint64_t uuid = 0;
  std::uint64_t parent = 0;
  TraceTrack track;
  bool valid = true;
  const bool whole = EachField(descriptor, [&](const Field& field) {
    if (field.number == kUuid) uuid = field.value;
    if (field.number == kParent) parent = field.value;
    if (field.number == kTrackName) track.name = std::string(field.bytes);
    if (field.number == kCounter) track.kind = TraceTrack::Kind::kCounter;
    if (field.number == kProcess)
      valid = valid && EachField(field.bytes, [&](const Field& part) {
                if (part.number == kProcessPid) track.process = part.value;
                if (part.number == kProcessName) track.name = std::string(part.bytes);
              });
    if (field.number == kThread) {
      track.kind = TraceTrack::Kind::kThread;
      valid = valid && EachField(field.bytes, [&](const Field& part) {
                if (part.number == kThreadPid) track.process = part.value;
                if (part.number == kThreadTid) track.thread = part.value;
                if (part.number == kThreadName) track.name = std::string(part.bytes);
              });
    }
  });
  if (!whole || !valid || tracks_.size() >= kTracksMax) return false;
  if (track.kind == TraceTrack::Kind::kCounter)
    if (const auto found = tracks_.find(parent); found != tracks_.end())
      track.process = found->second.process;
  outlets_.track(track);
  tracks_[uuid] = std::move(track);
  return true;
}

bool TraceReader::TakeEvent(std::uint64_t sequence, std::uint64_t time_ns, std::string_view bytes) {
  std::uint64_t type = 0;
  std::uint64_t uuid = 0;
  std::uint64_t name = 0;
  TraceEvent event;
  event.time_ns = time_ns;
  bool valid = true;
  const bool whole = EachField(bytes, [&](const Field& field) {
    if (field.number == kType) type = field.value;
    if (field.number == kTrackUuid) uuid = field.value;
    if (field.number == kNameId) name = field.value;
    if (field.number == kFlows || field.number == kEndingFlows) event.flows.push_back(field.value);
    if (field.number == kCounterValue) event.value = static_cast<std::int64_t>(field.value);
    if (field.number != kAnnotations) return;
    std::pair<std::string_view, std::uint64_t> note;
    valid = valid && EachField(field.bytes, [&](const Field& part) {
              if (part.number == kAnnotationName) note.first = part.bytes;
              if (part.number == kUnsigned) note.second = part.value;
            });
    event.notes.push_back(note);
  });
  const auto track = tracks_.find(uuid);
  if (!whole || !valid || track == tracks_.end()) return false;
  std::string ended;
  if (type == kSliceBegin) {
    const auto known = names_.find({sequence, name});
    std::vector<std::string>& open = open_[uuid];
    if (known == names_.end() || open.size() >= kOpenMax) return false;
    open.push_back(known->second);
    event.kind = TraceEvent::Kind::kBegin;
    event.name = known->second;
  } else if (type == kSliceEnd) {
    const auto begun = open_.find(uuid);
    if (begun == open_.end() || begun->second.empty()) return false;
    ended = std::move(begun->second.back());
    begun->second.pop_back();
    event.kind = TraceEvent::Kind::kEnd;
    event.name = ended;
  } else if (type == kCounterType) {
    event.kind = TraceEvent::Kind::kCounter;
    event.name = track->second.name;
  } else {
    return true;  // a newer kind
  }
  outlets_.event(track->second, event);
  return true;
}

Status ReadTrace(const std::string& path, TraceReader* reader) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.value() < 0)
    return SystemError(Code::kNotFound, errno, "cannot read the trace %s", path.c_str());
  std::string bytes;
  for (bool is_empty = true;;) {
    const std::size_t had = bytes.size();
    bytes.resize(had + kPieceBytes);
    ssize_t got = -1;
    do got = read(file.value(), bytes.data() + had, kPieceBytes);
    while (got < 0 && errno == EINTR);
    if (got < 0)
      return SystemError(Code::kResource, errno, "cannot read the trace %s", path.c_str());
    bytes.resize(had + static_cast<std::size_t>(got));
    const Result<std::size_t> taken = reader->Take(bytes);
    if (!taken.ok())
      return Error(Code::kInvalid, "%s: %s", path.c_str(),
                   std::string(taken.status().message()).c_str());
    bytes.erase(0, *taken);
    is_empty = is_empty && got == 0;
    if (got > 0) continue;
    if (is_empty)
      return Error(Code::kInvalid, "%s: it is empty: no rank has called MPI, or the job still runs",
                   path.c_str());
    if (bytes.empty()) return {};
    return Error(Code::kInvalid, "%s: the trace is cut short", path.c_str());
  }
}

}  // namespace lamina::launcher
