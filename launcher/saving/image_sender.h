// SPDX-License-Identifier: BSD-3-Clause
// Sends the images of ranks to other nodes, one after the other, as pieces of their files. What was
// never written of a file is not sent. Only so much is under way as the other side has not taken.
//
// Threads: the event loop's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "launcher/wire/messages.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

class ImageSender {
 public:
  explicit ImageSender(std::function<void(const wire::StoreWord& word)> say)
      : say_(std::move(say)) {}

  // Begins with, or queues, the image in `folder`; `word` is the order to send it.
  void Send(const wire::StoreWord& word, Descriptor folder);
  // So many bytes have been written on the other side.
  void Taken(std::uint64_t bytes);

 private:
  struct Image {
    wire::StoreWord word;  // its pieces are made of
    Descriptor folder;
    std::vector<std::string> names;  // of files that are not sent yet
    bool begun = false;
    Descriptor file;
    std::uint64_t bytes = 0;  // of this file
  };
  void Pump();
  // Returns false once the image is sent.
  Result<bool> SendPiece(Image* image);
  Status OpenNext(Image* image);

  const std::function<void(const wire::StoreWord& word)> say_;
  std::deque<Image> images_;
  std::uint64_t under_way_ = 0;
};

}  // namespace lamina::launcher
