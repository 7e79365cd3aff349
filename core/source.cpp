#include "core/source.h"

#include "core/error.h"

namespace amsp {

const char* to_string(Source source) {
  switch (source) {
    case Source::kMeasured:
      return "measured";
    case Source::kDerived:
      return "derived";
    case Source::kModelled:
      return "modelled";
    case Source::kDatasheet:
      return "datasheet";
    case Source::kAssumed:
      return "assumed";
  }
  throw InternalError("a Source outside its enumeration");
}

}  // namespace amsp
