// SPDX-License-Identifier: BSD-3-Clause
// Goal:   attributes are set, found, copied and deleted as section 7.7 says, and the application's
//         functions are called exactly when it says so.
// Method: keyvals whose functions write down what they were called with.
#include "runtime/object/attributes.h"

#include <gtest/gtest.h>

#include <string>

namespace lamina::core {
namespace {

std::string diary;
int answer = MPI_SUCCESS;

int Copy(MPI_Comm, int, void* extra, void* value, void* copied, int* flag) {
  diary +=
      "copy " + std::to_string(reinterpret_cast<long>(value)) + static_cast<char*>(extra) + " ";
  *static_cast<void**>(copied) = static_cast<char*>(value) + 1;
  *flag = 1;
  return answer;
}
int Delete(MPI_Comm, int, void* value, void*) {
  diary += "delete " + std::to_string(reinterpret_cast<long>(value)) + " ";
  return answer;
}
void* Value(long number) { return reinterpret_cast<void*>(number); }

class AttributesTest : public testing::Test {
 protected:
  AttributesTest() {
    diary.clear();
    answer = MPI_SUCCESS;
    EXPECT_EQ(CreateKeyval(Holder::kComm, reinterpret_cast<void (*)()>(Copy),
                           reinterpret_cast<void (*)()>(Delete), extra_, &key_),
              MPI_SUCCESS);
  }
  ~AttributesTest() override {
    answer = MPI_SUCCESS;
    EXPECT_EQ(DeleteAllAttributes(Holder::kComm, nullptr, &attributes_), MPI_SUCCESS);
    if (key_ != MPI_KEYVAL_INVALID) {
      EXPECT_EQ(FreeKeyval(Holder::kComm, &key_), MPI_SUCCESS);
    }
  }
  int Set(long number) {
    return SetAttribute(Holder::kComm, nullptr, &attributes_, key_, Value(number));
  }
  // Returns the value, or -1 if there is none.
  long Get(const Attributes& attributes, int key) {
    void* value = nullptr;
    bool found = false;
    EXPECT_EQ(GetAttribute(Holder::kComm, attributes, key, &value, &found), MPI_SUCCESS);
    return found ? reinterpret_cast<long>(value) : -1;
  }

