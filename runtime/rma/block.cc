// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/rma/block.h"

#include <sys/mman.h>

namespace lamina::rma {

std::size_t Block::BytesFor(std::size_t members, bool dynamic) {
  const std::size_t records = sizeof(BlockHeader) + members * sizeof(MemberRecord);
  return records + (dynamic ? members * sizeof(AttachTable) : 0);
}

std::unique_ptr<Block> Block::MakePrivate(bool dynamic) {
  const std::size_t bytes = memory::WholePages(BytesFor(1, dynamic));
  void* const base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  return std::unique_ptr<Block>(new Block(static_cast<std::byte*>(base), bytes, 1));
}

Result<std::unique_ptr<Block>> Block::Map(const memory::Sealed& shared, std::size_t members,
                                          bool dynamic) {
  const std::size_t bytes = memory::WholePages(BytesFor(members, dynamic));
  Result<std::byte*> base = shared.Map(0, bytes);
  if (!base.ok()) return std::move(base).status();
  return std::unique_ptr<Block>(new Block(*base, bytes, members));
}

Block::~Block() { munmap(base_, bytes_); }

}  // namespace lamina::rma
