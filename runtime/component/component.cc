// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/component/component.h"

#include <cctype>

#include "runtime/base/text.h"

namespace lamina::component {

Status CheckName(const std::string& name) {
  bool good = !name.empty() && name != "base" && name != "include" &&
              !std::isdigit(static_cast<unsigned char>(name[0]));
  for (const char c : name)
    good = good && (std::islower(static_cast<unsigned char>(c)) ||
                    std::isdigit(static_cast<unsigned char>(c)) || c == '_');
  if (good) return {};
  return Error(Code::kInvalid,
               "\"%s\" cannot name a component: use a lower-case C identifier other than base and "
               "include",
               name.c_str());
}

bool VersionsAgree(std::string_view a, std::string_view b) {
  const auto number = [](const std::vector<std::string_view>& pieces, std::size_t i) {
    return i < pieces.size() ? pieces[i] : std::string_view("0");
  };
  const std::vector<std::string_view> as = Split(a, '.');
  const std::vector<std::string_view> bs = Split(b, '.');
  return number(as, 0) == number(bs, 0) && number(as, 1) == number(bs, 1);
}

bool Better(const Offer& a, const Info& a_info, const Offer& b, const Info& b_info) {
  if (a.priority != b.priority) return a.priority > b.priority;
  return a_info.name < b_info.name;
}

}  // namespace lamina::component
