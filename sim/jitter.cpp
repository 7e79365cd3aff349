#include "sim/jitter.h"

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/seed_seq.hpp>
#include <cmath>
#include <cstdint>

#include "core/error.h"
#include "core/process_pool.h"

namespace amsp {

std::vector<double> draw_factors(const Conditions::Jitter& jitter, int ranks, int sample) {
  const boost::random::seed_seq seed{static_cast<std::uint32_t>(jitter.seed),
                                     static_cast<std::uint32_t>(jitter.seed >> 32),
                                     static_cast<std::uint32_t>(sample)};
  boost::random::mt19937_64 generator(seed);
  boost::random::normal_distribution<double> normal;
  std::vector<double> factors;
  for (int first = 0; first < ranks; first += jitter.ranks)
    factors.push_back(std::exp(jitter.sigma * normal(generator) - jitter.sigma * jitter.sigma / 2));
  return factors;
}

std::vector<Seconds> sample_steps(const Lowering& lowering, const Conditions::Jitter& jitter,
                                  int workers, const std::function<void(std::size_t)>& progress) {
  const int ranks = lowering.graph().dp.size();
  // The classes, and what they do, are the same in all samples: found once, by the first.
  Simulator simulator(lowering, jitter.ranks);
  std::vector<Seconds> steps{simulator.run(draw_factors(jitter, ranks, 0)).timeline.step_time()};
  run_jobs(
      static_cast<std::size_t>(jitter.samples - 1), workers,
      [&](std::size_t job) {
        const auto factors = draw_factors(jitter, ranks, static_cast<int>(job) + 1);
        return std::vector<double>{simulator.run(factors).timeline.step_time().value};
      },
      [&](std::size_t, const JobOutcome& outcome) {
        if (outcome.kind != JobOutcome::Kind::kValues) throw InternalError(outcome.message);
        steps.push_back(Seconds{outcome.values.front()});
      },
      [&](std::size_t done) {
        progress(done + 1);
        return true;
      });
  return steps;
}

}  // namespace amsp
