// SPDX-License-Identifier: BSD-3-Clause
// A LineMerger makes one stream of text of several, line by line.
//
// A line leaves in one piece, so lines of different sources never mix. Two kinds of line cannot
// wait for their end: a line longer than kLineBytesMax goes out in pieces, and meanwhile its source
// alone has the word; and a line whose source falls silent (a prompt) goes out as it is. Bytes are
// never changed or dropped; a LineFormat with marks adds them at line starts, and only then may a
// line break be added, before a source that speaks while another's line stands open.
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
  // Returns what stands before each line of `source`. It is asked at every line start.
  using Mark = std::function<std::string(std::size_t source)>;

  // If `mark` is null there are no marks.
  LineMerger(Write write, Mark mark) : write_(std::move(write)), mark_(std::move(mark)) {}

  std::size_t AddSource();
  void Feed(std::size_t source, std::string_view bytes);
  // The source has been silent for a while, so what it has begun goes out and others may speak.
  void Flush(std::size_t source);
  // The source has ended, so all it has left goes out.
  void End(std::size_t source);
  // Writes a line of the launcher's own, "\n" included, on a fresh line.
  void Say(std::string_view line);

  // Has the source begun a line that is not out yet, or does it have the word?
  bool Waits(std::size_t source) const;
  // Does the source have the word, so that others wait until its long line ends?
  bool Speaks(std::size_t source) const { return speaker_ == source; }
  // May the source not be fed for now, because enough of its lines wait for another source?
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
