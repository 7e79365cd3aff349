#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/error.h"
#include "core/json/json.h"
#include "profiling/import_logs.h"
#include "topology/profile/collective_profile.h"

/// Any bytes: a profile that can be read, or refused by ConfigError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace amsp;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ImportOptions options;
  options.name = "fuzz";
  options.hardware = {"G", 8, NvlinkKind::kSwitch, BytesPerSec{450e9}, 8, BytesPerSec{50e9}};
  options.kind = CollectiveKind::kAllReduce;
  for (const bool is_told : {false, true}) {
    if (is_told) options.mesh = Mesh{8, 2};
    try {
      const LogImport imported = import_logs({read_nccl_log(text, "fuzz.log")}, options);
      const std::string profile = profile_text(profile_json(imported.profile));
      read_collective_profile(parse_json(profile, "fuzz.json"), "fuzz.json");
    } catch (const ConfigError&) {
      continue;
    }
  }
  return 0;
}
