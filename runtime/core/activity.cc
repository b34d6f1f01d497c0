// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/core/activity.h"

#include "runtime/core/request.h"

namespace lamina::core {

// This list holds the notified activities, first in, first out. The library lock guards it.
constinit Activity* first_notified = nullptr;
constinit std::atomic<Activity*> first_notified_elsewhere{nullptr};
constinit int notices_to_come = 0;
namespace {
constinit Activity* last_notified = nullptr;
}

Activity::~Activity() {
  if (!notified_) return;
  Activity* before = nullptr;
  for (Activity* at = first_notified; at != this; at = at->next_notified_) before = at;
  (before == nullptr ? first_notified : before->next_notified_) = next_notified_;
  if (last_notified == this) last_notified = before;
}

int Activity::Start(Request*) { return MPI_ERR_REQUEST; }

int Activity::Cancel(Request*) { return MPI_SUCCESS; }

int Activity::Complete(const Request& owner, MPI_Status*) { return owner.error; }

void Notify(Activity* activity) {
  if (activity->notified_) return;
  activity->notified_ = true;
  activity->next_notified_ = nullptr;
  (first_notified == nullptr ? first_notified : last_notified->next_notified_) = activity;
  last_notified = activity;
}

void NotifyFromAnyThread(Activity* activity) {
  Activity* first = first_notified_elsewhere.load(std::memory_order_relaxed);
  do activity->next_elsewhere_ = first;
  while (!first_notified_elsewhere.compare_exchange_weak(first, activity, std::memory_order_release,
                                                         std::memory_order_relaxed));
}

// Takes over what other threads have notified, the oldest first.
void TakeNotices() {
  Activity* newest = first_notified_elsewhere.exchange(nullptr, std::memory_order_acquire);
  Activity* oldest = nullptr;
  while (newest != nullptr) {
    Activity* next = newest->next_elsewhere_;
    newest->next_elsewhere_ = oldest;
    oldest = newest;
    newest = next;
  }
  for (; oldest != nullptr; oldest = oldest->next_elsewhere_) Notify(oldest);
}

bool AdvanceNotified() {
  if (first_notified_elsewhere.load(std::memory_order_relaxed) != nullptr) TakeNotices();
  if (first_notified == nullptr) return false;
  while (first_notified != nullptr) {
    Activity* activity = first_notified;
    first_notified = activity->next_notified_;
    activity->notified_ = false;
    activity->Advance();  // may delete it
  }
  return true;
}

}  // namespace lamina::core
