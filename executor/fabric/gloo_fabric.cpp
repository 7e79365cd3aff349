#include "executor/fabric/gloo_fabric.h"

#include <gloo/config.h>
#include <gloo/transport/tcp/device.h>
#include <net/if.h>

#include <algorithm>
#include <csignal>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/nearest.h"
#include "executor/fabric/gloo_links.h"
#include "executor/fabric/host_identity.h"
#include "executor/fabric/ring_communicator.h"

namespace amsp {
namespace {

constexpr const char* kLoopback = "lo";

/// gloo writes to connections whose other end may be gone: that must be an error, not a signal.
void ignore_sigpipe() {
  struct sigaction action {};
  sigaction(SIGPIPE, nullptr, &action);
  if ((action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL) {
    std::signal(SIGPIPE, SIG_IGN);
  }
}

std::vector<std::string> interfaces() {
  std::vector<std::string> names;
  struct if_nameindex* all = if_nameindex();
  for (auto* one = all; one != nullptr && one->if_index != 0; ++one)
    names.emplace_back(one->if_name);
  if_freenameindex(all);
  return names;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// "eth0" of "tcp, pci=..., iface=eth0, speed=...".
std::string interface_of(const std::string& device) {
  const std::string key = "iface=";
  const std::size_t begin = device.find(key) + key.size();
  return device.substr(begin, device.find(',', begin) - begin);
}

}  // namespace

GlooFabric::GlooFabric(World& world, const GlooOptions& options)
    : world_(world), options_(options) {
  ignore_sigpipe();
  const std::vector<std::string> domains = world.exchange(network_domain());
  const bool one_network =
      std::all_of(domains.begin(), domains.end(), [&](const auto& d) { return d == domains[0]; });

  gloo::transport::tcp::attr attributes;
  attributes.iface = options.interface;
  if (options.interface.empty() && one_network) attributes.iface = kLoopback;
  if (!attributes.iface.empty()) attributes.ai_family = AF_INET;
  const auto names = interfaces();
  if (!options.interface.empty() &&
      std::find(names.begin(), names.end(), options.interface) == names.end()) {
    throw ConfigError(
        fmt::format("network interface '{}' doesn't exist on the host of rank {}; "
                    "there are {}",
                    options.interface, world.rank(), joined(names)));
  }
  try {
    device_ = gloo::transport::tcp::CreateDevice(attributes);
  } catch (const std::exception& error) {
    throw ConfigError(
        fmt::format("rank {} has no address to be reached at: {}; name a network "
                    "interface with an IPv4 address, of {}",
                    world.rank(), error.what(), joined(names)));
  }
  interface_ = interface_of(device_->str());
  if (interface_ == kLoopback && !one_network) {
    throw ConfigError(fmt::format(
        "the ranks are on several hosts, and rank {} would only be reached by its own: {}; name a "
        "network interface, of {}",
        world.rank(),
        options.interface.empty() ? "its host's name resolves to the loopback interface"
                                  : "that is what the loopback interface does",
        joined(names)));
  }
}

GlooFabric::~GlooFabric() = default;

std::string GlooFabric::description() const {
  return fmt::format("gloo {}.{} over TCP ({})", GLOO_VERSION_MAJOR, GLOO_VERSION_MINOR,
                     interface_);
}

std::unique_ptr<Communicator> GlooFabric::open(const SubMesh& mesh, Mesh dp) {
  AMSP_CHECK(dp.size() == world_.size(), "mesh {} in a world of {} ranks", to_string(dp),
             world_.size());
  const auto [group, position] = group_position(mesh, dp, world_.rank());
  const auto ranks = process_groups(mesh, dp)[static_cast<std::size_t>(group)];
  auto links = std::make_unique<GlooLinks>(device_, ranks, position, options_.patience);

  const std::string what = to_string(mesh) + " in " + to_string(dp);
  const auto all = world_.exchange(what + ";" + links->addresses());
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
