// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/io/datarep.h"

#include <algorithm>
#include <climits>
#include <deque>

#include "runtime/datatype/definition.h"
#include "runtime/datatype/external.h"

namespace lamina::io {
namespace {

using datatype::Buffer;
using datatype::Datatype;

// The list grows only, and its members stay where they are.
std::deque<Datarep>& Registered() {
  static std::deque<Datarep>* const registered = new std::deque<Datarep>;
  return *registered;
}

const Datarep* BuiltIn(const std::string& name) {
  static const Datarep* const built_in =
      new Datarep[3]{{"native"}, {"internal"}, {"external32", Datarep::Kind::kExternal32}};
  for (int i = 0; i < 3; ++i)
    if (built_in[i].name == name) return &built_in[i];
  return nullptr;
}

Failure LeafBytes(const Datarep& datarep, const Datatype& leaf, std::int64_t* bytes) {
  MPI_Aint extent = 0;
  const int error = datarep.conversions.extent(datatype::HandleOf(&leaf), &extent,
                                               datarep.conversions.extra_state);
  if (error != MPI_SUCCESS || extent < 0)
    return Fail(MPI_ERR_CONVERSION,
                "the extent function of representation \"%s\" returned error %d and extent %lld "
                "for %s",
                datarep.name.c_str(), error, static_cast<long long>(extent), leaf.predefined_name);
  *bytes = extent;
  return {};
}

// Counts predefined elements from the front, as long as their bytes in the file fit.
struct Prefix {
  std::int64_t file_bytes_left;
  std::int64_t leaves = 0;
  std::int64_t memory_bytes = 0;
  bool full = false;
};

Failure CountPrefix(const Datarep& datarep, const Datatype& type, std::int64_t count,
                    Prefix* prefix) {
  std::int64_t bytes = 0;
  if (type.predefined)
    if (Failure failure = LeafBytes(datarep, type, &bytes); !failure.ok()) return failure;
  for (std::int64_t i = 0; i < count && !prefix->full; ++i) {
    if (type.predefined) {
      prefix->full = bytes > prefix->file_bytes_left;
      if (prefix->full) break;
      prefix->file_bytes_left -= bytes;
      prefix->leaves += 1;
      prefix->memory_bytes += type.size;
      continue;
    }
    for (const datatype::Part& part : type.definition->parts)
      for (std::int64_t block = 0; block < part.repeats && !prefix->full; ++block)
        if (Failure failure = CountPrefix(datarep, *part.type, part.count, prefix); !failure.ok())
          return failure;
  }
  return {};
}

// Calls a conversion function of the application, for int forms in portions that an int counts.
Failure Convert(const Datarep& datarep, bool reads, const Buffer& memory, std::byte* file,
                std::int64_t leaves) {
  const Conversions& with = datarep.conversions;
  const MPI_Datatype handle = datatype::HandleOf(memory.type);
  int error = MPI_SUCCESS;
  if (auto* const large = reads ? with.read_large : with.write_large; large != nullptr) {
    error = large(memory.address, handle, leaves, file, 0, with.extra_state);
  } else {
    auto* const small = reads ? with.read : with.write;
    if (leaves > INT_MAX)
      return Fail(MPI_ERR_CONVERSION,
                  "representation \"%s\" was registered with int counts and cannot convert %lld "
                  "elements at once",
                  datarep.name.c_str(), static_cast<long long>(leaves));
    error = small(memory.address, handle, static_cast<int>(leaves), file, 0, with.extra_state);
  }
  if (error == MPI_SUCCESS) return {};
  return Fail(MPI_ERR_CONVERSION, "the %s conversion function of representation \"%s\" returned %d",
              reads ? "read" : "write", datarep.name.c_str(), error);
}

// Without a conversion function elements must be as long as in memory.
Failure SizesDiffer(const Datarep& datarep) {
  return Fail(MPI_ERR_CONVERSION,
              "representation \"%s\" has no conversion function, but elements of another size than "
              "in memory",
              datarep.name.c_str());
}

bool Converts(const Conversions& with, bool reads) {
  return reads ? with.read != nullptr || with.read_large != nullptr
               : with.write != nullptr || with.write_large != nullptr;
}

}  // namespace

const Datarep* FindDatarep(const std::string& name) {
  if (const Datarep* found = BuiltIn(name); found != nullptr) return found;
  for (const Datarep& datarep : Registered())
    if (datarep.name == name) return &datarep;
  return nullptr;
}

Failure RegisterDatarep(const std::string& name, const Conversions& conversions) {
  if (FindDatarep(name) != nullptr)
    return Fail(MPI_ERR_DUP_DATAREP, "representation \"%s\" exists already", name.c_str());
  Registered().push_back({name, Datarep::Kind::kRegistered, conversions});
  return {};
}

Failure FileBytes(const Datarep& datarep, const Datatype& type, std::int64_t* bytes) {
  switch (datarep.kind) {
    case Datarep::Kind::kNative:
      *bytes = type.size;
      return {};
    case Datarep::Kind::kExternal32:
      *bytes = datatype::ExternalBytes(type);
      return {};
    case Datarep::Kind::kRegistered:
      break;
  }
  if (type.predefined) return LeafBytes(datarep, type, bytes);
  std::int64_t sum = 0;
  for (const datatype::Part& part : type.definition->parts) {
    std::int64_t each = 0;
    if (Failure failure = FileBytes(datarep, *part.type, &each); !failure.ok()) return failure;
    sum += std::max<std::int64_t>(part.count, 0) * std::max<std::int64_t>(part.repeats, 0) * each;
  }
  *bytes = sum;
  return {};
}

Failure Encode(const Datarep& datarep, const Buffer& from, std::span<std::byte> into) {
  if (datarep.kind == Datarep::Kind::kExternal32) {
    datatype::PackExternal(from, into.data());
    return {};
  }
  if (datarep.native() || !Converts(datarep.conversions, false)) {
    if (static_cast<std::int64_t>(into.size()) != from.bytes()) return SizesDiffer(datarep);
    datatype::Pack(from, 0, into);
    return {};
  }
  Prefix prefix{INT64_MAX};
  if (Failure failure = CountPrefix(datarep, *from.type, from.count, &prefix); !failure.ok())
    return failure;
  return Convert(datarep, false, from, into.data(), prefix.leaves);
}

Failure Decode(const Datarep& datarep, std::span<std::byte> from, const Buffer& into,
               std::int64_t* memory_bytes) {
  if (datarep.kind == Datarep::Kind::kExternal32) {
    *memory_bytes = datatype::UnpackExternal(from, into);
    return {};
  }
  if (datarep.native() || !Converts(datarep.conversions, true)) {
    if (static_cast<std::int64_t>(from.size()) > into.bytes()) return SizesDiffer(datarep);
    datatype::Unpack(from, 0, into);
    *memory_bytes = static_cast<std::int64_t>(from.size());
    return {};
  }
  Prefix prefix{static_cast<std::int64_t>(from.size())};
  if (Failure failure = CountPrefix(datarep, *into.type, into.count, &prefix); !failure.ok())
    return failure;
  *memory_bytes = prefix.memory_bytes;
  if (prefix.leaves == 0) return {};
  return Convert(datarep, true, into, from.data(), prefix.leaves);
}

}  // namespace lamina::io
