#include "executor/world/tcp_options.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <charconv>
#include <optional>

#include "core/error.h"

namespace amsp {
namespace {

constexpr int kDefaultPort = 29417;
constexpr std::size_t kShortestSecret = 16;

class Variables {
 public:
  explicit Variables(const Environment& environment) : environment_(environment) {}

  std::optional<std::string> text(const char* name) const {
    const char* value = environment_(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  }
  std::optional<int> number(const char* name) const {
    const std::optional<std::string> value = text(name);
    if (!value) return std::nullopt;
    return parse(name, *value);
  }
  /// All of it a whole number from 0.
  static int parse(const char* name, const std::string& value) {
    int number = 0;
    const char* end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, number);
    if (error != std::errc() || stop != end || number < 0)
      throw ConfigError(fmt::format("{}: is '{}', not a whole number from 0", name, value));
    return number;
  }

 private:
  const Environment& environment_;
};

void read_ranks(const Variables& variables, const char* rank_name, const char* size_name,
                TcpWorldOptions& options) {
  const std::optional<int> rank = variables.number(rank_name);
  const std::optional<int> size = variables.number(size_name);
  if (!rank || !size)
    throw ConfigError(fmt::format("{}: is not set, and {} is", rank ? size_name : rank_name,
                                  rank ? rank_name : size_name));
  if (*rank >= *size)
    throw ConfigError(fmt::format("{}: is {}, and {} is {}", rank_name, *rank, size_name, *size));
  options.rank = *rank;
  options.size = *size;
}

/// host:port, [v6]:port
void read_master(const std::string& master, TcpWorldOptions& options) {
  const std::size_t colon = master.rfind(':');
  std::string host = master.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string::npos)
    host.clear();
  if (colon == std::string::npos || host.empty())
    throw ConfigError(fmt::format("AMSP_MASTER: is '{}', not host:port or [address]:port", master));
  options.host = host;
  options.port = Variables::parse("AMSP_MASTER", master.substr(colon + 1));
  if (options.port < 1 || options.port > 65535)
    throw ConfigError(fmt::format("AMSP_MASTER: port {} is not from 1 to 65535", options.port));
}

void read_slurm_master(const Variables& variables, TcpWorldOptions& options) {
  options.port = 20000 + variables.number("SLURM_JOB_ID").value_or(0) % 10000;
  if (variables.number("SLURM_JOB_NUM_NODES") == 1) return;
  if (const auto list = variables.text("SLURM_JOB_NODELIST"))
    options.host = first_slurm_host(*list);
  else if (const auto address = variables.text("SLURM_LAUNCH_NODE_IPADDR"))
    options.host = *address;
  else
    throw ConfigError(
        "AMSP_MASTER: is not set, and neither are SLURM_JOB_NODELIST and "
        "SLURM_LAUNCH_NODE_IPADDR");
}

}  // namespace

bool is_loopback(const std::string& host) {
  if (host == "localhost") return true;
  in_addr v4;
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  in6_addr v6;
  return inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

void require_secret(const TcpWorldOptions& options) {
  if (options.secret.empty() && options.size > 1 && !is_loopback(options.host))
    throw ConfigError(
        fmt::format("AMSP_SECRET: is not set; {} is not the loopback interface, and there every "
                    "rank must know a secret",
                    options.host));
  if (!options.secret.empty() && options.secret.size() < kShortestSecret)
    throw ConfigError(fmt::format("AMSP_SECRET: has {} characters; at least {} are needed",
                                  options.secret.size(), kShortestSecret));
}

std::string first_slurm_host(const std::string& list) {
  const std::size_t end = list.find_first_of(",[");
  std::string host = list.substr(0, end);
  if (end != std::string::npos && list[end] == '[') {
    const std::size_t close = list.find(']', end);
    const std::size_t stop = list.find_first_of("-,]", end + 1);
    if (close == std::string::npos || stop == end + 1)
      throw ConfigError(fmt::format("SLURM_JOB_NODELIST: '{}' is not a list of hosts", list));
    host += list.substr(end + 1, stop - end - 1);
    host += list.substr(close + 1, list.find_first_of(",[", close) - close - 1);
  }
  if (host.empty())
    throw ConfigError(fmt::format("SLURM_JOB_NODELIST: '{}' is not a list of hosts", list));
  return host;
}

TcpWorldOptions tcp_world_options(const Environment& environment) {
  const Variables variables(environment);
  TcpWorldOptions options;
  options.port = kDefaultPort;
  const auto master = variables.text("AMSP_MASTER");
  if (variables.text("AMSP_RANK") || variables.text("AMSP_WORLD_SIZE")) {
    read_ranks(variables, "AMSP_RANK", "AMSP_WORLD_SIZE", options);
  } else if (variables.text("SLURM_PROCID") || variables.text("SLURM_NTASKS")) {
    read_ranks(variables, "SLURM_PROCID", "SLURM_NTASKS", options);
    if (!master) read_slurm_master(variables, options);
  } else {
    throw ConfigError(
        "AMSP_RANK and AMSP_WORLD_SIZE: are not set, and neither are Slurm's SLURM_PROCID and "
        "SLURM_NTASKS");
  }
  if (master) read_master(*master, options);
  options.secret = variables.text("AMSP_SECRET").value_or("");
  require_secret(options);
  return options;
}

}  // namespace amsp
