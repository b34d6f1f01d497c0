// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/saving/image_sender.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "checkpoint/store/folder.h"
#include "launcher/saving/tuning.h"

namespace lamina::launcher {

using Word = wire::StoreWord;

void ImageSender::Send(const Word& word, Descriptor folder) {
  Image& image = images_.emplace_back();
  image.word.kind = Word::Kind::kPiece;
  image.word.generation = word.generation;
  image.word.rank = word.rank;
  image.word.to = word.to;
  image.folder = std::move(folder);
  Pump();
}

void ImageSender::Taken(std::uint64_t bytes) {
  under_way_ -= std::min(under_way_, bytes);
  Pump();
}

void ImageSender::Pump() {
  while (!images_.empty() && under_way_ < kPiecesUnderWayBytes) {
    Image& image = images_.front();
    const Result<bool> more = SendPiece(&image);
    if (more.ok() && *more) continue;
    if (!more.ok()) {
      image.word.kind = Word::Kind::kDone;
      image.word.bytes = more.status().message();
      say_(image.word);
    }
    images_.pop_front();
  }
}

Status ImageSender::OpenNext(Image* image) {
  if (!image->begun) {
    Result<std::vector<std::string>> names = checkpoint::NamesIn(image->folder.value());
    if (!names.ok()) return std::move(names).status();
    image->names = *std::move(names);
    image->begun = true;
  }
  image->word.name.clear();
  image->word.at = 0;
  if (image->names.empty()) return {};
  image->word.name = std::move(image->names.back());
  image->names.pop_back();
  Result<Descriptor> file = checkpoint::OpenFile(image->folder.value(), image->word.name);
  if (!file.ok()) return std::move(file).status();
  image->file = *std::move(file);
  Result<std::uint64_t> bytes = checkpoint::BytesOf(image->file);
  if (!bytes.ok()) return std::move(bytes).status();
  image->bytes = *bytes;
  return {};
}

// The last piece of a file has no bytes and tells its length. The last of an image has no name.
Result<bool> ImageSender::SendPiece(Image* image) {
  Word& word = image->word;
  if (image->file.value() < 0)
    if (Status status = OpenNext(image); !status.ok()) return status;
  word.bytes.clear();
  if (word.name.empty()) {
    say_(word);
    return false;
  }
  const int file = image->file.value();
  const off_t data = lseek(file, static_cast<off_t>(word.at), SEEK_DATA);
  if (data < 0 && errno != ENXIO)
    return SystemError(Code::kResource, errno, "cannot read %s", word.name.c_str());
  if (data < 0 || static_cast<std::uint64_t>(data) >= image->bytes) {
    word.at = image->bytes;
    say_(word);
    image->file = Descriptor();
    return true;
  }
  const off_t hole = lseek(file, data, SEEK_HOLE);
  word.bytes.resize(std::min<std::size_t>(kPieceBytes, static_cast<std::size_t>(hole - data)));
  const ssize_t got = pread(file, word.bytes.data(), word.bytes.size(), data);
  if (got <= 0) return SystemError(Code::kResource, errno, "cannot read %s", word.name.c_str());
  word.bytes.resize(static_cast<std::size_t>(got));
  word.at = static_cast<std::uint64_t>(data);
  say_(word);
  word.at += word.bytes.size();
  under_way_ += word.bytes.size();
  return true;
}

}  // namespace lamina::launcher
