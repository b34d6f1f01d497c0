// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/top/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace lamina::launcher {
namespace {

// Another page than that of the shell, no cursor, and no line goes on in the next one.
constexpr std::string_view kTake = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr std::string_view kGiveBack = "\x1b[?7h\x1b[?25h\x1b[?1049l";

constexpr int kWatched[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};

sigset_t Watched() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kWatched) sigaddset(&set, signal);
  return set;
}

void Write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = write(STDOUT_FILENO, text.data(), text.size());
    if (wrote < 0 && errno != EINTR) return;
    if (wrote > 0) text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

constexpr std::pair<std::string_view, Key> kKeys[] = {
    {"\x1b[A", Key::kUp},        {"\x1b[B", Key::kDown}, {"\x1b[C", Key::kRight},
    {"\x1b[D", Key::kLeft},      {"\x1bOA", Key::kUp},   {"\x1bOB", Key::kDown},
    {"\x1bOC", Key::kRight},     {"\x1bOD", Key::kLeft}, {"\x1b[5~", Key::kPageUp},
    {"\x1b[6~", Key::kPageDown}, {"\x1b[H", Key::kHome}, {"\x1b[F", Key::kEnd},
    {"\x1bOH", Key::kHome},      {"\x1bOF", Key::kEnd},  {"\x1b[1~", Key::kHome},
    {"\x1b[4~", Key::kEnd}};

}  // namespace

Pressed TakeKey(std::string* sent) {
  bool may_grow = false;
  for (const auto& [bytes, key] : kKeys) {
    if (sent->starts_with(bytes)) {
      sent->erase(0, bytes.size());
      return {key, '\0'};
    }
    may_grow = may_grow || bytes.starts_with(*sent);
  }
  if (may_grow) return {};  // or nothing was sent
  const char letter = sent->front();
  sent->erase(0, 1);
  return {Key::kLetter, letter};
}

bool Terminal::IsThere(const Environment& environment) {
  const auto name = environment.Get("TERM");
  return isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0 && name && *name != "dumb";
}

Result<std::unique_ptr<Terminal>> Terminal::Open() {
  std::unique_ptr<Terminal> terminal(new Terminal());
  const sigset_t watched = Watched();
  terminal->signals_ = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
  if (terminal->signals_ < 0 || tcgetattr(STDIN_FILENO, &terminal->before_) != 0)
    return SystemError(Code::kResource, errno, "cannot use the terminal");
  sigprocmask(SIG_BLOCK, &watched, nullptr);
  terminal->Take();
  return terminal;
}

Terminal::~Terminal() {
  if (signals_ < 0) return;
  GiveBack();
  close(signals_);
  const sigset_t watched = Watched();
  sigprocmask(SIG_UNBLOCK, &watched, nullptr);
}

void Terminal::Take() {
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  Write(kTake);
}

void Terminal::GiveBack() {
  Write(kGiveBack);
  tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
}

Terminal::Size Terminal::size() const {
  winsize window{};
  const bool known =
      ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_row > 0 && window.ws_col > 0;
  return known ? Size{window.ws_row, window.ws_col} : Size{24, 80};
}

void Terminal::Show(const std::vector<std::string>& lines, std::size_t head) {
  std::string page = "\x1b[H";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) page += "\r\n";
    page += (i == head ? "\x1b[7m" : "") + lines[i] + (i == head ? "\x1b[0m" : "") + "\x1b[K";
  }
  Write(page);
}

Pressed Terminal::Await(int ms) {
  if (const Pressed pressed = TakeKey(&sent_); pressed.key != Key::kNone) return pressed;
  pollfd watched[] = {{STDIN_FILENO, POLLIN, 0}, {signals_, POLLIN, 0}};
  if (poll(watched, 2, ms) <= 0) {
    sent_.clear();  // what began like a key, and was none
    return {};
  }
  if (watched[1].revents != 0) return OnSignal();
  char bytes[64];
  const ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
  if (got <= 0) return {Key::kGone, '\0'};
  sent_.append(bytes, static_cast<std::size_t>(got));
  return TakeKey(&sent_);
}

Pressed Terminal::OnSignal() {
  signalfd_siginfo info;
  Pressed pressed;
  while (read(signals_, &info, sizeof info) == sizeof info) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGTSTP) {
      GiveBack();
      raise(SIGSTOP);
      Take();
    }
    if (signal == SIGTSTP || signal == SIGCONT || signal == SIGWINCH) {
      if (pressed.key == Key::kNone) pressed.key = Key::kResized;
    } else {
      ended_by_ = signal;
      pressed.key = Key::kGone;
    }
  }
  return pressed;
}

}  // namespace lamina::launcher
