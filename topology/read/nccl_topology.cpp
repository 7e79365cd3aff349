#include "topology/read/nccl_topology.h"

#include <fmt/core.h>

#include <algorithm>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <charconv>
#include <map>
#include <optional>
#include <sstream>

#include "core/error.h"
#include "topology/spec/node_cables.h"

namespace amsp {
namespace {

using Tree = boost::property_tree::ptree;

constexpr const char* kAttributes = "<xmlattr>";
constexpr const char* kComment = "<xmlcomment>";

BytesPerSec gbps(double gigabytes) {
  return {gigabytes * 1e9};
}

struct Rate {
  BytesPerSec bandwidth;  // datasheet
  BytesPerSec capacity;   // as NCCL counts
};

/// One NVLink, one direction, by the GPU's compute capability.
Rate nvlink_rate(int sm) {
  if (sm >= 100) return {gbps(50), gbps(40.1)};
  if (sm >= 90) return {gbps(25), gbps(20.6)};
  if (sm == 86) return {gbps(14.0625), gbps(12)};
  if (sm >= 70) return {gbps(25), gbps(20)};
  return {gbps(20), gbps(18)};
}

/// Between two CPUs: NCCL's figures for vendor, family and model.
BytesPerSec cpu_rate(const std::string& arch, const std::string& vendor, int family, int model) {
  if (arch == "ppc64") return gbps(32);
  if (arch == "arm64") return gbps(6);
  if (vendor == "AuthenticAMD") return gbps(family >= 191 ? 32 : family >= 175 ? 24 : 16);
  if (vendor == "GenuineIntel" && family == 6) {
    if (model >= 0xCF) return gbps(40);  // Emerald Rapids
    if (model >= 0x8F) return gbps(22);  // Sapphire Rapids
    if (model >= 0x55) return gbps(10);  // Skylake
  }
  return gbps(6);
}

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  NodeSpec read(std::string_view text) {
    Tree root;
    std::istringstream stream{std::string(text)};
    try {
      boost::property_tree::read_xml(stream, root,
                                     boost::property_tree::xml_parser::trim_whitespace);
    } catch (const boost::property_tree::xml_parser_error& error) {
      throw ConfigError(
          fmt::format("{}: line {}: is no XML: {}", file_, error.line(), error.message()));
    }
    for (const auto& [name, element] : root) {
      if (name == kComment) continue;
      if (name == "graphs")
        fail("",
             "holds NCCL's graphs (NCCL_GRAPH_DUMP_FILE), not the topology "
             "(NCCL_TOPO_DUMP_FILE)");
      if (name != "system") fail("", fmt::format("must hold a <system>, found <{}>", name));
      read_system(element);
    }
    join_cpus();
    sort_gpus();
    add_nvlinks();
    choose_nics();
    if (const std::string rule = describe_by_cables(node_); !rule.empty())
      fail("", "its links " + rule);
    return std::move(node_);
  }

 private:
  struct Gpu {
    int dev = 0;
    int sm = 0;
    std::string bus;
    Vertex parent;
    Rate slot;
    std::map<std::string, int> nvlinks;  // by bus id of the other GPU; "" for NVSwitches
  };
  struct Net {
    int dev = 0;
    BytesPerSec speed;
    Vertex parent;
    Rate slot;
  };
  struct Cpu {
    BytesPerSec rate;
  };

  [[noreturn]] void fail(const std::string& element, const std::string& why) const {
    throw ConfigError(fmt::format("{}:{}{} {}", file_, element.empty() ? "" : " ",
                                  element.empty() ? "" : element + ":", why));
  }

  std::string text(const Tree& element, const std::string& where, const char* name) const {
    const auto value = element.get_optional<std::string>(std::string(kAttributes) + "." + name);
    if (!value) fail(where, fmt::format("has no attribute '{}'", name));
    return *value;
  }

  int integer(const Tree& element, const std::string& where, const char* name) const {
    const std::string value = text(element, where, name);
    int number = 0;
    const char* const end = value.data() + value.size();
    const auto [next, error] = std::from_chars(value.data(), end, number);
    if (error != std::errc{} || next != end || number < 0)
      fail(where, fmt::format("attribute '{}' must be a whole number, found \"{}\"", name, value));
    return number;
  }

