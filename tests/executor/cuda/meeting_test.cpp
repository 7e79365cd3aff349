#include "executor/cuda/fabric/meeting.h"

#include <gtest/gtest.h>

#include <thread>

namespace amsp::cuda {
namespace {

using std::chrono::milliseconds;

TEST(Meeting, EveryMemberLeavesWithTheItemsOfItsMeeting) {
  constexpr int kMembers = 4;
  constexpr int kRounds = 200;
  Meeting<int> meeting(kMembers, "group", milliseconds(60000));
  std::vector<std::thread> members;
  std::vector<int> wrong(kMembers);
  for (int member = 0; member < kMembers; ++member)
    members.emplace_back([&, member] {
      for (int round = 0; round < kRounds; ++round) {
        const auto all = meeting.meet(member, 10 * round + member, "round");
        for (int i = 0; i < kMembers; ++i)
          if ((*all)[static_cast<std::size_t>(i)] != 10 * round + i) ++wrong[member];
      }
    });
  for (std::thread& member : members) member.join();
  EXPECT_EQ(wrong, std::vector<int>(kMembers));
}

TEST(Meeting, NamesWhoDoesNotComeAndStaysClosed) {
  Meeting<int> meeting(3, "group 0 of 3x1", milliseconds(100));
  const auto message = [&](int member) -> std::string {
    try {
      meeting.meet(member, 0, "fwd/layer3");
    } catch (const DeviceError& error) {
      return error.what();
    }
    return "came through";
  };
  const std::string expected =
      "group 0 of 3x1: fwd/layer3: after 0.1 s these members have not come: 0, 2";
  EXPECT_EQ(message(1), expected);
  EXPECT_EQ(message(0), expected);
}

}  // namespace
}  // namespace amsp::cuda
