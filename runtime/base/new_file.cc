// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/new_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

namespace lamina {

NewFile::NewFile(std::string_view what, std::string name) : what_(what), name_(std::move(name)) {}

NewFile::~NewFile() {
  if (file_ == nullptr) return;
  fclose(file_);
  if (!own_name_.empty()) unlink(own_name_.c_str());
}

Status NewFile::Open() {
  struct stat old;
  if (stat(name_.c_str(), &old) == 0 && !S_ISREG(old.st_mode)) {
    file_ = fopen(name_.c_str(), "we");
    if (file_ != nullptr) return {};
    error_ = errno;
    return Failed();
  }
  own_name_ = name_ + ".XXXXXX";
  const int fd = mkostemp(own_name_.data(), O_CLOEXEC);
  if (fd < 0) {
    error_ = errno;
    return Failed();
  }
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(fd, 0666 & ~mask);
  file_ = fdopen(fd, "w");
  return {};
}

void NewFile::Write(std::string_view text) {
  if (error_ == 0 && fwrite(text.data(), 1, text.size(), file_) != text.size()) error_ = errno;
}

Status NewFile::Finish() {
  if (fflush(file_) != 0 && error_ == 0) error_ = errno;
  if (error_ == 0 && !own_name_.empty() && rename(own_name_.c_str(), name_.c_str()) != 0)
    error_ = errno;
  if (error_ != 0) return Failed();
  fclose(std::exchange(file_, nullptr));
  return {};
}

Status NewFile::Failed() const {
  return SystemError(Code::kResource, error_, "cannot write %s %s", what_.c_str(), name_.c_str());
}

Status WriteNewFile(std::string_view what, const std::string& name, std::string_view text) {
  NewFile file(what, name);
  if (Status status = file.Open(); !status.ok()) return status;
  file.Write(text);
  return file.Finish();
}

}  // namespace lamina
