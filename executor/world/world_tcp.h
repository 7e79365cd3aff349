#pragma once

#include <memory>

#include "executor/interface/world.h"
#include "executor/world/tcp_options.h"

namespace amsp {

/// The ranks of a run without MPI: rank 0 listens, the others connect, and everything goes through
/// rank 0. Returns when all ranks have come. Each proves that it knows the secret (challenge and
/// response, HMAC-SHA-256), and every frame is authenticated; nothing is encrypted. Strangers are
/// turned away and don't hold up anybody.
///
/// Throws ConfigError if ranks disagree on the size, two have one number, or secrets differ;
/// DeviceError if the address can't be used or ranks don't come in time, naming them. In exchange()
/// a rank that is lost or late ends the world: every rank's exchange() throws DeviceError naming
/// it, at once for a closed connection, within seconds for a machine that is gone.
std::unique_ptr<World> make_tcp_world(const TcpWorldOptions& options);

}  // namespace amsp
