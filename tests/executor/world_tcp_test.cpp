#include "executor/world/world_tcp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "core/error.h"
#include "executor/world/tcp_session.h"

namespace amsp {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

int free_port() {
  const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  bind(descriptor, reinterpret_cast<sockaddr*>(&address), size);
  getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size);
  close(descriptor);
  return ntohs(address.sin_port);
}

class TcpWorldTest : public testing::Test {
 protected:
  TcpWorldOptions options(Rank rank, int size) const {
    TcpWorldOptions made;
    made.rank = rank;
    made.size = size;
    made.port = port_;
    made.start_timeout = milliseconds(20'000);
    made.exchange_timeout = milliseconds(20'000);
    return made;
  }
  std::string place() const { return "127.0.0.1:" + std::to_string(port_); }

  /// What each of these ranks, a thread each, came to: "ok", or its error with the kind in front.
  static std::vector<std::string> run(const std::vector<TcpWorldOptions>& ranks,
                                      const std::function<void(World&)>& program) {
    std::vector<std::string> results(ranks.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < ranks.size(); ++i)
      threads.emplace_back([&, i] {
        try {
          const auto world = make_tcp_world(ranks[i]);
          program(*world);
          results[i] = "ok";
        } catch (const ConfigError& error) {
          results[i] = std::string("config: ") + error.what();
        } catch (const DeviceError& error) {
          results[i] = std::string("device: ") + error.what();
        }
      });
    for (std::thread& thread : threads) thread.join();
    return results;
  }

  const int port_ = free_port();
};

TEST_F(TcpWorldTest, ExchangeGivesEveryRanksTextByRank) {
  const auto results = run({options(2, 3), options(0, 3), options(1, 3)}, [](World& world) {
    ASSERT_EQ(world.size(), 3);
    for (int round = 0; round < 20; ++round) {
      const auto text = [&](Rank rank) {
        return std::string(std::size_t(rank) * 1000 * (round % 3), char('a' + rank));
      };
      EXPECT_EQ(world.exchange(text(world.rank())),
                (std::vector<std::string>{text(0), text(1), text(2)}));
    }
  });
  EXPECT_EQ(results, std::vector<std::string>(3, "ok"));
}

TEST_F(TcpWorldTest, ALoneRankNeedsNoNetwork) {
  TcpWorldOptions alone;
  alone.host = "no such host";
  EXPECT_EQ(make_tcp_world(alone)->exchange("x"), std::vector<std::string>{"x"});
}

TEST_F(TcpWorldTest, LongTextsPassTheSystemsBuffers) {
  const auto results = run({options(0, 2), options(1, 2)}, [](World& world) {
    const std::string text(std::size_t{8} << 20, char('a' + world.rank()));
    EXPECT_EQ(world.exchange(text).at(std::size_t(1 - world.rank())).size(), text.size());
  });
  EXPECT_EQ(results, std::vector<std::string>(2, "ok"));
}

TEST_F(TcpWorldTest, ADeadRankEndsTheWorldByName) {
  // Process 2 is killed between two exchanges.
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto world = make_tcp_world(options(2, 3));
    world->exchange("");
    kill(getpid(), SIGKILL);
  }
  const auto start = Clock::now();
  const auto results = run({options(0, 3), options(1, 3)}, [](World& world) {
    world.exchange("");
    EXPECT_THROW(world.exchange(""), DeviceError);
    world.exchange("");  // and stays ended
  });
  waitpid(child, nullptr, 0);
  EXPECT_EQ(results,
            std::vector<std::string>(2, "device: rank 2 is lost: closed by the other side"));
  EXPECT_LT(Clock::now() - start, milliseconds(10'000));
}

TEST_F(TcpWorldTest, ADeadRank0IsNoticedByAll) {
  const auto results = run({options(0, 3), options(1, 3), options(2, 3)}, [](World& world) {
    world.exchange("");
    if (world.rank() > 0) world.exchange("");
  });
  EXPECT_EQ(results[0], "ok");
  EXPECT_THAT(results[1], testing::StartsWith("device: rank 0 is lost: "));
  EXPECT_THAT(results[2], testing::StartsWith("device: rank 0 is lost: "));
}

TEST_F(TcpWorldTest, ARankThatDoesNotComeIsNamed) {
  auto zero = options(0, 4), two = options(2, 4);
  zero.start_timeout = milliseconds(300);
  const std::string expected =
      "device: ranks 1, 3 of 4 did not come to " + place() + " within 0.3 s";
  EXPECT_EQ(run({zero, two}, [](World&) {}), std::vector<std::string>(2, expected));
}

TEST_F(TcpWorldTest, ALateRankEndsTheWorldByName) {
  auto zero = options(0, 3), one = options(1, 3), two = options(2, 3);
  zero.exchange_timeout = milliseconds(300);
  const auto results = run({zero, one, two}, [](World& world) {
    if (world.rank() == 1) std::this_thread::sleep_for(milliseconds(1000));
    world.exchange("");
  });
  EXPECT_EQ(results[0], "device: rank 1 did not come to an exchange within 0.3 s");
  EXPECT_EQ(results[2], results[0]);
}

TEST_F(TcpWorldTest, AWrongSecretIsRefusedOnBothSides) {
  auto zero = options(0, 2), one = options(1, 2);
  zero.secret = "the one and only secret";
  one.secret = "another secret, as long";
  zero.start_timeout = milliseconds(500);
  const auto results = run({zero, one}, [](World&) {});
  EXPECT_EQ(results[0], "device: rank 1 of 2 did not come to " + place() +
                            " within 0.5 s; turned away 1 with another AMSP_SECRET");
  EXPECT_EQ(results[1], "config: rank 1: rank 0 at " + place() + " has another AMSP_SECRET");
}

TEST_F(TcpWorldTest, WithoutASecretOnlyTheLoopbackIsUsed) {
  TcpWorldOptions open = options(1, 2);
  open.host = "0.0.0.0";
  EXPECT_THROW(make_tcp_world(open), ConfigError);
}

TEST_F(TcpWorldTest, DisagreementOnTheSizeIsAMistakeOfAll) {
  const std::string expected = "config: rank 1 was started for 3 ranks, rank 0 for 2";
  EXPECT_EQ(run({options(0, 2), options(1, 3)}, [](World&) {}),
            std::vector<std::string>(2, expected));
}

TEST_F(TcpWorldTest, TwoProcessesWithOneRankAreAMistakeOfAll) {
  const std::string expected = "config: two processes call themselves rank 1";
  EXPECT_EQ(run({options(0, 3), options(1, 3), options(1, 3)}, [](World&) {}),
            std::vector<std::string>(3, expected));
}

TEST_F(TcpWorldTest, StrangersAreTurnedAwayAndHoldUpNobody) {
  std::vector<TcpSocket> strangers;
  const auto deadline = Clock::now() + milliseconds(20'000);
  std::thread visits([&] {
    const auto visit = [&](const std::string& words) {
      strangers.push_back(TcpSocket::connect("127.0.0.1", port_, deadline));
      strangers.back().send_all(words, deadline);
    };
    visit("GET / HTTP/1.1\r\n\r\n" + std::string(200, 'x'));
    visit("");                                          // says nothing, and stays
    visit(std::string(kMagic) + "half");                // stops in the middle
    visit(std::string(kMagic) + std::string(72, 'x'));  // the right length
    strangers.front() = TcpSocket();
  });
  auto zero = options(0, 2);
  std::vector<std::string> results(1);
  std::thread ranks([&] { results = run({zero}, [](World& world) { world.exchange(""); }); });
  visits.join();
  const auto other = run({options(1, 2)}, [](World& world) { world.exchange(""); });
  ranks.join();
  EXPECT_EQ(results, std::vector<std::string>{"ok"});
  EXPECT_EQ(other, std::vector<std::string>{"ok"});
}

TEST_F(TcpWorldTest, AStrangerAtTheMastersPlaceIsNoRank0) {
  const TcpSocket listener = TcpSocket::listen("127.0.0.1", port_);
  std::thread stranger([&] {
    const auto deadline = Clock::now() + milliseconds(20'000);
    TcpSocket guest;
    while (!guest && Clock::now() < deadline) guest = listener.accept();
    guest.send_all(std::string(100, 'x'), deadline);
  });
  EXPECT_EQ(
      run({options(1, 2)}, [](World&) {}),
      std::vector<std::string>{"config: rank 1: rank 0 at " + place() + " is another program"});
  stranger.join();
}

TEST_F(TcpWorldTest, ATakenAddressIsSaid) {
  const TcpSocket listener = TcpSocket::listen("127.0.0.1", port_);
  EXPECT_EQ(run({options(0, 2)}, [](World&) {}),
            std::vector<std::string>{"device: rank 0: can't listen at " + place() +
                                     ": Address already in use"});
}

/// Two ends of a connection.
std::pair<TcpSocket, TcpSocket> make_pair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0) throw DeviceError("pair");
  return {TcpSocket(ends[0]), TcpSocket(ends[1])};
}

std::string failure_of(TcpSession& session) {
  try {
    session.receive(Clock::now() + milliseconds(5000));
    return "none";
  } catch (const SocketFailure& failure) {
    return failure.what();
  }
}

TEST(TcpSessionTest, RefusesFramesOfAnotherSessionRepeatedOrTurnedRound) {
  const std::string a = make_nonce(), b = make_nonce();
  const auto deadline = Clock::now() + milliseconds(5000);
  {
    auto [left, right] = make_pair();
    TcpSession rank_0(std::move(left), "secret", a, b, true);
    TcpSession other(std::move(right), "secret", a, a, false);
    rank_0.send({FrameKind::kData, "x"}, deadline);
    EXPECT_EQ(failure_of(other), "sent a frame that is not authentic");
  }
  // What rank 0 said, once more, to the other and to itself.
  auto [left, right] = make_pair();
  auto [tap_left, tap_right] = make_pair();
  TcpSession speaker(std::move(tap_left), "secret", a, b, true);
  speaker.send({FrameKind::kData, "x"}, deadline);
  const std::string bytes = tap_right.receive(1 + 4 + 1 + 32, deadline);
  TcpSession other(std::move(right), "secret", a, b, false);
  left.send_all(bytes + bytes, deadline);
  EXPECT_EQ(other.receive(deadline).text, "x");
  EXPECT_EQ(failure_of(other), "sent a frame that is not authentic");
  tap_right.send_all(bytes, deadline);
  EXPECT_EQ(failure_of(speaker), "sent a frame that is not authentic");
}

}  // namespace
}  // namespace amsp
