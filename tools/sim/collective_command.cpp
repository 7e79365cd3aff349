// Over 400 lines: one command, its tables and its words for every algorithm.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "core/json/json.h"
#include "core/nearest.h"
#include "core/quantity.h"
#include "core/text_lines.h"
#include "core/text_table.h"
#include "scenario/load_cluster.h"
#include "tools/arguments.h"
#include "tools/run_main.h"
#include "tools/sim/commands.h"
#include "topology/models/collective_models.h"
#include "topology/nccl/collectives.h"
#include "topology/nccl/steps.h"

namespace {

using namespace amsp;

constexpr const char* kDescription =
    "What one collective takes on a cluster: which algorithms could run it, which one NCCL picks "
    "and "
    "why, and which links it loads.";
constexpr const char* kFooter = R"(
CLUSTER is a scenario, a cluster description by itself ({"schema": "amsp.cluster/1", ...} with the
keys of a scenario's cluster), or the name of a preset.
A mesh is GPUs inside a node x nodes: 8x4. With a stride (1x4/8x1) its sibling groups share links.

Examples:
  amsp-sim collective dgx-h100 --set nodes=4 --op all_reduce --bytes 256MiB
  amsp-sim collective cluster.json --op all_gather --bytes 64MiB --mesh 8x4 --explain
  amsp-sim collective cluster.json --op all_reduce --bytes 1GiB --algo tree,ring
  amsp-sim collective cluster.json --op all_reduce --sweep

Exit codes: 0 answered, 2 the input is wrong, 3 nothing that is allowed can run it,
4 internal failure.
)";

struct Options {
  std::string cluster;
  std::vector<std::string> overrides;
  std::string operation = "all_reduce";
  std::string bytes = "256MiB";
  std::string mesh;
  std::string algorithms, protocols;
  bool explain = false, sweep = false, json = false;
};

constexpr CollectiveKind kKinds[] = {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                     CollectiveKind::kReduceScatter, CollectiveKind::kBroadcast};

std::vector<std::string> operation_names() {
  std::vector<std::string> names;
  for (const CollectiveKind kind : kKinds) names.emplace_back(to_string(kind));
  return names;
}

CollectiveKind operation(const std::string& name) {
  for (const CollectiveKind kind : kKinds)
    if (name == to_string(kind)) return kind;
  throw InternalError("an unchecked operation");
}

template <class Enum, std::size_t size>
std::vector<Enum> parse_list(const char* option, const std::string& text,
                             const std::vector<std::string>& names, const Enum (&all)[size]) {
  std::vector<Enum> values;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const auto found = std::find(names.begin(), names.end(), word);
    if (found == names.end()) {
      const auto close = nearest(word, names);
      throw ConfigError(fmt::format("{}: must be some of {}; found \"{}\"{}", option, join(names),
                                    word, close ? "; did you mean '" + *close + "'?" : ""));
    }
    values.push_back(all[found - names.begin()]);
  }
  return values;
}

Bytes parse_size(const std::string& text) {
  const std::optional<Bytes> bytes = parse_bytes(text);
  if (!bytes || bytes->value < 1)
    throw ConfigError(fmt::format(
        "--bytes: must be a size with a unit such as \"256MiB\" or \"1.5GB\", found \"{}\"", text));
  return *bytes;
}

/// "8x4", or "1x4/8x1" with a stride.
SubMesh parse_group(const std::string& text, const ClusterSpec& cluster) {
  if (text.empty()) return sub_mesh({cluster.node.gpus, cluster.nodes});
  const std::size_t slash = text.find('/');
  const std::optional<Mesh> shape = parse_mesh(text.substr(0, slash));
  const std::optional<Mesh> stride =
      slash == std::string::npos ? Mesh{1, 1} : parse_mesh(text.substr(slash + 1));
  if (!shape || !stride)
    throw ConfigError(fmt::format(
        "--mesh: must be GPUs per node x nodes such as 8x4, or with a stride 1x4/8x1, found \"{}\"",
        text));
  if (shape->intra * stride->intra > cluster.node.gpus ||
      shape->inter * stride->inter > cluster.nodes)
    throw InfeasibleError(fmt::format("--mesh: {} doesn't fit on {} nodes of {} GPUs", text,
                                      cluster.nodes, cluster.node.gpus));
  if (shape->size() == 1) throw InfeasibleError("--mesh: a group of 1 GPU has nothing to say");
  return {*shape, *stride};
}

