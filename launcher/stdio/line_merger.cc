// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/stdio/line_merger.h"

namespace lamina::launcher::stdio {

std::size_t LineMerger::AddSource() {
  sources_.emplace_back();
  return sources_.size() - 1;
}

void LineMerger::Feed(std::size_t index, std::string_view bytes) {
  Source& source = sources_[index];
  if (speaker_.has_value() && *speaker_ != index) {
    source.held += bytes;
    return;
  }
  // The common case copies nothing, because whole lines go straight through.
  const std::size_t end = bytes.rfind('\n');
  if (end != std::string_view::npos) {
    if (!source.held.empty()) {
      const std::size_t first = bytes.find('\n') + 1;
      source.held += bytes.substr(0, first);
      Emit(index, source.held);
      source.held.clear();
      if (first <= end) Emit(index, bytes.substr(first, end + 1 - first));
    } else {
      Emit(index, bytes.substr(0, end + 1));
    }
    source.held = bytes.substr(end + 1);
    if (speaker_ == index) PassTheWord();
  } else if (speaker_ == index) {
    Emit(index, bytes);
  } else {
    source.held += bytes;
  }
  if (source.held.size() >= kLineBytesMax && !speaker_.has_value()) {
    speaker_ = index;
    Emit(index, source.held);
    source.held.clear();
  }
}

void LineMerger::Flush(std::size_t index) {
  if (speaker_.has_value() && *speaker_ != index) return;
  Source& source = sources_[index];
  if (!source.held.empty()) Emit(index, source.held);
  source.held.clear();
  if (speaker_ == index) PassTheWord();
}

void LineMerger::End(std::size_t index) {
  sources_[index].ended = true;
  Flush(index);
}

// The speaker's line is over, so what others have gathered meanwhile goes out.
void LineMerger::PassTheWord() {
  speaker_.reset();
  for (std::size_t index = 0; index < sources_.size() && !speaker_.has_value(); ++index)
    EmitLines(index);
}

void LineMerger::EmitLines(std::size_t index) {
  Source& source = sources_[index];
  if (source.held.empty()) return;
  const std::size_t end = source.ended ? source.held.size() : source.held.rfind('\n') + 1;
  if (end > 0) {
    const std::string lines = source.held.substr(0, end);
    source.held.erase(0, end);
    Emit(index, lines);
  }
  if (source.held.size() < kLineBytesMax) return;
  speaker_ = index;
  Emit(index, source.held);
  source.held.clear();
}

void LineMerger::Emit(std::size_t source, std::string_view bytes) {
  if (bytes.empty()) return;
  if (mark_)
    EmitMarked(source, bytes);
  else
    write_(bytes);
  line_open_ = bytes.back() != '\n';
  last_writer_ = source;
}

void LineMerger::EmitMarked(std::size_t source, std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 4);
  bool at_line_start = true;
  if (line_open_) {
    at_line_start = last_writer_ != source;
    if (at_line_start) text += '\n';
  }
  while (!bytes.empty()) {
    if (at_line_start) text += mark_(source);
    const std::size_t end = bytes.find('\n');
    const std::size_t count = end == std::string_view::npos ? bytes.size() : end + 1;
    text += bytes.substr(0, count);
    bytes.remove_prefix(count);
    at_line_start = true;
  }
  write_(text);
}

void LineMerger::Say(std::string_view line) {
  if (line_open_) write_("\n");
  write_(line);
  line_open_ = false;
  last_writer_.reset();
}

bool LineMerger::Waits(std::size_t source) const {
  return speaker_ == source || (!sources_[source].held.empty() && !speaker_.has_value());
}

bool LineMerger::Blocked(std::size_t source) const {
  return speaker_.has_value() && *speaker_ != source &&
         sources_[source].held.size() >= kLineBytesMax;
}

}  // namespace lamina::launcher::stdio
