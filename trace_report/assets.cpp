#include "trace_report/assets.h"

// The assembler takes whole files; C++20 can't.
#define AMSP_EMBED(symbol, path)          \
  asm(".pushsection .rodata\n"            \
      ".global " symbol "_begin\n" symbol \
      "_begin:\n"                         \
      ".incbin \"" path                   \
      "\"\n"                              \
      ".global " symbol "_end\n" symbol   \
      "_end:\n"                           \
      ".byte 0\n"                         \
      ".popsection\n")

AMSP_EMBED("amsp_d3", AMSP_D3);
AMSP_EMBED("amsp_report_js", AMSP_REPORT "/report.js");
AMSP_EMBED("amsp_report_css", AMSP_REPORT "/report.css");

extern "C" {
extern const char amsp_d3_begin[], amsp_d3_end[];                  // NOLINT
extern const char amsp_report_js_begin[], amsp_report_js_end[];    // NOLINT
extern const char amsp_report_css_begin[], amsp_report_css_end[];  // NOLINT
}

namespace amsp {

std::string_view d3_script() {
  return {amsp_d3_begin, amsp_d3_end};
}

std::string_view report_script() {
  return {amsp_report_js_begin, amsp_report_js_end};
}

std::string_view report_style() {
  return {amsp_report_css_begin, amsp_report_css_end};
}

}  // namespace amsp
