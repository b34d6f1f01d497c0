// SPDX-License-Identifier: BSD-3-Clause
// Keeps signals from threads of our own, because they are for those of the application.
#pragma once

#include <csignal>

namespace lamina {

// A thread that is made while one of these lives gets no signals.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace lamina