/// Everything about the question, kept alive together.
struct Question {
  explicit Question(const Options& options)
      : spec(with_forced(load_cluster(options.cluster, options.overrides), options)),
        mesh(parse_group(options.mesh, spec)),
        graph(spec),
        placement(spec,
                  {mesh.shape.intra * mesh.stride.intra, mesh.shape.inter * mesh.stride.inter},
                  mesh.shape.inter * mesh.stride.inter),
        model(make_collectives(graph, placement)),
        nccl(dynamic_cast<const NcclCollectives*>(model.get())),
        call{operation(options.operation), mesh, parse_size(options.bytes), {}} {
    if (nccl == nullptr && (!options.algorithms.empty() || !options.protocols.empty()))
      throw ConfigError(
          fmt::format("{}: collectives of cluster '{}' come from {}, which has no "
                      "algorithms to choose from; add --set {}",
                      options.algorithms.empty() ? "--proto" : "--algo", spec.name, source(),
                      "profile=none (of a scenario: cluster.profile=none)"));
  }

  static ClusterSpec with_forced(ClusterSpec spec, const Options& options) {
    if (!options.algorithms.empty())
      spec.nccl.algorithms[options.operation] =
          parse_list("--algo", options.algorithms, nccl_algorithm_names(), kNcclAlgorithms);
    if (!options.protocols.empty())
      spec.nccl.protocols[options.operation] =
          parse_list("--proto", options.protocols, nccl_protocol_names(), kNcclProtocols);
    return spec;
  }

  std::string source() const {
    if (nccl != nullptr) return "NCCL's model";
    return spec.profile.empty() ? "the ring model" : "profile '" + spec.profile + "'";
  }

  ClusterSpec spec;
  SubMesh mesh;
  ClusterGraph graph;
  Placement placement;
  std::unique_ptr<CollectiveModel> model;
  const NcclCollectives* nccl;  // if that is the model
  CollectiveCall call;
};

double bus_share(const Question& q) {
  return hop_share(q.call.kind, q.mesh.size());
}

std::string gbps(Bytes bytes, Seconds time, double share) {
  return fmt::format("{:.1f}", static_cast<double>(bytes.value) * share / time.value / 1e9);
}

/// The busiest link of each kind.
struct Busy {
  std::string link;
  double bytes;
  double busy;  // of the call's time
};

std::vector<Busy> busiest(const Question& q, Seconds time, bool with_siblings) {
  std::vector<double> bytes(static_cast<std::size_t>(q.graph.link_count()), 0);
  const int groups = with_siblings ? q.placement.dp().size() / q.mesh.size() : 1;
  for (int group = 0; group < groups; ++group)
    for (const LinkLoad& load : q.model->loads(q.call, group))
      bytes[static_cast<std::size_t>(load.link)] += load.bytes;
  std::map<LinkKind, Busy> best;
  for (LinkId id = 0; id < q.graph.link_count(); ++id) {
    const double carried = bytes[static_cast<std::size_t>(id)];
    const Link& link = q.graph.link(id);
    const double busy = carried / link.capacity.value / time.value;
    Busy& busy_link = best.try_emplace(link.kind, Busy{"", 0, 0}).first->second;
    if (busy > busy_link.busy) busy_link = {q.graph.link_name(id), carried, busy};
  }
  std::vector<Busy> result;
  for (const auto& [kind, link] : best)
    if (link.bytes > 0) result.push_back(link);
  std::stable_sort(result.begin(), result.end(),
                   [](const Busy& a, const Busy& b) { return a.busy > b.busy; });
  return result;
}

int sibling_groups(const Question& q) {
  return q.placement.dp().size() / q.mesh.size();
}

