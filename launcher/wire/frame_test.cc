// SPDX-License-Identifier: BSD-3-Clause
// Goal:   what was sent arrives, in any pieces and after any noise; what was not sent by the other
//         end is refused with a sentence, and never believed.
// Method: golden bytes as the README has them; frames cut at every place; one bit turned anywhere;
//         frames repeated, dropped and sent back.
#include "launcher/wire/frame.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "launcher/wire/bytes.h"
#include "runtime/base/seal.h"

namespace lamina::launcher::wire {
namespace {

std::string Counting(int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(i));
  return text;
}

std::string Hex(std::string_view bytes) {
  std::string hex;
  char digits[4];
  for (const char byte : bytes) {
    snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(byte));
    hex += digits;
  }
  return hex;
}

const Key kKey = SessionKey({}, Counting(16));

std::string Kinds(FrameReader* reader) {
  std::string kinds;
  for (;;) {
    Result<std::optional<Frame>> frame = reader->Next();
    if (!frame.ok()) return kinds + "!" + std::string(frame.status().message());
    if (!frame->has_value()) return kinds;
    kinds += std::to_string(static_cast<int>((*frame)->kind)) + ":" + (*frame)->payload + " ";
  }
}

std::string ThreeFrames() {
  FrameWriter writer(kKey, Direction::kToLauncher);
  std::string bytes;
  writer.Append(Kind::kHello, "hello", &bytes);
  writer.Append(Kind::kOutput, std::string(300, 'x'), &bytes);
  writer.Append(Kind::kBye, "", &bytes);
  return bytes;
}

const std::string kThree = "1:hello 3:" + std::string(300, 'x') + " 5: ";

TEST(SealTest, KnownAnswer) {  // the paper's own test vector
  Seal seal(KeyOf(Counting(16)));
  seal.Add(Counting(15));
  EXPECT_EQ(seal.Finish(), 0xa129ca6149be45e5u);
}

TEST(SealTest, PiecesDoNotMatter) {
  for (std::size_t cut = 0; cut <= 40; ++cut) {
    Seal whole(kKey), pieces(kKey);
    whole.Add(Counting(40));
    pieces.Add(Counting(40).substr(0, cut));
    pieces.Add(Counting(40).substr(cut));
    EXPECT_EQ(whole.Finish(), pieces.Finish());
  }
}

TEST(FrameTest, GoldenBytes) {
  FrameWriter writer(kKey, Direction::kToShepherd);
  std::string bytes;
  writer.Append(Kind::kSignal, Writer().U32(15).U32(1).U32(3).bytes(), &bytes);
  writer.Append(Kind::kSweep, "", &bytes);
  EXPECT_EQ(Hex(bytes),
            "0c000000"
            "2300"
            "0000"
            "995abf9c2df346f1"
            "0f000000"
            "01000000"
            "03000000"
            "00000000"
            "2400"
            "0000"
            "f79c3e24af73c868");
}

TEST(FrameTest, ArrivesInAnyPieces) {
  const std::string bytes = ThreeFrames();
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    FrameReader reader(kKey, Direction::kToLauncher);
    reader.Feed(bytes.substr(0, cut));
    std::string got = Kinds(&reader);
    reader.Feed(bytes.substr(cut));
    got += Kinds(&reader);
    ASSERT_EQ(got, kThree) << cut;
  }
}

TEST(FrameTest, NoiseBeforeTheMark) {
  const std::string noise =
      "Welcome to node07!\n" + std::string(kMark.substr(0, 5)) + "\nyou have mail\n";
  const std::string bytes = noise + std::string(kMark) + ThreeFrames();
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    FrameReader reader(kKey, Direction::kToLauncher);
    reader.ExpectMark();
    reader.Feed(bytes.substr(0, cut));
    std::string got = Kinds(&reader);
    reader.Feed(bytes.substr(cut));
    ASSERT_EQ(got + Kinds(&reader), kThree) << cut;
    EXPECT_EQ(reader.noise(), noise);
  }
}

TEST(FrameTest, EndlessNoiseIsRefused) {
  FrameReader reader(kKey, Direction::kToLauncher);
  reader.ExpectMark();
  std::string got;
  for (std::size_t bytes = 0; bytes <= kNoiseBytesMax && got.empty(); bytes += 65536) {
    reader.Feed(std::string(65536, 'y'));
    got = Kinds(&reader);
  }
  EXPECT_EQ(got, "!more than 1048576 bytes came before any greeting");
}

TEST(FrameTest, EveryBitCounts) {
  const std::string bytes = ThreeFrames();
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    FrameReader reader(kKey, Direction::kToLauncher);
    reader.Feed(damaged);
    // Refused, or still waiting for the bytes that a longer length promises.
    ASSERT_NE(Kinds(&reader), kThree) << bit;
  }
}

TEST(FrameTest, NoFrameIsTakenTwiceOutOfOrderOrFromItsSender) {
  FrameWriter writer(kKey, Direction::kToLauncher);
  std::string first, second;
  writer.Append(Kind::kBeat, "a", &first);
  writer.Append(Kind::kBeat, "b", &second);
  const auto read = [](const std::string& bytes, Direction direction, const Key& key) {
    FrameReader reader(key, direction);
    reader.Feed(bytes);
    return Kinds(&reader);
  };
  const std::string refused = "!a frame on the stream is damaged or not from the other end";
  EXPECT_EQ(read(first + second, Direction::kToLauncher, kKey), "65:a 65:b ");
  EXPECT_EQ(read(first + first, Direction::kToLauncher, kKey), "65:a " + refused);
  EXPECT_EQ(read(second, Direction::kToLauncher, kKey), refused);
  EXPECT_EQ(read(first, Direction::kToShepherd, kKey), refused);
  EXPECT_EQ(read(first, Direction::kToLauncher, SessionKey({1, 2}, Counting(16))), refused);
}

TEST(FrameTest, TheFirstFrameIsShort) {
  FrameWriter writer(kKey, Direction::kToLauncher);
  std::string bytes;
  writer.Append(Kind::kHello, std::string(kFirstPayloadBytesMax + 1, 'x'), &bytes);
  FrameReader reader(kKey, Direction::kToLauncher);
  reader.Feed(bytes.substr(0, kHeaderBytes));  // known from the header alone
  EXPECT_EQ(Kinds(&reader), "!bytes that are no frame arrived on the stream");
}

}  // namespace
}  // namespace lamina::launcher::wire