  void add_cable(const Vertex& a, const Vertex& b, const Rate& rate) {
    node_.cables.push_back({a, b, rate.bandwidth, rate.capacity});
  }
  Vertex new_bridge() { return {VertexKind::kPcie, -1, bridges_++}; }

  /// Calls `take` for every child element, which returns whether it knows it.
  template <class Take>
  void for_children(const Tree& element, const std::string& where, const Take& take) {
    for (const auto& [name, child] : element) {
      if (name == kAttributes || name == kComment) continue;
      if (!take(name, child)) fail(where, fmt::format("holds an unknown element <{}>", name));
    }
  }

  void read_system(const Tree& system) {
    if (const std::string version = text(system, "<system>", "version"); version != "1")
      fail("<system>", fmt::format("version must be 1, found \"{}\"", version));
    for_children(system, "<system>", [&](const std::string& name, const Tree& child) {
      if (name == "cpu") read_cpu(child);
      return name == "cpu";
    });
    if (cpus_.empty()) fail("<system>", "holds no <cpu>");
  }

  void read_cpu(const Tree& element) {
    const Vertex cpu{VertexKind::kCpu, -1, static_cast<int>(cpus_.size())};
    const std::string where = fmt::format("cpu {}", text(element, "<cpu>", "numaid"));
    const std::string arch = text(element, where, "arch");
    const bool is_x86 = arch == "x86_64";
    cpus_.push_back({cpu_rate(arch, is_x86 ? text(element, where, "vendor") : "",
                              is_x86 ? integer(element, where, "familyid") : 0,
                              is_x86 ? integer(element, where, "modelid") : 0)});
    for_children(element, where, [&](const std::string& name, const Tree& child) {
      if (name == "pci") read_pci(child, cpu);
      if (name == "nic") read_nic(child, where, cpu, std::nullopt);
      return name == "pci" || name == "nic";
    });
  }

  /// Lanes x rate of a slot.
  Rate slot_rate(const Tree& element, const std::string& where) const {
    const std::string speed = text(element, where, "link_speed");
    const int width = integer(element, where, "link_width");
    double transfers = 0;  // GT/s
    const char* const end = speed.data() + speed.size();
    const auto [next, error] = std::from_chars(speed.data(), end, transfers);
    if (error != std::errc{} || !std::string_view(next, end).starts_with(" GT/s") ||
        transfers <= 0 || width < 1 || width > 32)
      fail(where, fmt::format("link_speed \"{}\" and link_width {} say no rate, as in a virtual "
                              "machine; dump the topology on bare metal or write in both "
                              "(\"16.0 GT/s PCIe\", 16)",
                              speed, width));
    const double code = transfers < 8 ? 8.0 / 10 : 128.0 / 130;
    const double bits = transfers * width;
    // NCCL: 1.5 GB/s a lane at 16 GT/s, in proportion (2.5 and 5 GT/s as well)
    return {gbps(bits * code / 8), gbps(bits * (transfers < 3 ? 0.6 : 0.75) / 8)};
  }

  void read_pci(const Tree& element, const Vertex& parent) {
    const std::string bus = text(element, "<pci>", "busid");
    const std::string where = "pci " + bus;
    const Rate slot = slot_rate(element, where);
    std::optional<Vertex> bridge;
    bool is_leaf = false;
    for_children(element, where, [&](const std::string& name, const Tree& child) {
      if (name == "pci") {
        if (!bridge) {
          bridge = new_bridge();
          add_cable(parent, *bridge, slot);
        }
        read_pci(child, *bridge);
      } else if (name == "gpu") {
        read_gpu(child, bus, parent, slot);
        is_leaf = true;
      } else if (name == "nic") {
        read_nic(child, where, parent, slot);
        is_leaf = true;
      }
      return name == "pci" || name == "gpu" || name == "nic";
    });
    if (!bridge && !is_leaf)
      fail(where,
           "holds neither <gpu>, <nic> nor <pci>: a file written for NCCL_TOPO_FILE leaves "
           "out what NCCL finds by itself; take what it dumps (NCCL_TOPO_DUMP_FILE)");
  }

