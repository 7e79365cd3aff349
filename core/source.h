#pragma once

namespace amsp {

/// Where a number comes from; printed with it.
enum class Source { kMeasured, kDerived, kModelled, kDatasheet, kAssumed };
const char* to_string(Source source);

}  // namespace amsp
