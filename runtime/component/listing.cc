// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/component/listing.h"

#include <algorithm>

#include "runtime/base/text.h"

namespace lamina::component {
namespace {

// Prints cells in columns of equal width, two blanks apart; the last column is as wide as its text.
// A last cell that does not fit is wrapped between words.
class Table {
 public:
  Table(std::size_t indent, std::size_t columns_max) : indent_(indent), columns_max_(columns_max) {}

  void Add(std::vector<std::string> cells) {
    widths_.resize(std::max(widths_.size(), cells.size()));
    for (std::size_t i = 0; i < cells.size(); ++i)
      widths_[i] = std::max(widths_[i], cells[i].size());
    rows_.push_back(std::move(cells));
  }

  // Returns one text per row, each of one line or more.
  std::vector<std::string> Texts() const {
    std::vector<std::string> texts;
    for (const std::vector<std::string>& row : rows_) {
      std::string line(indent_, ' ');
      for (std::size_t i = 0; i + 1 < row.size(); ++i) {
        line += row[i];
        line.append(widths_[i] - row[i].size() + 2, ' ');
      }
      texts.push_back(Wrap(std::move(line), row.back()));
    }
    return texts;
  }

  std::string Text() const {
    std::string all;
    for (const std::string& text : Texts()) all += text;
    return all;
  }

 private:
  // The last cell gets a minimum of columns, however narrow the terminal is.
  std::string Wrap(std::string line, const std::string& cell) const {
    const std::size_t start = line.size();
    const std::size_t end = std::max(columns_max_, start + 24);
    std::string text;
    for (const std::string_view word : Split(cell, ' ')) {
      if (line.size() > start && line.size() + 1 + word.size() > end) {
        text += line + "\n";
        line.assign(start, ' ');
      }
      if (line.size() > start) line += ' ';
      line += word;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return text + line + "\n";
  }

  std::size_t indent_;
  std::size_t columns_max_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

std::string OriginText(const param::Row& row) {
  if (row.origin == Origin::kDefault) return "default";
  return row.where.empty() ? Name(row.origin) : row.where;
}

std::string ValueText(const std::string& value, Unit unit) {
  if (value.empty()) return "\"\"";
  const std::string name = Name(unit);
  return name.empty() ? value : value + " " + name;
}

template <class T, class NameOf>
Status NoSuch(const char* what, std::string_view name, const std::vector<T>& known,
              const NameOf& name_of) {
  std::vector<std::string> names;
  std::string all;
  for (const T& entry : known) {
    names.push_back(name_of(entry));
    all += (all.empty() ? "" : ", ") + names.back();
  }
  const std::string nearest = Nearest(name, names);
  const std::string hint = nearest.empty()
                               ? (all.empty() ? "; there is none" : "; there are " + all)
                               : "; did you mean \"" + nearest + "\"?";
  return Error(Code::kNotFound, "no %s \"%s\"%s", what, std::string(name).c_str(), hint.c_str());
}

}  // namespace

Result<std::vector<ListedFramework>> Filter(std::vector<ListedFramework> all,
                                            std::string_view framework,
                                            std::string_view component) {
  const auto name_of = [](const ListedFramework& entry) { return entry.name; };
  const auto component_name = [](const ListedComponent& entry) { return entry.info.name; };
  if (!framework.empty()) {
    std::vector<ListedFramework> kept;
    for (const ListedFramework& entry : all)
      if (entry.name == framework) kept.push_back(entry);
    if (kept.empty()) return NoSuch("framework", framework, all, name_of);
    all = std::move(kept);
  }
  if (component.empty()) return all;
  std::vector<ListedFramework> kept;
  std::vector<ListedComponent> known;
  for (ListedFramework& entry : all) {
    known.insert(known.end(), entry.components.begin(), entry.components.end());
    std::erase_if(entry.components,
                  [&](const ListedComponent& c) { return c.info.name != component; });
    const std::string file = "/" + entry.name + "_" + std::string(component) + ".so";
    std::erase_if(entry.refused, [&](const Refusal& r) { return !r.path.ends_with(file); });
    entry.params.clear();
    if (!entry.components.empty() || !entry.refused.empty()) kept.push_back(std::move(entry));
  }
  if (kept.empty()) return NoSuch("component", component, known, component_name);
  return kept;
}

std::vector<std::string> ParameterNames(const std::vector<ListedFramework>& frameworks) {
  std::vector<std::string> names;
  for (const ListedFramework& framework : frameworks) {
    for (const param::Row& row : framework.params) names.push_back(row.name);
    for (const ListedComponent& component : framework.components)
      for (const param::Row& row : component.params) names.push_back(row.name);
  }
  return names;
}

std::string PrintParams(const std::vector<param::Row>& rows, std::size_t indent,
                        std::size_t columns_max) {
  Table values(indent, columns_max);
  for (const param::Row& row : rows)
    values.Add({row.name, ValueText(row.value, row.unit), row.range.empty() ? "any" : row.range,
                OriginText(row)});
  const std::vector<std::string> lines = values.Texts();
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const param::Row& row = rows[i];
    Table notes(indent + 4, columns_max);
    if (!row.help.empty()) notes.Add({row.help});
    if (row.value != row.default_value)
      notes.Add({"Default: " + ValueText(row.default_value, row.unit) + "."});
    if (!row.problem.empty()) notes.Add({"Ignored: " + row.problem});
    text += lines[i] + notes.Text();
  }
  return text;
}

std::string Print(const std::vector<ListedFramework>& frameworks, const PrintOptions& options) {
  std::string text;
  for (const ListedFramework& framework : frameworks) {
    if (!text.empty()) text += "\n";
    text += framework.name + "\n";
    Table components(2, options.columns_max);
    for (const ListedComponent& component : framework.components) {
      const int priority = component.offer.priority;
      components.Add({component.info.name, component.info.version,
                      priority < 0 ? "cannot run" : Format("priority %3d", priority),
                      component.info.source, component.offer.why});
    }
    text += components.Text();
    if (framework.components.empty()) text += "  no component\n";
    if (options.refused) {
      Table refused(2, options.columns_max);
      for (const Refusal& refusal : framework.refused)
        refused.Add({"refused", refusal.path + ": " + refusal.reason});
      text += refused.Text();
    }
    if (!options.params) continue;
    std::vector<param::Row> rows = framework.params;
    for (const ListedComponent& component : framework.components)
      rows.insert(rows.end(), component.params.begin(), component.params.end());
    if (!rows.empty()) text += "  parameters\n" + PrintParams(rows, 4, options.columns_max);
  }
  return text;
}

}  // namespace lamina::component