  void read_gpu(const Tree& element, const std::string& bus, const Vertex& parent,
                const Rate& slot) {
    const std::string where = "gpu " + bus;
    Gpu gpu{integer(element, where, "dev"), integer(element, where, "sm"), bus, parent, slot, {}};
    for_children(element, where, [&](const std::string& name, const Tree& link) {
      if (name == "c2c") fail(where, "is joined to its CPU by NVLink-C2C, which is not modelled");
      if (name != "nvlink") return false;
      const std::string target_class = text(link, where, "tclass");
      const bool is_switch = target_class.starts_with("0x0680");
      if (!is_switch && !target_class.starts_with("0x03"))
        fail(where, fmt::format("has an NVLink to a device of class {}; only GPUs (0x03...) and "
                                "NVSwitches (0x0680...) are known",
                                target_class));
      gpu.nvlinks[is_switch ? "" : text(link, where, "target")] += integer(link, where, "count");
      return true;
    });
    gpus_.push_back(std::move(gpu));
  }

  void read_nic(const Tree& element, const std::string& where, const Vertex& parent,
                const std::optional<Rate>& slot) {
    std::vector<Net> nets;
    for_children(element, where, [&](const std::string& name, const Tree& net) {
      if (name != "net") return false;
      const BytesPerSec speed{integer(net, where, "speed") * 1e6 / 8};  // from Mb/s
      if (speed.value <= 0) fail(where, "has a <net> of speed 0");
      nets.push_back(
          {integer(net, where, "dev"), speed, parent, slot.value_or(Rate{speed, speed})});
      return true;
    });
    if (nets.size() > 1 && slot) {  // the ports of a card share its slot
      const Vertex card = new_bridge();
      add_cable(parent, card, *slot);
      for (Net& net : nets) net.parent = card;
    }
    nets_.insert(nets_.end(), nets.begin(), nets.end());
  }

  void join_cpus() {
    for (std::size_t a = 0; a < cpus_.size(); ++a)
      for (std::size_t b = a + 1; b < cpus_.size(); ++b) {
        const BytesPerSec rate = std::min(cpus_[a].rate, cpus_[b].rate);
        add_cable({VertexKind::kCpu, -1, static_cast<int>(a)},
                  {VertexKind::kCpu, -1, static_cast<int>(b)}, {rate, rate});
      }
  }

  void sort_gpus() {
    if (gpus_.empty()) fail("<system>", "holds no <gpu>");
    std::sort(gpus_.begin(), gpus_.end(), [](const Gpu& a, const Gpu& b) { return a.dev < b.dev; });
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      if (i > 0 && gpus_[i].dev == gpus_[i - 1].dev)
        fail("gpu " + gpus_[i].bus,
             fmt::format("has the dev {} of gpu {}", gpus_[i].dev, gpus_[i - 1].bus));
      add_cable(gpus_[i].parent, gpu(i), gpus_[i].slot);
    }
    node_.gpus = static_cast<int>(gpus_.size());
  }

  static Vertex gpu(std::size_t i) { return {VertexKind::kGpu, -1, static_cast<int>(i)}; }

  void add_nvlinks() {
    for (std::size_t i = 0; i < gpus_.size(); ++i)
      for (const auto& [bus, count] : gpus_[i].nvlinks) {
        const Rate one = nvlink_rate(gpus_[i].sm);
        const Rate all{count * one.bandwidth, count * one.capacity};
        if (count == 0) fail("gpu " + gpus_[i].bus, "has 0 NVLinks to a target");
        if (bus.empty()) {
          add_cable(gpu(i), {VertexKind::kNvswitch, -1, 0}, all);
          continue;
        }
        const auto other = std::find_if(gpus_.begin(), gpus_.end(),
                                        [&name = bus](const Gpu& g) { return g.bus == name; });
        if (other == gpus_.end())
          fail("gpu " + gpus_[i].bus, "has an NVLink to " + bus + ", which is no GPU of the file");
        const auto j = static_cast<std::size_t>(other - gpus_.begin());
        if (i < j) add_cable(gpu(i), gpu(j), all);  // both ends list it
      }
  }

