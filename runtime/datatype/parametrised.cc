// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/datatype/parametrised.h"

#include "runtime/datatype/definition.h"
#include "runtime/datatype/op.h"
#include "runtime/datatype/predefined.h"

namespace lamina::datatype {
namespace {

// These types are in the order in which they were asked for; the library lock guards them.
std::vector<Datatype*>& Made() {
  static auto* const made = new std::vector<Datatype*>;
  return *made;
}

Datatype* Find(int combiner, const std::vector<int>& integers,
               const std::vector<Datatype*>& types) {
  for (Datatype* type : Made()) {
    const Contents& contents = type->definition->contents;
    if (contents.combiner == combiner && contents.integers == integers && contents.types == types)
      return type;
  }
  return nullptr;
}

// Makes a type that is like `model` but for its name.
Datatype* Keep(const Datatype& model, Contents contents) {
  auto* type = new Datatype(model);
  type->predefined_handle = 0;
  type->predefined_name = "";
  type->extras = nullptr;
  type->definition = new Definition;
  type->definition->contents = std::move(contents);
  Made().push_back(type);
  return type;
}

Datatype* Parametrised(int combiner, std::vector<int> integers, MPI_Datatype model) {
  if (model == MPI_DATATYPE_NULL) return nullptr;
  if (Datatype* found = Find(combiner, integers, {})) return found;
  return Keep(*FindDatatype(model), {combiner, std::move(integers), {}, {}, {}});
}

// This is one way to represent a number, which gfortran calls a kind.
struct Kind {
  int precision;
  int range;
  MPI_Datatype real;
  MPI_Datatype complex;
};

// Returns the first kind that is large enough, as the Fortran compiler's selected_real_kind does.
Kind RealKind(int precision, int range) {
  // The 10-byte kind lies between the other two; C calls it long double.
  const Kind kinds[] = {{6, 37, MPI_REAL4, MPI_COMPLEX8},
                        {15, 307, MPI_REAL8, MPI_COMPLEX16},
                        {18, 4931, MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX},
                        {33, 4931, MPI_REAL16, MPI_COMPLEX32}};
  // MPI_UNDEFINED is negative, so that every kind is large enough.
  for (const Kind& kind : kinds)
    if (precision <= kind.precision && range <= kind.range) return kind;
  return {0, 0, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
}

bool IsInteger(Basic basic) { return basic >= Basic::kInt8 && basic <= Basic::kUnsignedLong; }

}  // namespace

Datatype* FortranInteger(int range) {
  const struct {
    int range;
    MPI_Datatype type;
  } kinds[] = {{2, MPI_INTEGER1},
               {4, MPI_INTEGER2},
               {9, MPI_INTEGER4},
               {18, MPI_INTEGER8},
               {38, MPI_INTEGER16}};
  for (const auto& kind : kinds)
    if (range <= kind.range) return Parametrised(MPI_COMBINER_F90_INTEGER, {range}, kind.type);
  return nullptr;
}

Datatype* FortranReal(int precision, int range) {
  return Parametrised(MPI_COMBINER_F90_REAL, {precision, range}, RealKind(precision, range).real);
}

Datatype* FortranComplex(int precision, int range) {
  return Parametrised(MPI_COMBINER_F90_COMPLEX, {precision, range},
                      RealKind(precision, range).complex);
}

Datatype* ValueIndex(Datatype* value, Datatype* index) {
  const MPI_Datatype named[][3] = {
      {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},
      {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
      {MPI_LONG, MPI_INT, MPI_LONG_INT},
      {MPI_INT, MPI_INT, MPI_2INT},
      {MPI_SHORT, MPI_INT, MPI_SHORT_INT},
      {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
      {MPI_REAL, MPI_REAL, MPI_2REAL},
      {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER},
      {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION},
  };
  for (const auto& [value_type, index_type, pair] : named)
    if (FindDatatype(value_type) == value && FindDatatype(index_type) == index)
      return FindDatatype(pair);
  if (!value->predefined || !index->predefined || !IsInteger(index->basic)) return nullptr;
  if (Datatype* found = Find(MPI_COMBINER_VALUE_INDEX, {}, {value, index})) return found;
  Datatype pair;
  DescribePair(&pair, value->basic, index->basic);
  if (!Fits(*FindOp(MPI_MINLOC), pair)) return nullptr;
  LayoutBuilder builder;
  builder.Append(*value->layout, 0, 1, 0);
  builder.Append(*index->layout, IndexOffset(value->basic, index->basic), 1, 0);
  Datatype* made = Keep(pair, {MPI_COMBINER_VALUE_INDEX, {}, {}, {}, {value, index}});
  made->definition->layout = builder.Take();
  made->layout = made->definition->layout.get();
  return made;
}

}  // namespace lamina::datatype
