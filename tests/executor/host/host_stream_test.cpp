#include "executor/host/host_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <vector>

#include "core/error.h"

namespace amsp {
namespace {

std::string failure_of(Stream& stream) {
  try {
    stream.synchronize();
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "";
}

TEST(HostStream, RunsWorkInTheOrderOfEnqueuing) {
  std::vector<int> order;
  HostStream stream("compute");
  for (int i = 0; i < 1000; ++i) stream.enqueue([&order, i] { order.push_back(i); });
  stream.synchronize();
  ASSERT_EQ(order.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[i], i);
}

TEST(HostStream, EnqueuingDoesNotWaitForWork) {
  std::promise<void> gate;
  bool ran = false;
  HostStream stream("compute");
  stream.enqueue([&gate] { gate.get_future().wait(); });
  stream.enqueue([&ran] { ran = true; });
  gate.set_value();  // reached only because enqueuing returned
  stream.synchronize();
  EXPECT_TRUE(ran);
}

TEST(HostStream, WaitingStreamStartsAfterThePoint) {
  std::promise<void> gate;
  std::atomic<int> value = 0;
  int seen = -1;
  HostStream producer("producer"), consumer("consumer");
  HostEvent ready;
  producer.enqueue([&] {
    gate.get_future().wait();
    value = 7;
  });
  producer.record(ready);
  consumer.wait(ready);
  consumer.enqueue([&] { seen = value; });
  gate.set_value();
  consumer.synchronize();
  EXPECT_EQ(seen, 7);
}

TEST(HostStream, WaitIsForTheRecordBeforeItNotForLaterOnes) {
  std::promise<void> gate;
  HostStream producer("producer"), consumer("consumer");
  HostEvent event;
  producer.record(event);
  consumer.wait(event);
  producer.enqueue([&] { gate.get_future().wait(); });
  producer.record(event);
  consumer.synchronize();  // returns although the second record isn't reached
  gate.set_value();
  event.synchronize();
}

TEST(HostStream, EventsHaveAscendingTimesOfTheMonotonicClock) {
  const auto now = [] {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  const std::int64_t before = now();
  HostStream stream("compute");
  HostEvent start, end;
  stream.record(start);
  stream.enqueue([] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
  stream.record(end);
  end.synchronize();
  EXPECT_GE(start.time_ns(), before);
  EXPECT_GE(end.time_ns() - start.time_ns(), 20'000'000);
  EXPECT_LE(end.time_ns(), now());
}

TEST(HostStream, UseOfAnEventThatWasNeverRecordedIsAnInternalError) {
  HostStream stream("compute");
  HostEvent event;
  EXPECT_THROW(stream.wait(event), InternalError);
  EXPECT_THROW(event.synchronize(), InternalError);
  EXPECT_THROW(event.time_ns(), InternalError);
}

TEST(HostStream, FailureHasTheLabelOfTheWorkThatFailed) {
  const std::string first = "s1/mb0/fwd/L0/q/forward", second = "s1/mb0/fwd/L0/k/forward";
  HostStream stream("compute");
  stream.label(first);
  stream.enqueue([] { throw ConfigError("no such token"); });
  stream.label(second);
  stream.enqueue([] { throw ConfigError("not this one"); });
  EXPECT_EQ(failure_of(stream), "s1/mb0/fwd/L0/q/forward: no such token");
  EXPECT_EQ(failure_of(stream), "s1/mb0/fwd/L0/q/forward: no such token");
}

TEST(HostStream, FailureWithoutALabelHasTheNameOfTheStream) {
  HostStream stream("pp_send");
  stream.enqueue([] { throw 7; });
  EXPECT_EQ(failure_of(stream), "pp_send: an exception of unknown type");
}

TEST(HostStream, FailureSkipsLaterWorkHereAndOnStreamsThatWait) {
  const std::string failing = "a/fails", waiting = "b/waits";
  bool ran = false;
  HostStream a("a"), b("b"), c("c");
  HostEvent of_a, of_b;
  a.label(failing);
  a.enqueue([] { throw std::runtime_error("lost"); });
  a.enqueue([&] { ran = true; });
  a.record(of_a);
  b.label(waiting);
  b.wait(of_a);
  b.enqueue([&] { ran = true; });
  b.record(of_b);
  c.wait(of_b);
  c.enqueue([&] { ran = true; });
  EXPECT_EQ(failure_of(c), "a/fails: lost");
  EXPECT_EQ(failure_of(b), "a/fails: lost");
  EXPECT_EQ(failure_of(a), "a/fails: lost");
  EXPECT_FALSE(ran);
  EXPECT_THAT([&] { of_b.synchronize(); }, testing::ThrowsMessage<DeviceError>("a/fails: lost"));
}

TEST(HostStream, PointsBeforeAFailureAreReached) {
  HostStream a("a"), b("b");
  HostEvent event;
  bool ran = false;
  a.record(event);
  a.enqueue([] { throw std::runtime_error("lost"); });
  b.wait(event);
  b.enqueue([&] { ran = true; });
  b.synchronize();
  event.synchronize();
  EXPECT_TRUE(ran);
  EXPECT_EQ(failure_of(a), "a: lost");
}

TEST(HostStream, DestructionWaitsForWork) {
  std::atomic<int> done = 0;
  {
    HostStream stream("compute");
    for (int i = 0; i < 100; ++i) stream.enqueue([&] { ++done; });
  }
  EXPECT_EQ(done, 100);
}

TEST(HostStream, RecordsNamedWorkUnderItsLabelOnceSwitchedOn) {
  const std::string first = "s1/a", second = "s1/b";
  const auto recorder = std::make_shared<HostKernelRecorder>();
  HostStream stream("compute", recorder);
  stream.label(first);
  stream.enqueue([] {}, "before");
  stream.synchronize();
  recorder->start();
  HostEvent start, end;
  stream.record(start);
  stream.enqueue([] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }, "nap");
  stream.enqueue([] {});  // no kernel
  stream.label(second);
  stream.enqueue([] {}, "nothing");
  stream.record(end);
  stream.enqueue([] { throw std::runtime_error("lost"); }, "fails");
  stream.enqueue([] {}, "skipped");
  EXPECT_EQ(failure_of(stream), "s1/b: lost");
  const std::vector<KernelRun> runs = recorder->take();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].task + " " + runs[0].name, "s1/a nap");
  EXPECT_EQ(runs[1].task + " " + runs[1].name, "s1/b nothing");
  EXPECT_GE(runs[0].start_ns, start.time_ns());
  EXPECT_GE(runs[0].end_ns - runs[0].start_ns, 2'000'000);
  EXPECT_GE(runs[1].start_ns, runs[0].end_ns);
  EXPECT_LE(runs[1].end_ns, end.time_ns());
  EXPECT_TRUE(recorder->take().empty());
}

// A ring of 64 streams in which every work waits for the one before it on the neighbour.
TEST(HostStream, ManyStreamsThatWaitForEachOtherAllFinish) {
  constexpr int kStreams = 64, kRounds = 50;
  std::vector<std::unique_ptr<HostStream>> streams;
  std::vector<HostEvent> events(kStreams);
  for (int i = 0; i < kStreams; ++i)
    streams.push_back(std::make_unique<HostStream>("s" + std::to_string(i)));
  int count = 0;  // no atomic: the chain orders all writes
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kStreams; ++i) {
      if (round > 0 || i > 0) streams[i]->wait(events[(i + kStreams - 1) % kStreams]);
      streams[i]->enqueue([&count, expected = round * kStreams + i] {
        if (count++ != expected) throw std::runtime_error("out of order");
      });
      streams[i]->record(events[i]);
    }
  }
  for (const auto& stream : streams) stream->synchronize();
  EXPECT_EQ(count, kStreams * kRounds);
}

}  // namespace
}  // namespace amsp
