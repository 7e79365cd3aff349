#pragma once

#include <string>

#include "core/error.h"

namespace amsp {

/// The message of the ConfigError that `action` ends with; other exceptions pass.
template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "(accepted)";
}

}  // namespace amsp