std::string title(const Question& q) {
  return fmt::format("{} of {} on mesh {} ({} GPUs) of cluster '{}'\n", to_string(q.call.kind),
                     format_bytes_binary(q.call.bytes), to_string(q.mesh), q.mesh.size(),
                     q.spec.name);
}

/// Why NCCL picks this one.
std::string reason(const std::vector<NcclCollectives::Candidate>& candidates,
                   const nccl::Choice& choice) {
  const NcclCollectives::Candidate* next = nullptr;
  Seconds expected;
  int possible = 0;
  for (const auto& candidate : candidates) {
    if (candidate.obstacle || !candidate.allowed) continue;
    ++possible;
    if (candidate.choice == choice)
      expected = candidate.nccl_time;
    else if (next == nullptr || candidate.nccl_time < next->nccl_time)
      next = &candidate;
  }
  if (possible == 1) return "the only one that is possible and allowed";
  return fmt::format("NCCL expects {} of it, {} of the next, {}", format_time(expected),
                     format_time(next->nccl_time), nccl::to_string(next->choice));
}

std::string candidate_table(const Question& q,
                            const std::vector<NcclCollectives::Candidate>& candidates,
                            const nccl::Choice& choice) {
  TextTable table({"candidate", "NCCL expects", "time", "algbw GB/s", "busbw GB/s", ""});
  table.align_left(5);
  std::vector<const NcclCollectives::Candidate*> possible;
  for (const auto& candidate : candidates)
    if (!candidate.obstacle) possible.push_back(&candidate);
  std::stable_sort(possible.begin(), possible.end(),
                   [](const auto* a, const auto* b) { return a->nccl_time < b->nccl_time; });
  for (const auto* candidate : possible)
    table.add({nccl::to_string(candidate->choice), format_time(candidate->nccl_time),
               format_time(candidate->time), gbps(q.call.bytes, candidate->time, 1),
               gbps(q.call.bytes, candidate->time, bus_share(q)),
               !candidate->allowed           ? "not allowed"
               : candidate->choice == choice ? "<- chosen"
                                             : ""});
  std::string text = table.str();
  std::string last;
  for (const auto& candidate : candidates) {
    if (!candidate.obstacle || candidate.choice.protocol != NcclProtocol::kSimple) continue;
    if (last.empty()) text += "\nnot possible here\n";
    last = to_string(candidate.choice.algorithm);
    text += wrapped(*candidate.obstacle, fmt::format("  {:<15} ", last), std::string(18, ' '));
  }
  return text;
}

std::string nccl_answer(const Question& q, bool explain) {
  const auto candidates = q.nccl->candidates(q.call);
  const nccl::Choice choice = q.nccl->choose(q.call);
  const nccl::Layout layout = q.nccl->layout(q.mesh);
  const nccl::Channels& ring = q.nccl->graphs(q.mesh).ring;
  const auto count = [](int number, const char* what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
  };
  std::string text =
      wrapped(fmt::format("NCCL sees {}, each with {} of {:.4g} GB/s{}; its rings are {} of {:.4g} "
                          "GB/s, of which it runs {}",
                          count(layout.nodes, "node"), count(layout.gpus, "GPU"), layout.inside,
                          layout.nics > 0 ? fmt::format(" and {} of {:.4g} GB/s",
                                                        count(layout.nics, "NIC"), layout.nic)
                                          : "",
                          count(ring.count, "channel"), ring.inside, q.nccl->channels(q.mesh)),
              "", "") +
      "\n";
  text += candidate_table(q, candidates, choice);
  const NcclCollectives::Parts parts = q.nccl->parts(q.call, choice);
  text += "\n" + wrapped(reason(candidates, choice),
                         fmt::format("choice {}: ", nccl::to_string(choice)), "  ");
  text += fmt::format(
      "time   {} = latency {} + bytes / rate {}{}\n", format_time(parts.total()),
      format_time(parts.latency), format_time(parts.moving),
      parts.filling.value > 0 ? " + filling the channels " + format_time(parts.filling) : "");
  if (explain) {
    text += "\nsteps\n";
    for (const std::string& paragraph : explain_steps(q.spec.node, q.placement, q.call, choice))
      text += wrapped(paragraph, "  ", "    ");
  }
  return text;
}