  /// Cables between every vertex and `from`, without GPUs and NICs on the way.
  std::map<Vertex, int> distances(const Vertex& from) const {
    std::map<Vertex, int> distance{{from, 0}};
    std::vector<Vertex> level{from};
    for (int depth = 1; !level.empty(); ++depth) {
      std::vector<Vertex> next;
      for (const Vertex& at : level)
        for (const CableSpec& cable : node_.cables)
          for (const auto& [here, there] :
               {std::pair{cable.a, cable.b}, std::pair{cable.b, cable.a}})
            if (here == at && there.kind != VertexKind::kGpu &&
                there.kind != VertexKind::kNvswitch && distance.try_emplace(there, depth).second)
              next.push_back(there);
      level = std::move(next);
    }
    return distance;
  }

  void choose_nics() {
    if (nets_.empty()) return;
    BytesPerSec fastest;
    for (const Net& net : nets_) fastest = std::max(fastest, net.speed);
    std::map<Vertex, std::vector<Net>> by_parent;
    for (const Net& net : nets_)
      if (net.speed == fastest) by_parent[net.parent].push_back(net);

    std::map<Vertex, std::vector<int>> users;  // by parent of the NICs
    std::map<Vertex, std::size_t> load;
    for (int i = 0; i < node_.gpus; ++i) {
      const auto distance = distances(gpu(static_cast<std::size_t>(i)));
      const auto rank = [&](const Vertex& parent) {
        const double used =
            static_cast<double>(load[parent]) / static_cast<double>(by_parent.at(parent).size());
        return std::tuple(distance.at(parent), used, by_parent.at(parent).front().dev);
      };
      Vertex best = by_parent.begin()->first;
      for (const auto& [parent, nets] : by_parent) {
        if (!distance.contains(parent)) fail("", fmt::format("gpu{} reaches no NIC", i));
        if (rank(parent) < rank(best)) best = parent;
      }
      ++load[best];
      users[best].push_back(i);
    }
    add_nics(by_parent, users);
  }

  void add_nics(std::map<Vertex, std::vector<Net>>& by_parent,
                const std::map<Vertex, std::vector<int>>& users) {
    node_.nic_of_gpu.assign(static_cast<std::size_t>(node_.gpus), 0);
    std::optional<std::size_t> bundle;  // NICs that count as one
    for (const auto& [parent, gpus] : users) {
      std::vector<Net>& nets = by_parent.at(parent);
      std::sort(nets.begin(), nets.end(), [](const Net& a, const Net& b) { return a.dev < b.dev; });
      const std::size_t k = nets.size() > gpus.size() ? nets.size() / gpus.size() : 1;
      if (nets.size() > gpus.size() && nets.size() % gpus.size() != 0)
        fail("", fmt::format("{} NICs don't share out among the {} GPUs nearest to them",
                             nets.size(), gpus.size()));
      if (bundle.value_or(k) != k)
        fail("", fmt::format("some GPUs have {} NICs, others {}", *bundle, k));
      bundle = k;
      const std::size_t nics = nets.size() / k;
      const int first = node_.nics;
      for (std::size_t i = 0; i < nics; ++i) {
        const double times = static_cast<double>(k);
        const Net& net = nets[i * k];
        const Rate nic{times * net.speed, std::min(times * net.speed, times * net.slot.capacity)};
        add_cable(parent, {VertexKind::kNic, -1, node_.nics++},
                  {times * net.slot.bandwidth, times * net.slot.capacity});
        node_.nic_bandwidth = nic.bandwidth;
        node_.nic_capacity =
            node_.nics == 1 ? nic.capacity : std::min(node_.nic_capacity, nic.capacity);
      }
      for (std::size_t i = 0; i < gpus.size(); ++i)
        node_.nic_of_gpu[static_cast<std::size_t>(gpus[i])] =
            first + static_cast<int>(i * nics / gpus.size());
    }
  }

  std::string file_;
  NodeSpec node_;
  std::vector<Cpu> cpus_;
  std::vector<Gpu> gpus_;
  std::vector<Net> nets_;
  int bridges_ = 0;
};

}  // namespace

NodeSpec read_nccl_topology(std::string_view text, const std::string& file) {
  return Reader(file).read(text);
}

}  // namespace amsp
