#include "tools/sim/host_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

namespace amsp {
namespace {

constexpr std::string_view kDigits = "0123456789";

bool is_name(std::string_view text) {
  return text.find_first_of(" \t\r\n[],#=:\"'") == std::string_view::npos;
}

/// A name's number at its end: "gpu" and "007".
struct Numbered {
  std::string prefix, digits;
};

Numbered split(const std::string& host) {
  const std::size_t last = host.find_last_not_of(kDigits);
  const std::size_t at = last == std::string::npos ? 0 : last + 1;
  return {host.substr(0, at), host.substr(at)};
}

/// More digits than a number of the program has are part of a name.
std::optional<long> number(const std::string& digits) {
  long value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [next, error] = std::from_chars(digits.data(), end, value);
  if (digits.empty() || error != std::errc{} || next != end) return std::nullopt;
  return value;
}

/// "001-004,009" behind `prefix` and before `suffix`.
bool expand_ranges(std::string_view ranges, std::string_view prefix, std::string_view suffix,
                   std::size_t most, std::vector<std::string>& hosts) {
  while (true) {
    const std::string range(ranges.substr(0, ranges.find(',')));
    const std::size_t dash = range.find('-');
    const std::string first = range.substr(0, dash);
    const std::string last = dash == std::string::npos ? first : range.substr(dash + 1);
    const auto from = number(first), to = number(last);
    if (!from || !to || *to < *from || static_cast<std::size_t>(*to - *from) >= most) return false;
    for (long i = *from; i <= *to; ++i)
      hosts.push_back(fmt::format("{}{:0{}}{}", prefix, i, first.size(), suffix));
    if (hosts.size() > most) return false;
    if (range.size() == ranges.size()) return true;
    ranges.remove_prefix(range.size() + 1);
  }
}

}  // namespace

std::optional<std::vector<std::string>> expand_hosts(std::string_view text, std::size_t most) {
  std::vector<std::string> hosts;
  while (true) {
    std::size_t end = 0;
    while (end < text.size() && text[end] != ',' && text[end] != '[') ++end;
    const std::string_view prefix = text.substr(0, end);
    if (!is_name(prefix)) return std::nullopt;
    if (end < text.size() && text[end] == '[') {
      const std::size_t close = text.find(']', end);
      if (close == std::string_view::npos) return std::nullopt;
      const std::size_t next = std::min(text.find(',', close), text.size());
      const std::string_view suffix = text.substr(close + 1, next - close - 1);
      if (!is_name(suffix) ||
          !expand_ranges(text.substr(end + 1, close - end - 1), prefix, suffix, most, hosts))
        return std::nullopt;
      end = next;
    } else {
      if (prefix.empty()) return std::nullopt;
      hosts.emplace_back(prefix);
    }
    if (hosts.size() > most) return std::nullopt;
    if (end == text.size()) return hosts;
    text.remove_prefix(end + 1);
  }
}

std::string compress_hosts(const std::vector<std::string>& hosts) {
  std::string text;
  for (std::size_t i = 0; i < hosts.size();) {
    const Numbered start = split(hosts[i]);
    // all that follow with the same prefix and width
    std::vector<long> numbers;
    std::size_t next = i;
    for (; next < hosts.size(); ++next) {
      const Numbered part = split(hosts[next]);
      const auto value = number(part.digits);
      if (!value || part.prefix != start.prefix || part.digits.size() != start.digits.size()) break;
      numbers.push_back(*value);
    }
    text += text.empty() ? "" : ",";
    if (numbers.size() < 2) {
      text += hosts[i++];
      continue;
    }
    std::string ranges;
    for (std::size_t a = 0; a < numbers.size();) {
      std::size_t b = a;
      while (b + 1 < numbers.size() && numbers[b + 1] == numbers[b] + 1) ++b;
      ranges += fmt::format("{}{:0{}}", ranges.empty() ? "" : ",", numbers[a], start.digits.size());
      if (b > a) ranges += fmt::format("-{:0{}}", numbers[b], start.digits.size());
      a = b + 1;
    }
    text += fmt::format("{}[{}]", start.prefix, ranges);
    i = next;
  }
  return text;
}

}  // namespace amsp
