// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a type says where every byte of an element lies, and Pack, Unpack and Copy move exactly
//         those, whatever the type and wherever the packed range begins and ends.
// Method: random trees of constructors beside a naive model, a plain list of byte offsets, which
//         everything that the type knows is compared with.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>

#include "runtime/datatype/construct.h"
#include "runtime/datatype/external.h"
#include "runtime/datatype/layout.h"
#include "runtime/datatype/predefined.h"

namespace lamina::datatype {
namespace {

// A model spells out what a type means: the offset of every data byte in type map order.
struct Model {
  std::vector<std::int64_t> bytes;
  std::int64_t lower = 0;
  std::int64_t extent = 0;
  bool explicit_bounds = false;
  std::int64_t alignment = 1;

  std::int64_t upper() const { return lower + extent; }
};

struct Sample {
  Datatype* type;
  Model model;
};

Model ModelOf(const Datatype& predefined) {
  Model model;
  for (const Group& group : predefined.layout->groups)
    for (std::int64_t i = 0; i < group.bytes; ++i) model.bytes.push_back(group.offset + i);
  model.extent = predefined.extent;
  model.alignment = predefined.alignment;
  return model;
}

// Models elements of `children` placed at displacements, by the definitions of section 5.1.
Model Combine(const std::vector<std::pair<const Model*, std::int64_t>>& children) {
  Model model;
  for (const auto& [child, displacement] : children) {
    for (const std::int64_t byte : child->bytes) model.bytes.push_back(byte + displacement);
    model.explicit_bounds |= child->explicit_bounds;
    model.alignment = std::max(model.alignment, child->alignment);
  }
  bool first = true;
  std::int64_t upper = 0;
  for (const auto& [child, displacement] : children) {
    if (child->explicit_bounds != model.explicit_bounds) continue;
    if (child->bytes.empty() && !child->explicit_bounds) continue;  // has no bounds
    const std::int64_t low = child->lower + displacement, high = child->upper() + displacement;
    model.lower = first ? low : std::min(model.lower, low);
    upper = first ? high : std::max(upper, high);
    first = false;
  }
  model.extent = upper - model.lower;
  if (!model.explicit_bounds && model.extent % model.alignment != 0)
    model.extent += model.alignment - model.extent % model.alignment;
  return model;
}

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}
  ~Generator() {
    for (Datatype* type : made_) Release(type);
  }

  std::int64_t Between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  // Makes a committed type.
  Sample Ready(int depth) {
    Sample sample = Any(depth);
    Commit(sample.type);
    return sample;
  }

 private:
  Sample Any(int depth) {
    if (depth == 0) return Predefined();
    switch (Between(0, 6)) {
      case 0:
        return Contiguous(Any(depth - 1));
      case 1:
        return Vector(Any(depth - 1));
      case 2:
        return Blocks(depth - 1);
      case 3:
        return Resized(Any(depth - 1));
      case 4:
        return Subarray(Any(depth - 1));
      case 5:
        return Dup(Any(depth - 1));
      default:
        return Struct(depth - 1);
    }
  }

  Sample Predefined() {
    const auto types = PredefinedTypes();
    Datatype* type =
        &types[static_cast<std::size_t>(Between(0, static_cast<int>(types.size()) - 1))];
    return {type, ModelOf(*type)};
  }

  Sample Keep(Datatype* type, Model model) {
    made_.push_back(type);
    if (Between(0, 1) == 0) Commit(type);  // or with the first type around it that is
    return {type, std::move(model)};
  }

  Sample Contiguous(const Sample& child) {
    const std::int64_t count = Between(0, 4);
    std::vector<std::pair<const Model*, std::int64_t>> all;
    for (std::int64_t i = 0; i < count; ++i) all.emplace_back(&child.model, i * child.model.extent);
    return Keep(MakeContiguous(count, child.type), Combine(all));
  }

