#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "executor/communicator.h"
#include "executor/world.h"

namespace gloo::transport {
class Device;
}

namespace amsp {

struct GlooOptions {
  /// The network interface, "eth0". Empty: loopback if it connects all ranks, else the one with the
  /// address that the host's name resolves to.
  std::string interface;
  /// A member that doesn't come for so long is taken for lost. One whose process ends, or whose
  /// machine closes the connection, is noticed at once.
  std::chrono::milliseconds patience = std::chrono::minutes(5);
};

/// Rings over TCP by gloo, for ranks that are processes; `world` is used to connect them. A
/// communicator has connections of its own, so that they don't wait for each other; all share one
/// thread that moves data. Ignores SIGPIPE in the whole process, if nothing else was set.
class GlooFabric : public Fabric {
 public:
  /// All ranks call it. ConfigError if the interface doesn't exist or can't connect them.
  GlooFabric(World& world, const GlooOptions& options);
  ~GlooFabric() override;
  std::string description() const override;
  std::unique_ptr<Communicator> open(const SubMesh& mesh, Mesh dp) override;

 private:
  World& world_;
  GlooOptions options_;
  std::string interface_;
  std::shared_ptr<gloo::transport::Device> device_;
};

}  // namespace amsp
