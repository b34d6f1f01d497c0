// SPDX-License-Identifier: BSD-3-Clause
// A definition says how a derived datatype was made, in two forms: as parts, which is what it
// means, and as the arguments of the call, which is what MPI_Type_get_contents gives back.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/datatype/datatype.h"
#include "runtime/datatype/layout.h"
#include "runtime/object/attributes.h"

namespace lamina::datatype {

// A part is `repeats` blocks, `stride` bytes apart, the first `displacement` bytes from the
// element's address; each block is `count` elements of `type` side by side.
struct Part {
  Datatype* type;
  std::int64_t displacement = 0;
  std::int64_t count = 1;
  std::int64_t repeats = 1;
  std::int64_t stride = 0;
};

// These are the arguments of the constructor call, in the order in which section 5.1.13 lists them.
// The _c forms, and only they, use `large_counts`. The types are held by reference.
struct Contents {
  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Count> large_counts;
  std::vector<Datatype*> types;
};

struct Definition {
  std::vector<Part> parts;
  std::vector<Datatype*> held;  // every type of `parts`, once each, by reference
  std::unique_ptr<OwnedLayout> layout;
  Contents contents;
};

struct Extras {
  std::string name;
  bool named = false;  // MPI_Type_set_name was called, perhaps with ""
  core::Attributes attributes;
};

// Makes room for a name and attributes if there is none yet.
Extras& ExtrasOf(Datatype* type);

// Keeps the arguments of the call that made `type` and takes references on the types in it.
void Record(Datatype* type, Contents contents);

// Returns how many basic elements `bytes` bytes of data of this type are, or -1 if the bytes end
// within one.
std::int64_t ElementsIn(const Datatype& type, std::int64_t bytes);
// Does the reverse: returns the bytes that the first `elements` basic elements take.
std::int64_t BytesOf(const Datatype& type, std::int64_t elements);

}  // namespace lamina::datatype
