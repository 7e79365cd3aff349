#include "executor/interface/host_identity.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "core/error.h"

namespace amsp {
namespace {

std::string boot_id() {
  std::string id;
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  if (!std::getline(file, id)) {
    throw DeviceError("can't tell hosts apart: /proc/sys/kernel/random/boot_id is not readable");
  }
  return id;
}

std::string name_space(const char* kind) {
  std::error_code error;
  const auto link = std::filesystem::read_symlink(std::string("/proc/self/ns/") + kind, error);
  if (error == std::errc::no_such_file_or_directory) return "-";  // an old kernel has no such kind
  if (error) {
    throw DeviceError(
        fmt::format("can't tell hosts apart: /proc/self/ns/{}: {}", kind, error.message()));
  }
  return link.string();
}

}  // namespace

std::string clock_domain() {
  return boot_id() + " " + name_space("time");
}
bool has_one_clock(World& world) {
  const std::vector<std::string> domains = world.exchange(clock_domain());
  return std::ranges::all_of(domains, [&](const auto& domain) { return domain == domains[0]; });
}
std::string network_domain() {
  return boot_id() + " " + name_space("net");
}
std::string process_domain() {
  return boot_id() + " " + name_space("pid");
}

}  // namespace amsp
