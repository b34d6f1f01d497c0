// SPDX-License-Identifier: BSD-3-Clause
// Goal:   an error ends in the handler of its communicator, with class, call and argument named;
//         the application's own classes and codes work as section 9.5 says.
// Method: communicators have each kind of handler; the fatal ones run in a child of the test.
#include "runtime/core/errors.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/base/status.h"
#include "runtime/core/comm.h"
#include "runtime/core/session.h"

namespace lamina::core {
namespace {

Comm MakeComm(MPI_Errhandler handler) {
  Comm comm;
  comm.name = "test comm";
  comm.handle = MPI_COMM_WORLD;
  comm.errhandler = FindErrhandler(handler);
  return comm;
}

TEST(Errors, EveryClassHasATextThatBeginsWithItsName) {
  for (int error_class = 0; error_class <= MPI_ERR_ABI; ++error_class)
    EXPECT_EQ(std::string(ClassText(error_class)).find("MPI_"), 0u) << error_class;
  EXPECT_EQ(std::string(ClassText(MPI_ERR_TAG)).find("MPI_ERR_TAG:"), 0u);
  EXPECT_EQ(std::string(ClassText(MPI_ERR_IN_STATUS)).find("MPI_ERR_IN_STATUS:"), 0u);
  EXPECT_EQ(std::string(ClassText(MPI_ERR_RMA_SYNC)).find("MPI_ERR_RMA_SYNC:"), 0u);
  EXPECT_EQ(
      std::string(ClassText(MPI_ERR_UNSUPPORTED_OPERATION)).find("MPI_ERR_UNSUPPORTED_OPERATION:"),
      0u);
  EXPECT_STREQ(ClassText(-1), "");
  EXPECT_STREQ(ClassText(MPI_ERR_ABI + 1), "");
}

TEST(Errors, ReturnGivesTheClassAndKeepsTheText) {
  Comm comm = MakeComm(MPI_ERRORS_RETURN);
  EXPECT_EQ(Raise(&comm, MPI_ERR_TAG, "MPI_Send", "tag is %d, must be 0..%d", -5, 99), MPI_ERR_TAG);
  EXPECT_STREQ(LastErrorText(MPI_ERR_TAG), "MPI_Send: tag is -5, must be 0..99");
  EXPECT_STREQ(LastErrorText(MPI_ERR_RANK), "");
}

TEST(Errors, AStatusFromBelowGivesItsClass) {
  Comm comm = MakeComm(MPI_ERRORS_RETURN);
  EXPECT_EQ(Raise(&comm, Error(Code::kTruncated, "8 bytes for 4"), "MPI_Recv"), MPI_ERR_TRUNCATE);
  EXPECT_STREQ(LastErrorText(MPI_ERR_TRUNCATE), "MPI_Recv: 8 bytes for 4");
}

int seen_code = 0;
MPI_Comm seen_comm = MPI_COMM_NULL;
void Remember(MPI_Comm* comm, int* code, ...) {
  seen_comm = *comm;
  seen_code = *code;
}

TEST(Errors, AUsersHandlerIsCalledWithCommunicatorAndCode) {
  Errhandler handler;
  handler.action = Errhandler::Action::kUser;
  handler.function = reinterpret_cast<void (*)()>(Remember);
  handler.handle = ToHandle<MPI_Errhandler>(&handler);
  Comm comm = MakeComm(MPI_ERRORS_RETURN);
  comm.errhandler = FindErrhandler(handler.handle);
  ASSERT_EQ(comm.errhandler, &handler);
  EXPECT_EQ(Raise(&comm, MPI_ERR_ROOT, "MPI_Bcast", "root is 9"), MPI_ERR_ROOT);
  EXPECT_EQ(seen_code, MPI_ERR_ROOT);
  EXPECT_EQ(seen_comm, MPI_COMM_WORLD);
}

MPI_Session seen_session = MPI_SESSION_NULL;
void RememberSession(MPI_Session* session, int* code, ...) {
  seen_session = *session;
  seen_code = *code;
}

TEST(Errors, ASessionHasAHandlerOfItsOwn) {
  Errhandler* handler = new Errhandler;
  handler->action = Errhandler::Action::kUser;
  handler->target = Errhandler::Target::kSession;
  handler->function = reinterpret_cast<void (*)()>(RememberSession);
  handler->handle = ToHandle<MPI_Errhandler>(handler);
  Session* session = MakeSession(handler, nullptr);
  Release(handler);  // the session holds it
  EXPECT_EQ(FindSession(session->handle), session);
  EXPECT_EQ(RaiseOn(session, MPI_ERR_ARG, "MPI_Session_get_info", "%s", "why"), MPI_ERR_ARG);
  EXPECT_EQ(seen_code, MPI_ERR_ARG);
  EXPECT_EQ(seen_session, session->handle);
  const MPI_Session stale = session->handle;
  Release(session);
  EXPECT_EQ(FindSession(stale), nullptr);
}

TEST(Errors, WithoutAFileTheyAreReturned) {
  EXPECT_EQ(RaiseOnNoFile(MPI_ERR_FILE, "MPI_File_close", "none"), MPI_ERR_FILE);
  EXPECT_STREQ(LastErrorText(MPI_ERR_FILE), "MPI_File_close: none");
}

TEST(ErrorsDeathTest, FatalEndsTheProcessAndNamesEverything) {
  Comm comm = MakeComm(MPI_ERRORS_ARE_FATAL);
  EXPECT_EXIT(
      static_cast<void>(Raise(&comm, MPI_ERR_TAG, "MPI_Send", "tag is %d", -5)),
      testing::ExitedWithCode(MPI_ERR_TAG),
      "error MPI_Send: tag is -5 \\(MPI_ERR_TAG\\); the job is ended: MPI_ERRORS_ARE_FATAL on");
  comm.errhandler = FindErrhandler(MPI_ERRORS_ABORT);
  EXPECT_EXIT(static_cast<void>(Raise(&comm, MPI_ERR_TAG, "MPI_Send", "tag is %d", -5)),
              testing::ExitedWithCode(MPI_ERR_TAG), "MPI_ERRORS_ABORT");
}

TEST(ErrorsDeathTest, BeforeInitialisationEverythingIsFatal) {
  EXPECT_EXIT(
      static_cast<void>(Raise(nullptr, MPI_ERR_OTHER, "MPI_Send", "called before MPI_Init")),
      testing::ExitedWithCode(MPI_ERR_OTHER), "called before MPI_Init");
}

TEST(AddedErrors, ClassesCodesAndTexts) {
  int error_class, error_code;
  ASSERT_EQ(AddErrorClass(&error_class), MPI_SUCCESS);
  EXPECT_EQ(error_class, MPI_ERR_LASTCODE + 1);
  ASSERT_EQ(AddErrorCode(error_class, &error_code), MPI_SUCCESS);
  EXPECT_EQ(LastUsedErrorCode(), error_code);
  EXPECT_EQ(ClassOfErrorCode(error_code), error_class);
  EXPECT_EQ(ClassOfErrorCode(error_class), error_class);
  EXPECT_STREQ(ErrorText(error_code), "");
  EXPECT_EQ(AddErrorString(error_code, "too hot"), MPI_SUCCESS);
  EXPECT_STREQ(ErrorText(error_code), "too hot");
  EXPECT_EQ(AddErrorString(error_class, "weather"), MPI_SUCCESS);
  EXPECT_EQ(RemoveErrorClass(error_class), MPI_ERR_OTHER);  // still has a code
  EXPECT_EQ(RemoveErrorCode(error_code), MPI_ERR_OTHER);    // still has a text
  EXPECT_EQ(RemoveErrorString(error_code), MPI_SUCCESS);
  EXPECT_EQ(RemoveErrorCode(error_code), MPI_SUCCESS);
  EXPECT_EQ(RemoveErrorClass(error_class), MPI_ERR_OTHER);  // still has a text
  EXPECT_EQ(RemoveErrorString(error_class), MPI_SUCCESS);
  EXPECT_EQ(RemoveErrorClass(error_class), MPI_SUCCESS);
  EXPECT_EQ(LastUsedErrorCode(), MPI_ERR_LASTCODE);
  EXPECT_EQ(ClassOfErrorCode(error_code), -1);
  EXPECT_EQ(ErrorText(error_code), nullptr);
}

TEST(AddedErrors, PredefinedOnesCannotBeChanged) {
  EXPECT_EQ(AddErrorString(MPI_ERR_TAG, "mine"), MPI_ERR_ARG);
  EXPECT_EQ(RemoveErrorClass(MPI_ERR_TAG), MPI_ERR_ARG);
  int code;
  EXPECT_EQ(AddErrorCode(12345, &code), MPI_ERR_ARG);
  ASSERT_EQ(AddErrorCode(MPI_ERR_TAG, &code), MPI_SUCCESS);
  EXPECT_EQ(ClassOfErrorCode(code), MPI_ERR_TAG);
  EXPECT_EQ(RemoveErrorCode(code), MPI_SUCCESS);
}

}  // namespace
}  // namespace lamina::core
