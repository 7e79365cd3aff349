#include <map>
#include <memory>
#include <mutex>

#include "core/json/json.h"
#include "core/json/object_reader.h"
#include "data/embedded.h"
#include "kernels/kernel_table.h"

namespace amsp {
namespace {

constexpr const char* kFolder = "kernels/";
constexpr const char* kIndex = "kernels/index.json";

struct Entry {
  std::string table;
  std::string source;
};

const std::map<std::string, Entry, std::less<>>& entries() {
  static const auto all = [] {
    const Json json = parse_json(embedded(kIndex), kIndex);
    ObjectReader reader(json, std::string(kIndex) + "#");
    reader.choice("schema", {"amsp.kernel_index/1"});
    std::map<std::string, Entry, std::less<>> found;
    ObjectReader gpus = reader.object("gpus");
    for (const auto& [name, value] : reader.value("gpus").items()) {
      ObjectReader gpu = gpus.object(name);
      found[name] = {gpu.string("table"), gpu.string("source")};
      gpu.finish();
    }
    reader.finish();
    return found;
  }();
  return all;
}

}  // namespace

KernelTable kernel_table_named(const std::string& table) {
  const std::string file = kFolder + table + ".json";
  return read_kernel_table(parse_json(embedded(file), file), file);
}

std::vector<std::string> kernel_table_names() {
  std::vector<std::string> names;
  for (const std::string& file : embedded_names(kFolder))
    if (file != kIndex)
      names.push_back(
          file.substr(std::string(kFolder).size(), file.find('.') - std::string(kFolder).size()));
  return names;
}

const KernelTable* kernel_table(std::string_view gpu) {
  const auto entry = entries().find(gpu);
  if (entry == entries().end()) return nullptr;
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<const KernelTable>, std::less<>> read;
  const std::scoped_lock lock(mutex);
  std::unique_ptr<const KernelTable>& table = read[entry->first];
  if (!table) {
    KernelTable fresh = kernel_table_named(entry->second.table);
    fresh.alike_ = !entry->second.source.starts_with("measured: ");
    table = std::make_unique<const KernelTable>(std::move(fresh));
  }
  return table.get();
}

std::string kernel_table_source(std::string_view gpu) {
  const auto entry = entries().find(gpu);
  if (entry != entries().end()) return entry->second.source;
  return "no kernels of " + std::string(gpu) + " were measured: data/kernels has no table for it";
}

}  // namespace amsp
