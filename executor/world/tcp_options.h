#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "topology/spec/mesh.h"

namespace amsp {

/// How a rank finds the others over TCP.
struct TcpWorldOptions {
  Rank rank = 0;
  int size = 1;
  /// Where rank 0 listens, and only there.
  std::string host = "127.0.0.1";
  int port = 0;
  /// Shared by the ranks. May be empty if is_loopback(host).
  std::string secret;
  /// For all ranks to come, and for all to come to an exchange.
  std::chrono::milliseconds start_timeout = std::chrono::minutes(2);
  std::chrono::milliseconds exchange_timeout = std::chrono::minutes(10);
};

/// True for localhost and the addresses of the loopback interface; says nothing about other names.
bool is_loopback(const std::string& host);

/// Throws ConfigError if these ranks need a secret and have none, or a short one.
void require_secret(const TcpWorldOptions& options);

/// The value of a variable of the environment, or null: std::getenv, or a test's.
using Environment = std::function<const char*(const char*)>;
/// From the environment:
///   AMSP_RANK, AMSP_WORLD_SIZE   else Slurm's SLURM_PROCID and SLURM_NTASKS
///   AMSP_MASTER=host:port        else 127.0.0.1:29417 for AMSP_RANK, and for a job of Slurm
///                                127.0.0.1 on one node, else the first host of SLURM_JOB_NODELIST
///                                (or SLURM_LAUNCH_NODE_IPADDR), port 20000 + SLURM_JOB_ID % 10000
///   AMSP_SECRET                  at least 16 characters; required unless the host is loopback
/// Throws ConfigError, naming the variable.
TcpWorldOptions tcp_world_options(const Environment& environment);

/// "node003" of "node[003-007,9],x1": the first host of a Slurm list.
std::string first_slurm_host(const std::string& list);

}  // namespace amsp
