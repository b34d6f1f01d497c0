// SPDX-License-Identifier: BSD-3-Clause
// Several streams of text become one, line by line.
//
// A line leaves in one piece, so lines of different sources never mix. Two lines cannot wait for
// their end: one longer than kLineBytesMax goes out in pieces, and meanwhile its source alone has
// the word; and one whose source falls silent (a prompt) goes out as it is. Bytes are never changed
// or dropped; a LineFormat with marks adds them at line starts, and only then may a line break be
// added, before a source that speaks while another's line stands open.
//
// Pure: no descriptors, no clock.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lamina::launcher::stdio {

class LineMerger {
 public:
  static constexpr std::size_t kLineBytesMax = 65536;

  using Write = std::function<void(std::string_view bytes)>;
  // What stands before each line of `source`; "" for nothing. Asked at every line start.
  using Mark = std::function<std::string(std::size_t source)>;

  // `mark` may be null: no marks.
  LineMerger(Write write, Mark mark) : write_(std::move(write)), mark_(std::move(mark)) {}

  std::size_t AddSource();
  void Feed(std::size_t source, std::string_view bytes);
  // The source has been silent for a while: what it has begun goes out, and others may speak.
  void Flush(std::size_t source);
  // The source has ended: all it has left goes out.
  void End(std::size_t source);
  // A line of the launcher's own, "\n" included; starts on a fresh line.
  void Say(std::string_view line);

  // Has begun a line that is not out yet, or has the word.
  bool Waits(std::size_t source) const;
  // Has the word: others wait until its long line ends.
  bool Speaks(std::size_t source) const { return speaker_ == source; }
  // Must not be fed for now: its lines wait for another source, and it has enough of them.
  bool Blocked(std::size_t source) const;

 private:
  struct Source {
    std::string held;
    bool ended = false;
  };
  void Emit(std::size_t source, std::string_view bytes);
  void EmitMarked(std::size_t source, std::string_view bytes);
  void EmitLines(std::size_t source);
  void PassTheWord();

  Write write_;
  Mark mark_;
  std::vector<Source> sources_;
  std::optional<std::size_t> speaker_;      // in the middle of a long line
  std::optional<std::size_t> last_writer_;  // whose bytes were written last
  bool line_open_ = false;                  // the last byte written was no line break
};

}  // namespace lamina::launcher::stdio