std::string other_answer(const Question& q) {
  const CollectiveTime time = q.model->time(q.call);
  return fmt::format("times from {}: {}{}\n\ntime   {}\n", q.source(), to_string(time.source),
                     time.extrapolated ? ", extrapolated" : "", format_time(time.time));
}

std::string link_table(const Question& q, Seconds time) {
  const int siblings = sibling_groups(q);
  std::string text;
  for (const bool all : {false, true}) {
    if (all && siblings == 1) continue;
    const std::vector<Busy> links = busiest(q, time, all);
    TextTable table({all ? fmt::format("busiest link, all {} sibling groups at once", siblings)
                         : "busiest link of each kind",
                     "bytes", "busy"});
    for (const Busy& link : links)
      table.add({link.link, format_bytes(Bytes{std::llround(link.bytes)}),
                 fmt::format("{:.1f} %", 100 * link.busy)});
    text += "\n" + table.str();
    if (all && links.front().busy > 1)
      text += fmt::format("They share it: {:.2f} times as long, {} at least.\n", links.front().busy,
                          format_time(links.front().busy * time));
  }
  return text;
}

std::string text_answer(const Question& q, bool explain) {
  std::string text = title(q);
  const Seconds time = q.model->time(q.call).time;
  text += q.nccl != nullptr ? nccl_answer(q, explain) : other_answer(q);
  text += fmt::format(
      "bandwidth: {} GB/s (algorithm), {} GB/s (bus: {:.4g} of it on each hop of a "
      "ring)\n",
      gbps(q.call.bytes, time, 1), gbps(q.call.bytes, time, bus_share(q)), bus_share(q));
  return text + link_table(q, time);
}

OrderedJson json_answer(const Question& q) {
  const double bytes = static_cast<double>(q.call.bytes.value);
  const auto rates = [&](OrderedJson& json, Seconds time) {
    json["time_s"] = time.value;
    json["algorithm_bandwidth_bytes_per_s"] = bytes / time.value;
    json["bus_bandwidth_bytes_per_s"] = bytes * bus_share(q) / time.value;
  };
  OrderedJson json;
  json["schema"] = "amsp.collective/1";
  json["cluster"] = q.spec.name;
  json["operation"] = to_string(q.call.kind);
  json["bytes"] = q.call.bytes.value;
  json["mesh"] = to_string(q.mesh);
  const CollectiveTime time = q.model->time(q.call);
  json["model"] = q.nccl != nullptr ? "nccl" : q.spec.profile.empty() ? "rings" : q.spec.profile;
  json["source"] = to_string(time.source);
  json["extrapolated"] = time.extrapolated;
  rates(json, time.time);
  if (q.nccl != nullptr) {
    const nccl::Choice choice = q.nccl->choose(q.call);
    json["choice"] = nccl::to_string(choice);
    OrderedJson candidates = OrderedJson::array();
    for (const auto& candidate : q.nccl->candidates(q.call)) {
      OrderedJson entry;
      entry["candidate"] = nccl::to_string(candidate.choice);
      if (candidate.obstacle) {
        entry["obstacle"] = *candidate.obstacle;
      } else {
        entry["allowed"] = candidate.allowed;
        entry["nccl_expects_s"] = candidate.nccl_time.value;
        rates(entry, candidate.time);
      }
      candidates.push_back(std::move(entry));
    }
    json["candidates"] = std::move(candidates);
  }
  OrderedJson links = OrderedJson::array();
  for (const Busy& link : busiest(q, time.time, false))
    links.push_back({{"link", link.link}, {"bytes", link.bytes}, {"utilisation", link.busy}});
  json["busiest_links"] = std::move(links);
  return json;
}

/// 1 KiB to 16 GiB.
std::vector<Bytes> sweep_sizes() {
  std::vector<Bytes> sizes;
  for (int power = 10; power <= 34; ++power) sizes.push_back({std::int64_t{1} << power});
  return sizes;
}

