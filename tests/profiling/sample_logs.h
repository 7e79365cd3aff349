#pragma once

#include <string>

#include "core/json/json.h"
#include "profiling/import_logs.h"

namespace amsp {

inline std::string sample_path(const std::string& name) {
  return AMSP_SOURCE_DIR "/tests/profiling/data/" + name;
}

/// The log in tests/profiling/data, called by its name alone.
inline std::string sample_text(const std::string& name) {
  return read_file(sample_path(name));
}

inline NcclLog sample_log(const std::string& name) {
  return read_nccl_log(sample_text(name), name);
}

/// Nodes of `gpus` GPUs with as many NICs.
inline ImportOptions lab(int gpus) {
  ImportOptions options;
  options.name = "lab";
  options.hardware = {"G", gpus, NvlinkKind::kSwitch, BytesPerSec{450e9}, gpus, BytesPerSec{50e9}};
  return options;
}

}  // namespace amsp
