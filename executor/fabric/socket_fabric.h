#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "executor/interface/communicator.h"
#include "executor/interface/world.h"

namespace amsp {

struct SocketOptions {
  /// The network interface, "eth0". Empty: sockets of the machine if all ranks are on it, else the
  /// one with the address that the host's name resolves to.
  std::string interface;
  /// A member that doesn't come for so long is taken for lost. One whose process ends, or whose
  /// machine closes the connection, is noticed at once.
  std::chrono::milliseconds patience = std::chrono::minutes(5);
};

/// Rings over sockets, for ranks that are processes; `world` is used to connect them. A
/// communicator has connections of its own, so that they don't wait for each other.
class SocketFabric : public Fabric {
 public:
  /// All ranks call it. ConfigError if the interface doesn't exist or can't connect them.
  SocketFabric(World& world, const SocketOptions& options);
  std::string description() const override;
  std::unique_ptr<Communicator> open(const SubMesh& mesh, Mesh dp) override;

 private:
  World& world_;
  SocketOptions options_;
  std::string interface_;  // empty: Unix sockets
  std::string host_;       // its IPv4 address
};

}  // namespace amsp
