// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/stdio/output.h"

#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <memory>
#include <utility>

#include "launcher/stdio/tuning.h"
#include "runtime/base/text.h"

namespace lamina::launcher::stdio {
namespace {

bool HasData(int fd) {
  pollfd ready{fd, POLLIN, 0};
  return poll(&ready, 1, 0) > 0;
}

std::string TimeOfDay() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  tm local;
  localtime_r(&now.tv_sec, &local);
  return Format("%02d:%02d:%02d.%03ld ", local.tm_hour, local.tm_min, local.tm_sec,
                now.tv_nsec / 1'000'000);
}

}  // namespace

struct Output::Source {
  Output* output;
  std::size_t index;
  std::uint32_t rank;
  std::uint8_t stream = 0;  // of one that is fed
  int fd = -1;              // -1: it is fed
  event* readable = nullptr;
  bool open = true;
  bool reading = true;
  bool noted = false;
  std::uint32_t owed = 0;  // fed, and its feeder not yet told that it has gone on
  unsigned silent_looks = 0;
};

Output::Output(event_base* loop, int fd, LineFormat format, std::function<void()> on_end)
    : loop_(loop),
      format_(format),
      on_end_(std::move(on_end)),
      outlet_(loop, fd,
              [this] {
                Adjust();
                if (finished()) on_end_();
              }),
      merger_([this](std::string_view bytes) { outlet_.Write(bytes); },
              format.tag || format.timestamp
                  ? LineMerger::Mark([this](std::size_t source) { return MarkOf(source); })
                  : LineMerger::Mark()),
      silence_(event_new(loop, -1, 0, OnSilence, this)) {}

Output::~Output() {
  for (const auto& source : sources_) Close(source.get());
  event_free(silence_);
}

std::string Output::MarkOf(std::size_t source) const {
  std::string mark;
  if (format_.timestamp) mark += TimeOfDay();
  if (format_.tag) mark += Format("[rank %u] ", sources_[source]->rank);
  return mark;
}

void Output::AddRank(std::uint32_t rank, int fd) {
  auto source = std::make_unique<Source>();
  source->output = this;
  source->index = merger_.AddSource();
  source->rank = rank;
  source->fd = fd;
  if (fd >= 0) {
    fcntl(fd, F_SETFL, O_NONBLOCK);
    source->readable = event_new(loop_, fd, EV_READ | EV_PERSIST, OnReadable, source.get());
    event_add(source->readable, nullptr);
  }
  sources_.push_back(std::move(source));
  ++open_;
}

void Output::AddFed(std::vector<std::uint32_t> ranks, std::uint8_t stream, Written written) {
  written_ = std::move(written);
  const std::size_t index = sources_.size();
  sources_.reserve(index + ranks.size());
  for (const std::uint32_t rank : ranks) {
    AddRank(rank, -1);
    sources_.back()->stream = stream;
  }
  fed_[stream] = {index, std::move(ranks)};
}

std::size_t Output::IndexOf(std::uint32_t rank, std::uint8_t stream) const {
  const std::vector<std::uint32_t>& ranks = fed_[stream].ranks;
  return fed_[stream].index +
         static_cast<std::size_t>(std::lower_bound(ranks.begin(), ranks.end(), rank) -
                                  ranks.begin());
}

void Output::Feed(std::uint32_t rank, std::uint8_t stream, std::string_view bytes) {
  Source* source = sources_[IndexOf(rank, stream)].get();
  if (!source->open) return;
  source->silent_looks = 0;
  if (bytes.empty()) {
    merger_.End(source->index);
    Close(source);
  } else {
    merger_.Feed(source->index, bytes);
    source->owed += static_cast<std::uint32_t>(bytes.size());
    Note(source);
  }
  Adjust();
  if (finished()) on_end_();
}

void Output::OnReadable(int, short, void* self) {
  auto* source = static_cast<Source*>(self);
  source->output->Read(source);
}

