#pragma once

#include <string_view>

namespace amsp {

// Parts of the report page, compiled in.

std::string_view d3_script();  // d3 3.5 (BSD licence), as Debian ships it
std::string_view report_script();
std::string_view report_style();

}  // namespace amsp
