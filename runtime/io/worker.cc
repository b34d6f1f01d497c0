// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/io/worker.h"

#include <pthread.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

#include "runtime/base/quiet_thread.h"

namespace lamina::io {
namespace {

class Worker {
 public:
  // Null if the system gives no thread.
  static std::unique_ptr<Worker> Make() {
    std::unique_ptr<Worker> worker(new Worker);
    const SignalsBlocked blocked;
    const int error = pthread_create(&worker->thread_, nullptr, Body, worker.get());
    worker->runs_ = error == 0;
    return worker->runs_ ? std::move(worker) : nullptr;
  }
  ~Worker() {
    if (!runs_) return;
    {
      const std::lock_guard guard(mutex_);
      stops_ = true;
    }
    news_.notify_one();
    pthread_join(thread_, nullptr);
  }

  void Submit(Job* job) {
    {
      const std::lock_guard guard(mutex_);
      jobs_.push_back(job);
    }
    news_.notify_one();
  }

 private:
  Worker() = default;
  static void* Body(void* worker) {
    static_cast<Worker*>(worker)->Work();
    return nullptr;
  }
  void Work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      news_.wait(lock, [this] { return stops_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      Job* job = jobs_.front();
      jobs_.pop_front();
      lock.unlock();
      job->Run();
      job->Ended();
      lock.lock();
    }
  }

  pthread_t thread_{};
  bool runs_ = false;
  std::mutex mutex_;  // guards the members below
  std::condition_variable news_;
  std::deque<Job*> jobs_;
  bool stops_ = false;
};

// The library lock guards these.
constinit Worker* worker = nullptr;
constinit unsigned files = 0;

}  // namespace

void Submit(Job* job) {
  if (worker == nullptr) worker = Worker::Make().release();
  if (worker != nullptr) return worker->Submit(job);
  job->Run();
  job->Ended();
}

void FileOpened() { ++files; }

void FileClosed() {
  if (--files > 0) return;
  delete worker;
  worker = nullptr;
}

}  // namespace lamina::io
