// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/rank_questions.h"

#include <event2/event.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <thread>
#include <utility>

#include "launcher/control/ask.h"
#include "launcher/supervise/tuning.h"
#include "runtime/base/name_file.h"
#include "runtime/base/quiet_thread.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// Asks the other launchers of this user on this machine for a name, and tells `asker`. A thread
// does so, because two launchers that wait for each other would wait in vain.
void FindElsewhere(std::string_view name, std::optional<NameFile> file, Descriptor asker) {
  if (asker.value() < 0) return;
  const SignalsBlocked signals;
  std::thread([name = std::string(name), file = std::move(file), asker = std::move(asker)] {
    const std::string filed = file ? file->Find(name) : "";
    std::string answer = filed.empty() ? "none\nend\n" : "name " + filed + "\nend\n";
    for (const control::Launcher& launcher : control::Launchers()) {
      if (launcher.user != geteuid() || launcher.process == getpid()) continue;
      Result<std::string> told = control::Ask(launcher, "lookup " + name, kTieTimeoutMs);
      if (!told.ok() || !told->starts_with("name ")) continue;
      answer = *std::move(told);
      break;
    }
    static_cast<void>(!send(asker.value(), answer.data(), answer.size(), MSG_NOSIGNAL));
  }).detach();
}

std::optional<NameFile> FileOfNames(const param::Settings& settings) {
  const param::Found* const found = settings.Find("dynamic.names.file");
  if (found == nullptr || found->value.empty()) return std::nullopt;
  return NameFile(found->value);
}

}  // namespace

RankQuestions::RankQuestions(event_base* loop, Further& further, RunHosts& hosts,
                             pid_t launcher_above, const param::Settings& settings, Outlets outlets)
    : further_(further),
      hosts_(hosts),
      launcher_above_(launcher_above),
      settings_(settings),
      outlets_(std::move(outlets)),
      names_(FileOfNames(settings)),
      passing_up_(loop) {
  if (names_.fd() < 0) return;
  owner_gone_ = event_new(
      loop, names_.fd(), EV_READ | EV_PERSIST,
      [](int, short, void* names) { static_cast<NameBoard*>(names)->ForgetTheDead(); }, &names_);
  event_add(owner_gone_, nullptr);
}

RankQuestions::~RankQuestions() {
  if (owner_gone_ != nullptr) event_free(owner_gone_);
}

bool RankQuestions::Answer(std::string_view question, const Reply& reply, const Keep& keep) {
  const std::vector<std::string_view> words = Split(question, ' ');
  const auto number = words.size() > 1 ? ParseInteger(words[1]) : std::nullopt;
  const bool of_names = words[0] == "publish" || words[0] == "unpublish" || words[0] == "find";
  if (of_names && launcher_above_ > 0) {
    // The names of a run are kept by its first launcher.
    Descriptor above = PassingUp::Reach(launcher_above_);
    if (above.value() < 0)
      reply(Format("refused mpiexec %d cannot be reached\nend\n", launcher_above_));
    else if (Descriptor asker = keep(); asker.value() >= 0)
      passing_up_.Add(std::move(asker), std::move(above), std::string(question));
  } else if (words[0] == "spawn") {
    StartFurther(std::span(words).subspan(1), keep());
  } else if (words[0] == "placed" && number && words.size() % 2 == 0) {
    RanksByHost ranks;
    for (std::size_t i = 2; i < words.size(); i += 2)
      ranks.emplace(words[i], static_cast<std::uint32_t>(ParseInteger(words[i + 1]).value_or(0)));
    further_.Placed(static_cast<pid_t>(*number), std::move(ranks));
    reply("end\n");
  } else if (words[0] == "linked" && number && words.size() == 2) {
    outlets_.linked(static_cast<int>(*number));
    reply("end\n");
  } else if (words[0] == "linked_late" && number && words.size() == 2) {
    outlets_.linked_late(static_cast<int>(*number));
    reply("end\n");
  } else if (question == "forsaken") {
    forsaken_.push_back(keep());
    if (outlets_.has_failed()) TellForsaken();
  } else if (question == "abandoned") {
    outlets_.abandoned();
    reply("end\n");
  } else if ((words[0] == "grow" || words[0] == "shrink") && words.size() == 2) {
    const Status done = words[0] == "grow" ? hosts_.Grow(words[1]) : hosts_.Shrink(words[1]);
    reply(done.ok() ? "done\nend\n" : "refused " + std::string(done.message()) + "\nend\n");
  } else if (question == "grown") {
    reply(hosts_.has_grown() ? "yes\nend\n" : "no\nend\n");
  } else if (const bool in_run = words.size() == 3 && words[2] == "run";
             words[0] == "find" && (words.size() == 2 || in_run)) {
    if (const std::string port = names_.Find(words[1]); !port.empty())
      reply("name " + port + "\nend\n");
    else if (in_run)
      reply("none\nend\n");
    else
      FindElsewhere(words[1], FileOfNames(settings_), keep());
  } else {
    const std::optional<std::string> answer = names_.Answer(question, keep);
    if (answer && !answer->empty()) reply(*answer);
    return answer.has_value();
  }
  return true;
}

// The words are hexadecimal digits, because they may hold anything.
void RankQuestions::StartFurther(std::span<const std::string_view> words, Descriptor tie) {
  if (tie.value() < 0) return;
  std::vector<std::string> order;
  for (const std::string_view word : words) order.push_back(FromHex(word));
  further_.Start(std::move(order), std::move(tie));
}

// Jobs whose own parent has finalized share the fate of the others of this job all the same. Those
// which do not any more know that themselves.
void RankQuestions::TellForsaken() {
  constexpr std::string_view kWord = "failed\n";
  for (const Descriptor& job : std::exchange(forsaken_, {}))
    static_cast<void>(!send(job.value(), kWord.data(), kWord.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

}  // namespace lamina::launcher
