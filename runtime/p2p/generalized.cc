// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/generalized.h"

#include <typeinfo>

#include "runtime/p2p/p2p.h"

namespace lamina::p2p {
namespace {

class Generalized final : public core::Activity {
 public:
  explicit Generalized(const GeneralizedFunctions& functions) : functions_(functions) {}
  ~Generalized() override {
    if (!freed_) Generalized::Free(MPI_SUCCESS);
  }

  int Cancel(Request* owner) override {
    if (functions_.cancel == nullptr) return MPI_SUCCESS;
    return functions_.cancel(functions_.extra_state, owner->complete ? 1 : 0);
  }

  int Complete(const Request&, MPI_Status* status) override {
    if (functions_.query == nullptr) return MPI_SUCCESS;
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE) {
      status = &own;
      core::EmptyStatus(status);
    }
    // A query may not touch the error, about which the caller decides.
    const int error_before = status->MPI_ERROR;
    const int error = functions_.query(functions_.extra_state, status);
    status->MPI_ERROR = error_before;
    return error;
  }

  // Where query_fn and free_fn both fail, the error of free_fn counts (MPI-5.0, section 13.2).
  int Free(int query_error) override {
    freed_ = true;
    const int error =
        functions_.free == nullptr ? MPI_SUCCESS : functions_.free(functions_.extra_state);
    return error != MPI_SUCCESS ? error : query_error;
  }

 private:
  const GeneralizedFunctions functions_;
  bool freed_ = false;
};

}  // namespace

core::Request* StartGeneralized(const GeneralizedFunctions& functions) {
  Request* request = core::NewRequest(nullptr);
  request->type = Request::Type::kActivity;
  request->activity = new Generalized(functions);
  request->active = true;
  return request;
}

bool CompleteGeneralized(core::Request* request) {
  if (request->activity == nullptr || typeid(*request->activity) != typeid(Generalized) ||
      request->complete)
    return false;
  Disturb();
  core::Finish(request, MPI_SUCCESS);
  return true;
}

}  // namespace lamina::p2p
