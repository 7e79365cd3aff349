#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/error.h"
#include "core/json/json.h"
#include "scenario/scenario.h"

/// Any bytes are a scenario, or refused by ConfigError or InfeasibleError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace amsp;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    read_scenario(parse_json(text, "fuzz.json"), "fuzz.json");
  } catch (const ConfigError&) {
  } catch (const InfeasibleError&) {
  }
  return 0;
}
