// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/pmix/mailbox.h"

#include <event2/event.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace lamina::launcher::pmix {

Result<std::unique_ptr<Mailbox>> Mailbox::Open(event_base* loop) {
  std::unique_ptr<Mailbox> mailbox(new Mailbox);
  mailbox->bell_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (mailbox->bell_ < 0) return SystemError(Code::kResource, errno, "cannot make an eventfd");
  mailbox->ringing_ = event_new(loop, mailbox->bell_, EV_READ | EV_PERSIST, OnBell, mailbox.get());
  event_add(mailbox->ringing_, nullptr);
  return mailbox;
}

Mailbox::~Mailbox() {
  if (ringing_ != nullptr) event_free(ringing_);
  if (bell_ >= 0) close(bell_);
}

void Mailbox::Post(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  posted_.push_back(std::move(work));
  const std::uint64_t one = 1;
  if (write(bell_, &one, sizeof one) < 0) return;  // full: it rings already
}

void Mailbox::OnBell(int bell, short, void* self) {
  auto* mailbox = static_cast<Mailbox*>(self);
  std::uint64_t rung;
  if (read(bell, &rung, sizeof rung) < 0) return;
  std::vector<std::function<void()>> work;
  {
    const std::lock_guard lock(mailbox->mutex_);
    work.swap(mailbox->posted_);
  }
  for (const auto& piece : work) piece();
}

}  // namespace lamina::launcher::pmix