void Output::Read(Source* source) {
  const auto bytes = std::make_unique_for_overwrite<char[]>(kPieceBytes);
  const ssize_t count = read(source->fd, bytes.get(), kPieceBytes);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  source->silent_looks = 0;
  Note(source);
  if (count > 0) {
    merger_.Feed(source->index, {bytes.get(), static_cast<std::size_t>(count)});
  } else {
    merger_.End(source->index);
    Close(source);
  }
  Adjust();
  if (finished()) on_end_();
}

void Output::Close(Source* source) {
  if (!source->open) return;
  source->open = false;
  --open_;
  if (source->fd < 0) return;
  event_free(source->readable);
  close(source->fd);
  source->fd = -1;
}

void Output::CloseSilent() {
  for (const auto& source : sources_) {
    if (!source->open || !source->reading || source->owed > 0) continue;
    if (source->fd >= 0 && HasData(source->fd)) continue;
    merger_.End(source->index);
    Close(source.get());
  }
}

void Output::TakeAll() {
  const auto bytes = std::make_unique_for_overwrite<char[]>(kPieceBytes);
  for (const auto& source : sources_) {
    if (!source->open || source->fd < 0) continue;
    ssize_t count;
    while ((count = read(source->fd, bytes.get(), kPieceBytes)) > 0)
      merger_.Feed(source->index, {bytes.get(), static_cast<std::size_t>(count)});
  }
  for (const auto& source : sources_) {
    if (!source->open) continue;
    merger_.Flush(source->index);
    Note(source.get());
  }
  Adjust();
}

void Output::Note(Source* source) {
  if (std::exchange(source->noted, true)) return;
  noted_.push_back(source);
}

int Output::error() const {
  const int error = outlet_.error();
  return error == EPIPE || error == ECONNRESET ? 0 : error;
}

// Reads exactly those sources that there is room for, tells feeders when what they gave has gone
// on, and watches for lines standing open. It looks only at sources that something has happened to.
void Output::Adjust() {
  if (outlet_.broken()) {
    for (const auto& source : sources_) {
      if (source->open && source->fd < 0 && written_ != nullptr)
        written_(source->rank, source->stream, kGone);
      Close(source.get());
    }
    return;
  }
  const bool full = outlet_.full();
  if (std::exchange(was_full_, full) != full)
    for (const auto& source : sources_) Note(source.get());
  bool waiting = false;
  for (Source* source : std::exchange(noted_, {})) {
    source->noted = false;
    if (!source->open) continue;
    waiting = waiting || merger_.Waits(source->index);
    if (AdjustOne(source, full)) Note(source);
  }
  if (waiting && !silence_armed_) {
    silence_armed_ = true;
    event_add(silence_, &kLook);
  }
}

// Returns whether it is to be looked at again.
bool Output::AdjustOne(Source* source, bool full) {
  const bool read = !full && !merger_.Blocked(source->index);
  if (source->fd < 0) {
    if (read && source->owed > 0 && written_ != nullptr)
      written_(source->rank, source->stream, std::exchange(source->owed, 0));
  } else if (read != source->reading) {
    if (read)
      event_add(source->readable, nullptr);
    else
      event_del(source->readable);
  }
  source->reading = read;
  return !read || source->owed > 0 || merger_.Waits(source->index);
}

void Output::OnSilence(int, short, void* self) {
  auto* output = static_cast<Output*>(self);
  output->silence_armed_ = false;
  for (const auto& source : output->sources_) {
    // A source that we do not read, or have not come to read yet, is not silent.
    if (!source->open || !source->reading) continue;
    if (source->fd >= 0 && HasData(source->fd)) continue;
    const unsigned looks =
        output->merger_.Speaks(source->index) ? kSilentLooksOfSpeaker : kSilentLooks;
    if (++source->silent_looks <= looks || !output->merger_.Waits(source->index)) continue;
    output->merger_.Flush(source->index);
  }
  output->Adjust();
}

void Output::Say(std::string_view line) {
  merger_.Say(std::string(line) + "\n");
  Adjust();
}

}  // namespace lamina::launcher::stdio