  Sample Vector(const Sample& child) {
    const std::int64_t count = Between(0, 4), block = Between(0, 3), stride = Between(-60, 60);
    std::vector<std::pair<const Model*, std::int64_t>> all;
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t j = 0; j < block; ++j)
        all.emplace_back(&child.model, i * stride + j * child.model.extent);
    return Keep(MakeVector(count, block, stride, child.type), Combine(all));
  }

  Sample Blocks(int depth) {
    const Sample child = Any(depth);
    std::vector<Part> parts;
    std::vector<std::pair<const Model*, std::int64_t>> all;
    for (std::int64_t i = Between(0, 4); i > 0; --i) {
      const std::int64_t length = Between(0, 3), displacement = Between(-8, 8) * child.model.extent;
      parts.push_back(Part{child.type, displacement, length});
      for (std::int64_t j = 0; j < length; ++j)
        all.emplace_back(&child.model, displacement + j * child.model.extent);
    }
    return Keep(MakeBlocks(std::move(parts)), Combine(all));
  }

  Sample Struct(int depth) {
    std::vector<Sample> children;
    for (std::int64_t i = Between(0, 3); i > 0; --i) children.push_back(Any(depth));
    std::vector<Part> parts;
    std::vector<std::pair<const Model*, std::int64_t>> all;
    for (const Sample& child : children) {
      const std::int64_t length = Between(0, 2), displacement = Between(-100, 100);
      parts.push_back(Part{child.type, displacement, length});
      for (std::int64_t j = 0; j < length; ++j)
        all.emplace_back(&child.model, displacement + j * child.model.extent);
    }
    return Keep(MakeBlocks(std::move(parts)), Combine(all));
  }

  Sample Resized(const Sample& child) {
    const std::int64_t lower = Between(-20, 20), extent = Between(-30, 90);
    Model model = child.model;
    model.lower = lower;
    model.extent = extent;
    model.explicit_bounds = true;
    return Keep(MakeResized(lower, extent, child.type), std::move(model));
  }

  Sample Dup(const Sample& child) { return Keep(MakeDup(child.type), child.model); }

  Sample Subarray(const Sample& child) {
    const std::int64_t rows = Between(1, 4), columns = Between(1, 4);
    const std::int64_t some_rows = Between(1, rows), some_columns = Between(1, columns);
    const std::int64_t top = Between(0, rows - some_rows),
                       left = Between(0, columns - some_columns);
    const Dimension dimensions[] = {{rows, some_rows, top}, {columns, some_columns, left}};
    std::vector<std::pair<const Model*, std::int64_t>> all;
    for (std::int64_t row = top; row < top + some_rows; ++row)
      for (std::int64_t column = left; column < left + some_columns; ++column)
        all.emplace_back(&child.model, (row * columns + column) * child.model.extent);
    Model model = Combine(all);
    model.lower = 0;
    model.extent = rows * columns * child.model.extent;
    model.explicit_bounds = true;
    return Keep(MakeSubarray(dimensions, child.type), std::move(model));
  }

  std::mt19937 random_;
  std::vector<Datatype*> made_;
};

// This is the memory that a buffer of `count` elements may touch; the user's address is `base`.
struct Memory {
  std::vector<std::byte> bytes;
  std::int64_t base;
};

Memory MemoryFor(const Model& model, std::int64_t count) {
  std::int64_t low = 0, high = 1;
  for (std::int64_t i = 0; i < count; ++i)
    for (const std::int64_t byte : model.bytes) {
      low = std::min(low, i * model.extent + byte);
      high = std::max(high, i * model.extent + byte + 1);
    }
  return {std::vector<std::byte>(static_cast<std::size_t>(high - low)), -low};
}

// Such a type must not be received into (section 5.1.11): which byte comes last is not defined.
bool HasOverlaps(const Model& model, std::int64_t count) {
  std::vector<std::int64_t> bytes;
  for (std::int64_t i = 0; i < count; ++i)
    for (const std::int64_t byte : model.bytes) bytes.push_back(i * model.extent + byte);
  std::sort(bytes.begin(), bytes.end());
  return std::adjacent_find(bytes.begin(), bytes.end()) != bytes.end();
}

void FillWithCounter(std::span<std::byte> bytes) {
  unsigned value = 1;
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(value++ * 151u);
}

std::vector<std::byte> NaivePack(const Memory& memory, const Model& model, std::int64_t count) {
  std::vector<std::byte> packed;
  for (std::int64_t i = 0; i < count; ++i)
    for (const std::int64_t byte : model.bytes)
      packed.push_back(
          memory.bytes[static_cast<std::size_t>(memory.base + i * model.extent + byte)]);
  return packed;
}

class RandomTypes : public testing::TestWithParam<unsigned> {};

TEST_P(RandomTypes, KnowTheirSizeBoundsAndLayout) {
  Generator generator(GetParam());
  for (int i = 0; i < 40; ++i) {
    const auto [type, model] = generator.Ready(3);
    const auto size = static_cast<std::int64_t>(model.bytes.size());
    ASSERT_EQ(type->size, size);
    ASSERT_EQ(type->lower, model.lower);
    ASSERT_EQ(type->extent, model.extent);
    std::int64_t position = 0;
    for (const Group& group : type->layout->groups) {
      ASSERT_EQ(group.position, position);
      position += group.size;
    }
    ASSERT_EQ(position, size);
    ASSERT_EQ(type->layout->size, size);
    if (size == 0) continue;
    const auto [low, high] = std::minmax_element(model.bytes.begin(), model.bytes.end());
    ASSERT_EQ(type->true_lower, *low);
    // A pair type counts the hole inside, so the true extent is never less than the bytes say.
    ASSERT_GE(type->true_extent, *high + 1 - *low);
    if (!type->contiguous) continue;
    ASSERT_EQ(type->extent, size);
    for (std::int64_t k = 0; k < size; ++k)
      ASSERT_EQ(model.bytes[static_cast<std::size_t>(k)], type->true_lower + k);
  }
}

