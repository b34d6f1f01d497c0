// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/exec/packed_bcast.h"

#include <new>

namespace lamina::collective {

bool PackedBcast::Prepare(Invocation* it) {
  if (it->operation != Operation::kBcast || it->root == kNobody) return true;
  const datatype::Buffer user{it->output, it->output_count, it->output_type};
  const std::int64_t bytes = user.bytes();
  it->output_type = datatype::FindDatatype(MPI_BYTE);
  it->output_count = bytes;
  if (user.contiguous()) {
    it->output = bytes > 0 ? user.data() : nullptr;
    return true;
  }
  if (it->comm->size == 1 && !it->comm->is_inter()) return true;  // nothing is going to move
  bytes_.reset(new (std::nothrow) std::byte[static_cast<std::size_t>(bytes)]);
  if (bytes_ == nullptr) return false;
  user_ = user;
  type_.reset(const_cast<datatype::Datatype*>(user.type));
  datatype::Retain(type_.get());
  receives_ = it->comm->rank != it->root;
  it->output = bytes_.get();
  return true;
}

void PackedBcast::Pack() {
  datatype::Pack(user_, 0, {bytes_.get(), static_cast<std::size_t>(user_.bytes())});
}

void PackedBcast::Unpack() {
  datatype::Unpack({bytes_.get(), static_cast<std::size_t>(user_.bytes())}, 0, user_);
}

}  // namespace lamina::collective
