#include "executor/world/tcp_options.h"

#include <gtest/gtest.h>

#include <map>

#include "core/error.h"

namespace amsp {
namespace {

using Variables = std::map<std::string, std::string>;

TcpWorldOptions read(const Variables& variables) {
  return tcp_world_options([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::string place(const TcpWorldOptions& options) {
  return std::to_string(options.rank) + "/" + std::to_string(options.size) + " at " + options.host +
         " " + std::to_string(options.port);
}

TEST(TcpOptions, RanksOfOneMachineMeetAtTheLoopback) {
  EXPECT_EQ(place(read({{"AMSP_RANK", "1"}, {"AMSP_WORLD_SIZE", "2"}})), "1/2 at 127.0.0.1 29417");
}

TEST(TcpOptions, TheMasterIsHostAndPort) {
  const Variables ranks = {
      {"AMSP_RANK", "0"}, {"AMSP_WORLD_SIZE", "2"}, {"AMSP_SECRET", "0123456789abcdef"}};
  const auto with = [&](const std::string& master) {
    Variables all = ranks;
    all["AMSP_MASTER"] = master;
    return place(read(all));
  };
  EXPECT_EQ(with("node7:1234"), "0/2 at node7 1234");
  EXPECT_EQ(with("[::1]:1234"), "0/2 at ::1 1234");
}

TEST(TcpOptions, SlurmGivesRanksAndTheFirstHost) {
  Variables job = {{"SLURM_PROCID", "3"},
                   {"SLURM_NTASKS", "16"},
                   {"SLURM_JOB_NUM_NODES", "2"},
                   {"SLURM_JOB_NODELIST", "node[003-004]"},
                   {"SLURM_JOB_ID", "123456"},
                   {"AMSP_SECRET", "0123456789abcdef"},
                   {"SLURM_LAUNCH_NODE_IPADDR", "10.0.0.1"}};
  EXPECT_EQ(place(read(job)), "3/16 at node003 23456");
  job.erase("SLURM_JOB_NODELIST");
  EXPECT_EQ(place(read(job)), "3/16 at 10.0.0.1 23456");
  job["SLURM_JOB_NUM_NODES"] = "1";
  job.erase("AMSP_SECRET");
  EXPECT_EQ(place(read(job)), "3/16 at 127.0.0.1 23456");
}

TEST(TcpOptions, FirstHostOfASlurmList) {
  EXPECT_EQ(first_slurm_host("node[003-007,9],x1"), "node003");
  EXPECT_EQ(first_slurm_host("node[12]"), "node12");
  EXPECT_EQ(first_slurm_host("rack[1-2]n7,y"), "rack1n7");
  EXPECT_EQ(first_slurm_host("a1,b[1-2]"), "a1");
  EXPECT_EQ(first_slurm_host("lone"), "lone");
  for (const char* bad : {"", "node[", "node[]", ",x"})
    EXPECT_THROW(first_slurm_host(bad), ConfigError) << bad;
}

TEST(TcpOptions, LoopbackIsKnownByAddress) {
  for (const char* host : {"localhost", "127.0.0.1", "127.1.2.3", "::1"})
    EXPECT_TRUE(is_loopback(host)) << host;
  for (const char* host : {"10.0.0.1", "node1", "0.0.0.0", "::", "127.0.0.1.example.org"})
    EXPECT_FALSE(is_loopback(host)) << host;
}

struct BadEnvironment {
  Variables variables;
  const char* message;
};

TEST(TcpOptions, RefusesWithTheVariablesName) {
  const BadEnvironment kBad[] = {
      {{},
       "AMSP_RANK and AMSP_WORLD_SIZE: are not set, and neither are Slurm's SLURM_PROCID and "
       "SLURM_NTASKS"},
      {{{"AMSP_RANK", "0"}}, "AMSP_WORLD_SIZE: is not set, and AMSP_RANK is"},
      {{{"AMSP_RANK", "2"}, {"AMSP_WORLD_SIZE", "2"}}, "AMSP_RANK: is 2, and AMSP_WORLD_SIZE is 2"},
      {{{"AMSP_RANK", "1x"}, {"AMSP_WORLD_SIZE", "2"}},
       "AMSP_RANK: is '1x', not a whole number from 0"},
      {{{"AMSP_RANK", "0"}, {"AMSP_WORLD_SIZE", "2"}, {"AMSP_MASTER", "node1"}},
       "AMSP_MASTER: is 'node1', not host:port or [address]:port"},
      {{{"AMSP_RANK", "0"}, {"AMSP_WORLD_SIZE", "2"}, {"AMSP_MASTER", "::1:80"}},
       "AMSP_MASTER: is '::1:80', not host:port or [address]:port"},
      {{{"AMSP_RANK", "0"}, {"AMSP_WORLD_SIZE", "2"}, {"AMSP_MASTER", "127.0.0.1:70000"}},
       "AMSP_MASTER: port 70000 is not from 1 to 65535"},
      {{{"AMSP_RANK", "0"}, {"AMSP_WORLD_SIZE", "2"}, {"AMSP_MASTER", "node1:80"}},
       "AMSP_SECRET: is not set; node1 is not the loopback interface, and there every rank must "
       "know a secret"},
      {{{"AMSP_RANK", "0"}, {"AMSP_WORLD_SIZE", "2"}, {"AMSP_SECRET", "short"}},
       "AMSP_SECRET: has 5 characters; at least 16 are needed"},
      {{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}},
       "AMSP_MASTER: is not set, and neither are SLURM_JOB_NODELIST and SLURM_LAUNCH_NODE_IPADDR"},
  };
  for (const BadEnvironment& bad : kBad) {
    try {
      read(bad.variables);
      ADD_FAILURE() << "accepted: " << bad.message;
    } catch (const ConfigError& error) {
      EXPECT_STREQ(error.what(), bad.message);
    }
  }
}

}  // namespace
}  // namespace amsp
