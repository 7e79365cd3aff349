#include "executor/fabric/socket_fabric.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/nearest.h"
#include "executor/fabric/ring_communicator.h"
#include "executor/fabric/socket_links.h"
#include "executor/interface/host_identity.h"

namespace amsp {
namespace {

std::string text_of(const in_addr& address) {
  char text[INET_ADDRSTRLEN] = {};
  inet_ntop(AF_INET, &address, text, sizeof text);
  return text;
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.");
}

/// IPv4 addresses by interface; empty where it has none.
std::map<std::string, std::string> interface_addresses() {
  std::map<std::string, std::string> addresses;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return addresses;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    std::string& address = addresses[one->ifa_name];
    if (address.empty() && one->ifa_addr != nullptr && one->ifa_addr->sa_family == AF_INET)
      address = text_of(reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr);
  }
  freeifaddrs(all);
  return addresses;
}

/// What the host's own name resolves to, or "".
std::string host_address() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  addrinfo hints{};
  hints.ai_family = AF_INET;
  addrinfo* found = nullptr;
  if (getaddrinfo(name, nullptr, &hints, &found) != 0 || found == nullptr) return "";
  const std::string address =
      text_of(reinterpret_cast<const sockaddr_in*>(found->ai_addr)->sin_addr);
  freeaddrinfo(found);
  return address;
}

}  // namespace

SocketFabric::SocketFabric(World& world, const SocketOptions& options)
    : world_(world), options_(options), interface_(options.interface) {
  const std::vector<std::string> domains = world.exchange(network_domain());
  const bool one_network =
      std::all_of(domains.begin(), domains.end(), [&](const auto& d) { return d == domains[0]; });
  if (interface_.empty() && one_network) return;

  const std::map<std::string, std::string> addresses = interface_addresses();
  std::vector<std::string> names;
  for (const auto& [name, address] : addresses) names.push_back(name);
  if (interface_.empty()) {
    host_ = host_address();
    for (const auto& [name, address] : addresses)
      if (address == host_) interface_ = name;
  } else {
    const auto found = addresses.find(interface_);
    if (found == addresses.end())
      throw ConfigError(
          fmt::format("network interface '{}' doesn't exist on the host of rank {}; there are {}",
                      interface_, world.rank(), join(names)));
    host_ = found->second;
  }
  if (host_.empty())
    throw ConfigError(
        fmt::format("rank {} has no address to be reached at; name a network "
                    "interface with an IPv4 address, of {}",
                    world.rank(), join(names)));
  if (is_loopback(host_) && !one_network)
    throw ConfigError(fmt::format(
        "the ranks are on several hosts, and rank {} would only be reached by its own: {}; name a "
        "network interface, of {}",
        world.rank(),
        options.interface.empty() ? "its host's name resolves to the loopback interface"
                                  : "that is what the loopback interface does",
        join(names)));
}

std::string SocketFabric::description() const {
  return interface_.empty() ? "sockets of one machine" : fmt::format("TCP ({})", interface_);
}

std::unique_ptr<Communicator> SocketFabric::open(const SubMesh& mesh, Mesh dp) {
  AMSP_CHECK(dp.size() == world_.size(), "mesh {} in a world of {} ranks", to_string(dp),
             world_.size());
  const auto [group, position] = group_position(mesh, dp, world_.rank());
  const auto ranks = process_groups(mesh, dp)[static_cast<std::size_t>(group)];
  auto links = std::make_unique<SocketLinks>(host_, ranks, position, options_.patience);

  const std::string what = to_string(mesh) + " in " + to_string(dp);
  const auto all = world_.exchange(what + ";" + links->address());
  std::vector<std::string> addresses;
  for (const std::string& text : all) {
    AMSP_CHECK(text.substr(0, text.find(';')) == what, "ranks open {} and {}", what,
               text.substr(0, text.find(';')));
  }
  for (const Rank rank : ranks) {
    const std::string& text = all[static_cast<std::size_t>(rank)];
    addresses.push_back(text.substr(text.find(';') + 1));
  }
  links->connect(addresses);
  return std::make_unique<RingCommunicator>(std::move(links));
}

}  // namespace amsp
