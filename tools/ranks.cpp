#include "tools/ranks.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>

#include "core/error.h"
#include "core/quantity.h"
#include "executor/fabric/local_world.h"
#include "executor/fabric/mpi_world.h"
#include "executor/fabric/paced_fabric.h"
#include "executor/host/time_slice.h"
#include "executor/world/world_tcp.h"
#include "tools/arguments.h"
#include "tools/rank_machine.h"

namespace amsp {

namespace {

Pace parse_pace(const std::string& option, const std::string& text) {
  const std::size_t comma = text.find(',');
  if (comma != std::string::npos) {
    const std::optional<BytesPerSec> bandwidth = parse_bandwidth(text.substr(0, comma));
    const std::optional<Seconds> latency = parse_time(text.substr(comma + 1));
    if (bandwidth && latency && bandwidth->value > 0) return {*bandwidth, *latency};
  }
  throw ConfigError(fmt::format(
      "{}: must be a bandwidth and a latency such as 200MBps,50us, found \"{}\"", option, text));
}

std::chrono::milliseconds parse_patience(const std::string& text) {
  const std::optional<Seconds> patience = parse_time(text);
  if (!patience || patience->value < 0.001 || patience->value > 1e6)
    throw ConfigError(fmt::format("--patience: must be a time such as 60s, found \"{}\"", text));
  return std::chrono::milliseconds(static_cast<std::int64_t>(patience->value * 1000));
}

std::optional<PaceOptions> pace_of(const RankOptions& options) {
  if (options.pace.empty()) {
    if (!options.pace_across.empty()) throw ConfigError("--pace-across: needs --pace as well");
    return {};
  }
  const Pace inside = parse_pace("--pace", options.pace);
  return PaceOptions{inside, options.pace_across.empty()
                                 ? inside
                                 : parse_pace("--pace-across", options.pace_across)};
}

int run_paced(World& world, Fabric& fabric, Device& device, const std::optional<PaceOptions>& pace,
              const RankBody& body) {
  if (!pace) return body(world, fabric, device);
  PacedFabric paced(world, fabric, *pace);
  return body(world, paced, device);
}

int run_in(World& world, const std::string& program, const RankOptions& options,
           std::chrono::milliseconds patience, const std::optional<PaceOptions>& pace,
           const RankBody& body) {
  std::unique_ptr<Device> device;
  std::unique_ptr<Fabric> fabric;
  if (const int code = agree(program, world, attempt([&] { require_device_kind(options.device); })))
    return code;
  if (const int code = agree(program, world, attempt([&] {
                               device = make_rank_device(options.device, world);
                               fabric = make_rank_fabric(options.device, world, *device,
                                                         options.interface, patience);
                             })))
    return code;
  return run_paced(world, *fabric, *device, pace, body);
}

/// By the variables of AMSP_RANK, or by Slurm alone.
bool started_without_mpi() {
  if (std::getenv("AMSP_RANK") != nullptr || std::getenv("AMSP_WORLD_SIZE") != nullptr) return true;
  if (std::getenv("SLURM_PROCID") == nullptr) return false;
  for (const char* of_mpi : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
    if (std::getenv(of_mpi) != nullptr) return false;
  return true;
}

int run_processes(const std::string& program, const RankOptions& options, const RankBody& body) {
  const std::chrono::milliseconds patience = parse_patience(options.patience);
  const std::optional<PaceOptions> pace = pace_of(options);
  take_short_time_slices();  // and so do the threads of MPI
  if (started_without_mpi()) {
    TcpWorldOptions tcp = tcp_world_options(std::getenv);
    tcp.exchange_timeout = patience;
    const std::unique_ptr<World> world = make_tcp_world(tcp);
    try {
      return run_in(*world, program, options, patience, pace, body);
    } catch (const std::exception& error) {
      // A rank is lost, or this one is; what waits for peers must not be waited for.
      fmt::print(stderr, "{}: rank {}: {}\n", program, world->rank(), error.what());
      std::fflush(stderr);
      std::_Exit(kExitInternal);
    }
  }
  MpiWorld world(patience);
  try {
    return run_in(world, program, options, patience, pace, body);
  } catch (const std::exception& error) {
    // A rank is lost, or this one is: the others can't be asked any more.
    fmt::print(stderr, "{}: rank {}: {}\n", program, world.rank(), error.what());
    world.abort(kExitInternal);
  }
}

}  // namespace

void RankOptions::add_to(CLI::App& app) {
  app.add_option("--device", device, "What ranks compute on")
      ->check(CLI::IsMember(device_kinds()))
      ->capture_default_str();
  app.add_flag("--virtual-ranks", virtual_ranks,
               "Ranks are threads of this process, without MPI, on one GPU if the device is cuda: "
               "numerics and schedule only");
  app.add_option("--pace", pace,
                 "Hold every collective back to the time of a network of this bandwidth and "
                 "latency,\nsuch as 200MBps,50us");
  app.add_option("--pace-across", pace_across, "The same for groups over several nodes");
  app.add_option("--patience", patience,
                 "A rank that keeps others waiting for longer is taken for lost, such as 60s")
      ->capture_default_str();
  app.add_option("--interface", interface,
                 "Network interface, such as eth0 (default: loopback, or the host's name)");
}

int run_ranks(const std::string& program, const RankOptions& options,
              const std::function<int()>& virtual_ranks, const RankBody& body) {
  if (options.device == "cuda" && !options.pace.empty())
    throw ConfigError("--pace: only networks of --device host can be paced");
  if (!options.virtual_ranks) return run_processes(program, options, body);
  require_device_kind(options.device);
  const std::optional<PaceOptions> pace = pace_of(options);
  int code = kExitOk;
  const LocalOptions local{parse_patience(options.patience)};
  const int ranks = virtual_ranks();
  try {
    const VirtualMachine machine = make_virtual_machine(options.device, ranks, local.patience);
    run_local(
        ranks,
        [&](World& world, Fabric& threads) {
          const auto rank = static_cast<std::size_t>(world.rank());
          Fabric& fabric = machine.fabrics.empty() ? threads : *machine.fabrics[rank];
          const int mine = run_paced(world, fabric, *machine.devices[rank], pace, body);
          if (rank == 0) code = mine;
        },
        local);
  } catch (const DeviceError& error) {
    fmt::print(stderr, "{}: {}\n", program, error.what());
    return kExitInternal;
  }
  return code;
}

std::optional<RankFailure> attempt(const std::function<void()>& body) {
  try {
    body();
    return {};
  } catch (const ConfigError& error) {
    return RankFailure{kExitConfig, error.what()};
  } catch (const InfeasibleError& error) {
    return RankFailure{kExitInfeasible, error.what()};
  } catch (const std::bad_alloc&) {
    return RankFailure{kExitInternal, "out of memory"};
  } catch (const std::exception& error) {
    return RankFailure{kExitInternal, error.what()};
  }
}

int agree(const std::string& program, World& world, const std::optional<RankFailure>& failure) {
  const std::vector<std::string> all =
      world.exchange(failure ? fmt::format("{}{}", failure->code, failure->text) : "");
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].empty()) continue;
    if (world.rank() == 0) {
      const bool everyone = all.front() == all.back();
      fmt::print(stderr, "{}: {}{}\n", program, everyone ? "" : fmt::format("rank {}: ", rank),
                 all[rank].substr(1));
    }
    return all[rank][0] - '0';
  }
  return kExitOk;
}

}  // namespace amsp