std::string sweep_text(Question& q) {
  std::string text =
      fmt::format("# {} on mesh {} ({} GPUs) of cluster '{}', {}\n", to_string(q.call.kind),
                  to_string(q.mesh), q.mesh.size(), q.spec.name, q.source());
  text += fmt::format("#{:>12}  {:>22}  {:>10}  {:>8}  {:>8}\n", "size", "choice", "time", "algbw",
                      "busbw");
  text +=
      fmt::format("#{:>12}  {:>22}  {:>10}  {:>8}  {:>8}\n", "(B)", "", "(us)", "(GB/s)", "(GB/s)");
  for (const Bytes bytes : sweep_sizes()) {
    q.call.bytes = bytes;
    const Seconds time = q.model->time(q.call).time;
    text += fmt::format("{:>13}  {:>22}  {:>10.2f}  {:>8}  {:>8}\n", bytes.value,
                        q.nccl != nullptr ? nccl::to_string(q.nccl->choose(q.call)) : "-",
                        time.value * 1e6, gbps(bytes, time, 1), gbps(bytes, time, bus_share(q)));
  }
  return text;
}

OrderedJson sweep_json(Question& q) {
  OrderedJson json;
  json["schema"] = "amsp.collective-sweep/1";
  json["cluster"] = q.spec.name;
  json["operation"] = to_string(q.call.kind);
  json["mesh"] = to_string(q.mesh);
  json["rows"] = OrderedJson::array();
  for (const Bytes bytes : sweep_sizes()) {
    q.call.bytes = bytes;
    const Seconds time = q.model->time(q.call).time;
    OrderedJson row;
    row["bytes"] = bytes.value;
    if (q.nccl != nullptr) row["choice"] = nccl::to_string(q.nccl->choose(q.call));
    row["time_s"] = time.value;
    row["algorithm_bandwidth_bytes_per_s"] = static_cast<double>(bytes.value) / time.value;
    row["bus_bandwidth_bytes_per_s"] = static_cast<double>(bytes.value) * bus_share(q) / time.value;
    json["rows"].push_back(std::move(row));
  }
  return json;
}

int answer(const Options& options) {
  Question question(options);
  std::string text;
  if (options.sweep)
    text = options.json ? sweep_json(question).dump(2) + "\n" : sweep_text(question);
  else
    text = options.json ? json_answer(question).dump(2) + "\n"
                        : text_answer(question, options.explain);
  print_output(text);
  return kExitOk;
}

}  // namespace

namespace amsp {

int collective_command(int argc, char** argv) {
  CLI::App app(kDescription, "amsp-sim collective");
  Options options;
  app.footer(kFooter);
  app.add_option("cluster", options.cluster, "Cluster or scenario file, or preset")->required();
  app.add_option("--op", options.operation, "The operation")
      ->check(CLI::IsMember(operation_names()))
      ->capture_default_str();
  auto* bytes = app.add_option("--bytes", options.bytes,
                               "The whole, unsharded message of one group, such as 256MiB")
                    ->capture_default_str();
  app.add_option("--mesh", options.mesh,
                 "The group: GPUs per node x nodes, such as 8x4 or 1x4/8x1 (default: the cluster)");
  app.add_option(
      "--algo", options.algorithms,
      "Allow only these: ring, tree, nvls, nvls_tree, collnet_direct, collnet_chain, pat");
  app.add_option("--proto", options.protocols, "Allow only these: ll, ll128, simple");
  app.add_option("--set", options.overrides, "Override a key of the file (repeatable)")
      ->allow_extra_args(false);
  auto* sweep =
      app.add_flag("--sweep", options.sweep, "A table over sizes, as nccl-tests prints it")
          ->excludes(bytes);
  app.add_flag("--explain", options.explain, "The steps of the chosen algorithm in words")
      ->excludes(sweep);
  app.add_flag("--json", options.json, "Print JSON");
  return run_parsed(app, argc, argv, [&] { return answer(options); });
}

}  // namespace amsp
