#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace amsp {

/// What a reader repaired, set aside or doubts, by kind: how often, and the first few places.
class Notes {
 public:
  struct Note {
    std::int64_t count = 0;
    std::vector<std::string> examples;  // at most three
  };

  void add(const std::string& kind, const std::string& example) {
    Note& note = by_kind_[kind];
    ++note.count;
    if (note.examples.size() < kExamples) note.examples.push_back(example);
  }
  std::int64_t count(const std::string& kind) const {
    const auto found = by_kind_.find(kind);
    return found == by_kind_.end() ? 0 : found->second.count;
  }
  std::int64_t total() const {
    std::int64_t sum = 0;
    for (const auto& [kind, note] : by_kind_) sum += note.count;
    return sum;
  }
  const std::map<std::string, Note>& by_kind() const { return by_kind_; }

 private:
  static constexpr std::size_t kExamples = 3;

  std::map<std::string, Note> by_kind_;
};

}  // namespace amsp
