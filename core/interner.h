#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace amsp {

/// Numbers sequences: equal ones get the same number, new ones the next, from 0. Sequences are kept
/// and compared in full, so a hash collision merges nothing.
template <class T>
class Interner {
 public:
  /// start(), add() each element, then finish().
  void start() { key_.clear(); }
  void add(T element) { key_.push_back(element); }
  int finish() { return ids_.try_emplace(key_, static_cast<int>(ids_.size())).first->second; }
  int size() const { return static_cast<int>(ids_.size()); }
  void clear() { ids_.clear(); }

 private:
  struct Hash {
    std::size_t operator()(const std::vector<T>& key) const {
      std::uint64_t hash = 14695981039346656037ULL;
      for (const T element : key) {
        hash = (hash ^ static_cast<std::uint64_t>(element)) * 0x9E3779B97F4A7C15ULL;
        hash ^= hash >> 29;
      }
      return hash;
    }
  };
  std::vector<T> key_;
  std::unordered_map<std::vector<T>, int, Hash> ids_;
};

}  // namespace amsp