  char extra_[2] = "x";
  int key_ = MPI_KEYVAL_INVALID;
  Attributes attributes_;
};

TEST_F(AttributesTest, SettingAgainDeletesTheOldValue) {
  EXPECT_EQ(Get(attributes_, key_), -1);
  EXPECT_EQ(Set(7), MPI_SUCCESS);
  EXPECT_EQ(Set(8), MPI_SUCCESS);
  EXPECT_EQ(diary, "delete 7 ");
  EXPECT_EQ(Get(attributes_, key_), 8);
}

TEST_F(AttributesTest, DeleteThatFailsChangesNothing) {
  EXPECT_EQ(Set(7), MPI_SUCCESS);
  answer = MPI_ERR_OTHER;
  EXPECT_EQ(DeleteAttribute(Holder::kComm, nullptr, &attributes_, key_), MPI_ERR_OTHER);
  EXPECT_EQ(Set(8), MPI_ERR_OTHER);
  EXPECT_EQ(Get(attributes_, key_), 7);
}

TEST_F(AttributesTest, CopyCallsTheFunctionWithItsExtraState) {
  EXPECT_EQ(Set(7), MPI_SUCCESS);
  Attributes copy;
  EXPECT_EQ(CopyAttributes(Holder::kComm, nullptr, attributes_, &copy), MPI_SUCCESS);
  EXPECT_EQ(diary, "copy 7x ");
  EXPECT_EQ(Get(copy, key_), 8);
  EXPECT_EQ(DeleteAllAttributes(Holder::kComm, nullptr, &copy), MPI_SUCCESS);
}

TEST_F(AttributesTest, CopyThatFailsLeavesNothing) {
  EXPECT_EQ(Set(7), MPI_SUCCESS);
  answer = MPI_ERR_OTHER;
  Attributes copy;
  EXPECT_EQ(CopyAttributes(Holder::kComm, nullptr, attributes_, &copy), MPI_ERR_OTHER);
  EXPECT_TRUE(copy.values.empty());
}

TEST_F(AttributesTest, PredefinedCopyFunctions) {
  int dropped, kept;
  EXPECT_EQ(CreateKeyval(Holder::kComm, nullptr, nullptr, nullptr, &dropped), MPI_SUCCESS);
  EXPECT_EQ(CreateKeyval(Holder::kComm, reinterpret_cast<void (*)()>(MPI_COMM_DUP_FN), nullptr,
                         nullptr, &kept),
            MPI_SUCCESS);
  EXPECT_EQ(SetAttribute(Holder::kComm, nullptr, &attributes_, dropped, Value(1)), MPI_SUCCESS);
  EXPECT_EQ(SetAttribute(Holder::kComm, nullptr, &attributes_, kept, Value(2)), MPI_SUCCESS);
  Attributes copy;
  EXPECT_EQ(CopyAttributes(Holder::kComm, nullptr, attributes_, &copy), MPI_SUCCESS);
  EXPECT_EQ(Get(copy, dropped), -1);
  EXPECT_EQ(Get(copy, kept), 2);
  EXPECT_EQ(DeleteAllAttributes(Holder::kComm, nullptr, &copy), MPI_SUCCESS);
  EXPECT_EQ(FreeKeyval(Holder::kComm, &dropped), MPI_SUCCESS);
  EXPECT_EQ(FreeKeyval(Holder::kComm, &kept), MPI_SUCCESS);
}

TEST_F(AttributesTest, AllAreDeletedInReverseOrderOfSetting) {
  int second;
  EXPECT_EQ(
      CreateKeyval(Holder::kComm, nullptr, reinterpret_cast<void (*)()>(Delete), nullptr, &second),
      MPI_SUCCESS);
  EXPECT_EQ(Set(1), MPI_SUCCESS);
  EXPECT_EQ(SetAttribute(Holder::kComm, nullptr, &attributes_, second, Value(2)), MPI_SUCCESS);
  EXPECT_EQ(DeleteAllAttributes(Holder::kComm, nullptr, &attributes_), MPI_SUCCESS);
  EXPECT_EQ(diary, "delete 2 delete 1 ");
  EXPECT_EQ(FreeKeyval(Holder::kComm, &second), MPI_SUCCESS);
}

TEST_F(AttributesTest, WhatIsSetAgainIsTheLastOneSet) {
  int second;
  EXPECT_EQ(
      CreateKeyval(Holder::kComm, nullptr, reinterpret_cast<void (*)()>(Delete), nullptr, &second),
      MPI_SUCCESS);
  EXPECT_EQ(Set(1), MPI_SUCCESS);
  EXPECT_EQ(SetAttribute(Holder::kComm, nullptr, &attributes_, second, Value(2)), MPI_SUCCESS);
  EXPECT_EQ(Set(3), MPI_SUCCESS);
  EXPECT_EQ(DeleteAllAttributes(Holder::kComm, nullptr, &attributes_), MPI_SUCCESS);
  EXPECT_EQ(diary, "delete 1 delete 3 delete 2 ");
  EXPECT_EQ(FreeKeyval(Holder::kComm, &second), MPI_SUCCESS);
}

TEST_F(AttributesTest, TryingStopsWhereADeleteFails) {
  int second;
  EXPECT_EQ(CreateKeyval(Holder::kComm, nullptr, nullptr, nullptr, &second), MPI_SUCCESS);
  EXPECT_EQ(Set(1), MPI_SUCCESS);
  EXPECT_EQ(SetAttribute(Holder::kComm, nullptr, &attributes_, second, Value(2)), MPI_SUCCESS);
  answer = MPI_ERR_OTHER;
  EXPECT_EQ(TryDeleteAllAttributes(Holder::kComm, nullptr, &attributes_), MPI_ERR_OTHER);
  EXPECT_EQ(Get(attributes_, second), -1);
  EXPECT_EQ(Get(attributes_, key_), 1);
  answer = MPI_SUCCESS;
  EXPECT_EQ(TryDeleteAllAttributes(Holder::kComm, nullptr, &attributes_), MPI_SUCCESS);
  EXPECT_TRUE(attributes_.values.empty());
  EXPECT_EQ(FreeKeyval(Holder::kComm, &second), MPI_SUCCESS);
}

TEST_F(AttributesTest, AFreedKeyvalLivesWhileItIsUsed) {
  EXPECT_EQ(Set(7), MPI_SUCCESS);
  const int old_key = key_;
  EXPECT_EQ(FreeKeyval(Holder::kComm, &key_), MPI_SUCCESS);
  EXPECT_EQ(key_, MPI_KEYVAL_INVALID);
  EXPECT_EQ(Get(attributes_, old_key), 7);
  EXPECT_EQ(SetAttribute(Holder::kComm, nullptr, &attributes_, old_key, Value(8)), MPI_ERR_KEYVAL);
  EXPECT_EQ(DeleteAllAttributes(Holder::kComm, nullptr, &attributes_), MPI_SUCCESS);
  EXPECT_EQ(diary, "delete 7 ");
}

TEST_F(AttributesTest, KeyvalsOfOtherObjectsAreRefused) {
  int other;
  EXPECT_EQ(CreateKeyval(Holder::kDatatype, nullptr, nullptr, nullptr, &other), MPI_SUCCESS);
  EXPECT_EQ(SetAttribute(Holder::kComm, nullptr, &attributes_, other, nullptr), MPI_ERR_KEYVAL);
  EXPECT_EQ(SetAttribute(Holder::kComm, nullptr, &attributes_, MPI_TAG_UB, nullptr),
            MPI_ERR_KEYVAL);
  EXPECT_EQ(SetAttribute(Holder::kComm, nullptr, &attributes_, MPI_KEYVAL_INVALID, nullptr),
            MPI_ERR_KEYVAL);
  EXPECT_EQ(FreeKeyval(Holder::kDatatype, &other), MPI_SUCCESS);
}

}  // namespace
}  // namespace lamina::core
