#pragma once

#include "core/units.h"

// The figures of NCCL's own time model, and what measurements correct in it. NCCL's are those of
// release 2.28.9; times in microseconds, rates in GB/s, as its sources have them. Order of
// protocols: LL, LL128, Simple.
namespace amsp::nccl {

// --- NCCL 2.28.9, src/graph/tuning.cc

inline constexpr double kBaseTree[] = {6.8, 14, 8.4};
inline constexpr double kBaseRing[] = {6.6, 14, 8.4};
inline constexpr double kBasePat = 8;

/// The tables' microseconds, which are whole nanoseconds: the double nearest to them in seconds.
constexpr Seconds seconds(double microseconds) {
  return {static_cast<int>(microseconds * 1e3 + 0.5) / 1e9};
}

/// Latency of one hop, by kind of link.
struct HopLatency {
  double tree[3];
  double ring[3];
  double collnet_direct, collnet_chain, nvls, nvls_tree;
};
inline constexpr HopLatency kNvlinkHops = {{.6, 1.25, 4}, {.6, 1.9, 3.4}, 3.7, 2.8, 25, 25};
inline constexpr HopLatency kPcieHops = {{1, 1.9, 4}, {1, 2.5, 5.7}, 3.7, 2.8, 0, 0};
inline constexpr HopLatency kNetworkHops = {{5, 8.5, 14}, {2.7, 4, 14}, 31, 30, 18, 20.9};
inline constexpr double kNetworkPat = 14;
inline constexpr double kPatPerRank = 2.8;
inline constexpr double kPatHopsAtOnce = 3.5;
inline constexpr double kCollNetPerPeer = .4;
/// Host time per network step; three times as much with the Simple protocol.
inline constexpr double kNetworkOverheadIntel = 1;
inline constexpr double kNetworkOverheadAmd = 2;

/// By generation; then for 1 node, 2 nodes, 4 and more. Over nodes the CPU decides: Intel's row is
/// Volta's, AMD's is Ampere's.
inline constexpr double kLlMost[][3] = {
    {39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}};
inline constexpr double kRingLl128Channel[][3] = {
    {20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {73.4, 34.6, 73.4}};
inline constexpr double kTreeLl128Channel[][3] = {
    {20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}};
inline constexpr double kTreeChannel[][3] = {
    {26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}};
/// 0: no limit.
inline constexpr double kNvlsTreeChannel[][3] = {
    {0, 0, 0}, {0, 0, 0}, {0, 57.7, 45.5}, {0, 96, 43.8}};
inline constexpr double kNvlsEfficiency[] = {0, 0, .85, .74};
inline constexpr double kTreeShare = .92;  // of a ring's rate, Simple
inline constexpr double kRingLlShare = .5;
inline constexpr double kRingLl128Share = .92;
inline constexpr double kTreeLlDivisor = 3.8;
inline constexpr double kPatShare = .75;
inline constexpr double kCollNetDirectHopperShare = .85;
/// Ring, Simple, all-reduce over nodes, from 64 bytes per channel and rank on: latency grows.
inline constexpr double kRingPlateauLatency = 1.4;
inline constexpr double kRingPlateauLatencyVolta = 1.9;

/// Tree all-reduce by protocol and log2(bytes / 64); 1 from 2^23 on.
inline constexpr double kTreeCorrection[][23] = {
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9}};

// --- NCCL 2.28.9, src/graph/search.cc, topo.h: what its search for channels knows

/// NCCL's rate of an NVLink / the datasheet's: 20 of 25 GB/s on V100 and A100, 20.6 of 25 on H100,
/// 40.1 of 50 on B200.
inline constexpr double kNvlinkShare[] = {.8, .8, .824, .802};
/// NCCL's rate of a PCIe slot / the datasheet's: 24 of 32 GB/s for 4.0 x16.
inline constexpr double kPcieShare = .75;
inline constexpr double kSpeedsInside[][13] = {{40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3},
                                               {40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3},
                                               {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3},
                                               {90, 80, 70, 60, 50, 40, 30, 24, 20, 19, 18}};
inline constexpr double kSpeedsOverNodes[][19] = {
    {48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, .24, .12},
    {48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, .24, .12},
    {48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, .24, .12},
    {96, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, .24, .12}};
inline constexpr int kMostGraphChannels = 16;
inline constexpr int kMostChannels = 64;
inline constexpr int kMostCollNetGpus = 8;  // of a node
inline constexpr int kLeastCollNetNodes = 2;

// --- What measurements correct. Times of the model, not of NCCL's choice, which doesn't know them.

/// Share of a GPU's best NVLink payload that an NVLS all-reduce puts through a port, each way:
/// bytes (n + 1) / n. H200, 8 GiB on 5 to 8 GPUs: 305 to 311 of 371 GB/s (data/nccl/measured.csv,
/// stas_h200_*gpu_nvls_on); B200, 8 GiB and more on 8: 540 of 687 (the same and
/// b200_sharp.csv).
inline constexpr double kNvlsPort[] = {0, 0, .83, .79};
/// The same for all-gather and reduce-scatter: B200, 661 of 660 GB/s by ring (b200_sharp.csv).
inline constexpr double kNvlsGatherPort = 1;
/// NVLS moves no more bus bandwidth than this per GPU: 72 GPUs of a GB200 rack reach 847 GB/s.
inline constexpr double kNvlsMostBus[] = {0, 0, 1e9, 847};
/// What NVLSTree reaches of NVLS inside one node: H100, 2 nodes, 8 GiB: 250 of the 274 GB/s of one
/// node in algorithm bandwidth (nt309_xe9680_2n against _1n).
inline constexpr double kNvlsTreePort = .92;
/// From 4 nodes on NVLSTree reaches less than NCCL's limit per channel: 257 to 290 of 350 GB/s on
/// B200 (b200_sharp.csv, use3a-ss), 310 of 364 on H200 (stas_h200_4n_nvlstree).
inline constexpr double kNvlsTreeManyNodes = .83;
/// A NIC of 400 Gb/s and more needs 24 channels or 2 queue pairs per connection; by default rings
/// get 332 of 400 GB/s through 8 of them (b200_sharp.csv: use3a-ss, ring, 4 nodes;
/// NVIDIA/nccl-tests issue 309), else 388.
inline constexpr double kFewQueuePairsShare = .83;  // of the NIC's bandwidth
inline constexpr double kFewQueuePairsNic = 50;
inline constexpr int kEnoughChannels = 24;
/// Share of the NICs' bandwidth that SHARP reduces: CollNetChain 524 to 548 GB/s of bus bandwidth
/// on 2, 4, 8 nodes of 8 B200 and 8 NDR, CollNetDirect 598 to 606 (b200_sharp.csv, active); HDR:
/// about 20 of 25 GB/s per NIC, the rule of thumb of NCCL's author.
inline constexpr double kSharpChain = .70;
inline constexpr double kSharpDirect = .79;
inline constexpr double kSharpHdr = .82;  // NICs below 400 Gb/s
/// All-gather and reduce-scatter by CollNetDirect: 312 to 317 GB/s of 400 (b200_sharp.csv).
inline constexpr double kSharpGather = .79;
/// From 32 nodes on hops of LL128 and Simple take longer than NCCL's figures: 64 MB over 256 and
/// 512 A800 (data/profiles/a800-4xhdr.json). Small broadcasts (LL) take less: one pass over the
/// hops, as there, where NCCL counts n times the slowest.
inline constexpr int kManyNodes = 32;
inline constexpr double kManyNodesLatency = 2.5;

/// What messages take beyond latency and bytes / rate while they are too small for full chunks on
/// all channels: this share of bytes / rate, up to a time in microseconds. One node of A100
/// (azure_nd_a100_v4, stas_a100_1n), H100 (together_h100_1n_*, nvidia_dgxh100_1n, nt309_xe9680_2n),
/// B200 (stas_b200_1n). By generation; Volta as Ampere.
struct Ramp {
  double share;
  double most;
};
inline constexpr Ramp kRingRamp[] = {{.35, 180}, {.35, 180}, {.3, 75}, {.5, 150}};
inline constexpr Ramp kNvlsRamp[] = {{0, 0}, {0, 0}, {.4, 110}, {.9, 150}};

}  // namespace amsp::nccl
