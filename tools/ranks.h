#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>

#include "executor/interface/communicator.h"
#include "executor/interface/device.h"
#include "executor/interface/world.h"

namespace amsp {

/// How a program's ranks find each other.
struct RankOptions {
  std::string device = "host";
  bool virtual_ranks = false;
  std::string patience = "60s";
  std::string interface;
  std::string pace, pace_across;

  void add_to(CLI::App& app);
};

/// One rank's work. What fails once ranks depend on each other is thrown.
using RankBody = std::function<int(World&, Fabric&, Device&)>;

/// Runs `body` on the processes that a launcher started (mpirun; or any, if it sets what
/// tcp_world_options reads), or on `virtual_ranks()` threads. The exit code is rank 0's. A rank
/// that fails alone says so and ends them all.
int run_ranks(const std::string& program, const RankOptions& options,
              const std::function<int()>& virtual_ranks, const RankBody& body);

/// What is wrong on one rank, before ranks agree on it.
struct RankFailure {
  int code;
  std::string text;
};
std::optional<RankFailure> attempt(const std::function<void()>& body);
/// The exit code of the first rank that failed, 0 if none did; rank 0 says why, once. All ranks
/// call it.
int agree(const std::string& program, World& world, const std::optional<RankFailure>& failure);

}  // namespace amsp