TEST_P(RandomTypes, PackAnyRange) {
  Generator generator(GetParam());
  for (int i = 0; i < 40; ++i) {
    const auto [type, model] = generator.Ready(3);
    const std::int64_t count = generator.Between(0, 9);
    Memory memory = MemoryFor(model, count);
    FillWithCounter(memory.bytes);
    const std::vector<std::byte> expected = NaivePack(memory, model, count);
    const Buffer buffer{memory.bytes.data() + memory.base, count, type};
    const auto total = static_cast<std::int64_t>(expected.size());
    ASSERT_EQ(buffer.bytes(), total);
    for (int range = 0; range < 10; ++range) {
      const std::int64_t first = generator.Between(0, total);
      const std::int64_t length = generator.Between(0, total - first);
      std::vector<std::byte> packed(static_cast<std::size_t>(length));
      Pack(buffer, first, packed);
      ASSERT_TRUE(std::equal(packed.begin(), packed.end(), expected.begin() + first));
    }
  }
}

TEST_P(RandomTypes, UnpackInPieces) {
  Generator generator(GetParam());
  for (int i = 0; i < 100; ++i) {
    const auto [type, model] = generator.Ready(3);
    const std::int64_t count = generator.Between(0, 9);
    if (HasOverlaps(model, count)) continue;
    std::vector<std::byte> packed(static_cast<std::size_t>(count * type->size));
    FillWithCounter(packed);
    Memory expected = MemoryFor(model, count);
    std::size_t next = 0;
    for (std::int64_t k = 0; k < count; ++k)
      for (const std::int64_t byte : model.bytes)
        expected.bytes[static_cast<std::size_t>(expected.base + k * model.extent + byte)] =
            packed[next++];
    Memory memory = MemoryFor(model, count);
    const Buffer buffer{memory.bytes.data() + memory.base, count, type};
    for (std::size_t first = 0; first < packed.size();) {
      const auto length = static_cast<std::size_t>(generator.Between(1, 40));
      const std::size_t end = std::min(packed.size(), first + length);
      Unpack({packed.data() + first, end - first}, static_cast<std::int64_t>(first), buffer);
      first = end;
    }
    ASSERT_TRUE(memory.bytes == expected.bytes);
  }
}

TEST_P(RandomTypes, CopyFromOneLayoutToAnother) {
  Generator generator(GetParam());
  for (int i = 0; i < 40; ++i) {
    const auto [from_type, from_model] = generator.Ready(2);
    const auto [to_type, to_model] = generator.Ready(2);
    const std::int64_t from_count = generator.Between(1, 9), to_count = generator.Between(1, 9);
    if (HasOverlaps(to_model, to_count)) continue;
    Memory from = MemoryFor(from_model, from_count);
    FillWithCounter(from.bytes);
    Memory to = MemoryFor(to_model, to_count);
    Memory expected = to;
    const std::vector<std::byte> packed = NaivePack(from, from_model, from_count);
    std::size_t next = 0;
    for (std::int64_t k = 0; k < to_count; ++k)
      for (const std::int64_t byte : to_model.bytes)
        if (next < packed.size())
          expected.bytes[static_cast<std::size_t>(expected.base + k * to_model.extent + byte)] =
              packed[next++];
    Copy({from.bytes.data() + from.base, from_count, from_type},
         {to.bytes.data() + to.base, to_count, to_type});
    ASSERT_TRUE(to.bytes == expected.bytes);
  }
}

TEST_P(RandomTypes, CountElementsAndBytesAlike) {
  Generator generator(GetParam());
  for (int i = 0; i < 40; ++i) {
    const Datatype& type = *generator.Ready(3).type;
    for (std::int64_t elements = 0; elements <= 2 * type.elements; ++elements) {
      const std::int64_t bytes = BytesOf(type, elements);
      if (bytes == BytesOf(type, elements - 1) && elements > 0) continue;  // elements without bytes
      ASSERT_EQ(ElementsIn(type, bytes), elements);
    }
    ASSERT_EQ(BytesOf(type, type.elements), type.size);
  }
}

TEST_P(RandomTypes, ComeBackFromExternal32) {
  Generator generator(GetParam());
  for (int i = 0; i < 40; ++i) {
    const auto [type, model] = generator.Ready(3);
    const std::int64_t count = generator.Between(0, 3);
    Memory memory = MemoryFor(model, count);  // zeros: valid in every representation
    std::vector<std::byte> external(static_cast<std::size_t>(count * ExternalBytes(*type)) + 1,
                                    std::byte{0x55});
    PackExternal({memory.bytes.data() + memory.base, count, type}, external.data());
    ASSERT_EQ(external.back(), std::byte{0x55});
    for (std::size_t k = 0; k + 1 < external.size(); ++k) ASSERT_EQ(external[k], std::byte{0});
    Memory back = MemoryFor(model, count);
    const std::span<const std::byte> data(external.data(), external.size() - 1);
    EXPECT_EQ(UnpackExternal(data, {back.bytes.data() + back.base, count, type}),
              count * type->size);
    ASSERT_TRUE(back.bytes == memory.bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTypes, testing::Range(1u, 21u));

}  // namespace
}  // namespace lamina::datatype
