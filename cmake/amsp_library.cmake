# Warnings and sanitizers, linked PRIVATE by every target of ours.
add_library(amsp_options INTERFACE)
target_compile_options(amsp_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                       -Wno-sign-conversion -Werror -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False positive of GCC 12 on std::string::operator+ (GCC bug 105651).
  target_compile_options(amsp_options INTERFACE -Wno-restrict)
endif()
if(AMSP_SANITIZE)
  target_compile_options(amsp_options INTERFACE -fsanitize=address,undefined
                         -fno-sanitize-recover=all)
  target_link_options(amsp_options INTERFACE -fsanitize=address,undefined)
endif()
if(AMSP_SANITIZE_THREADS)
  target_compile_options(amsp_options INTERFACE -fsanitize=thread)
  target_link_options(amsp_options INTERFACE -fsanitize=thread)
endif()

if(AMSP_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "AMSP_FUZZ needs clang: cmake --preset fuzz")
  endif()
  target_compile_options(amsp_options INTERFACE -fsanitize=address,undefined,fuzzer-no-link
                         -fno-sanitize-recover=all)
  target_link_options(amsp_options INTERFACE -fsanitize=address,undefined)
endif()

# Headers that most sources pay for are parsed once: 2.6 s of nlohmann/json and 1.0 s of fmt for a
# source of 7 s in all. Off where it would hide a missing include: the presets asan, tsan and fuzz.
option(AMSP_PCH "Precompile the dear headers" ON)
set(amsp_dear_headers <algorithm> <functional> <map> <memory> <optional> <string> <vector>
                      <fmt/format.h> <nlohmann/json.hpp>)

# amsp_precompiled(NAME headers... [LIBS libs...] [OPTIONS options...]): headers that other targets of the
# same options take by amsp_use_precompiled(TARGET NAME).
function(amsp_precompiled name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBS;OPTIONS")
  if(NOT AMSP_PCH)
    return()
  endif()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp CONTENT "")
  add_library(${name} STATIC ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE amsp_options ${arg_LIBS})
  target_compile_options(${name} PRIVATE ${arg_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${arg_UNPARSED_ARGUMENTS})
endfunction()

function(amsp_use_precompiled target name)
  if(AMSP_PCH)
    target_precompile_headers(${target} REUSE_FROM ${name})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # The false positives of bug 105651 under other names: a precompiled header is no system header.
      target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow
                             -Wno-stringop-overread)
    endif()
  endif()
endfunction()

# amsp_library(NAME sources... [PUBLIC libs...] [PRIVATE libs...] [OPTIONS options...]): the library
# amsp::NAME. Headers are included from the root of the repository: #include "core/units.h".
# Libraries with options of their own parse the headers themselves.
function(amsp_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PUBLIC;PRIVATE;OPTIONS")
  add_library(amsp_${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  add_library(amsp::${name} ALIAS amsp_${name})
  target_include_directories(amsp_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(amsp_${name} PUBLIC ${arg_PUBLIC} PRIVATE amsp_options ${arg_PRIVATE})
  if(arg_OPTIONS)
    target_compile_options(amsp_${name} PRIVATE ${arg_OPTIONS})
  else()
    amsp_use_precompiled(amsp_${name} amsp_library_headers)
  endif()
endfunction()

# amsp_test_options(TARGET): as the sources of tests are compiled (with GTest::gmock): what they test is optimised, they are
# not, which halves their compile time.
function(amsp_test_options target)
  target_compile_options(${target} PRIVATE -O0)
  target_link_libraries(${target} PRIVATE amsp_options)
  amsp_use_precompiled(${target} amsp_test_headers)
endfunction()

# amsp_test(NAME sources... LIBS libs... [LABELS labels...] [PREFIX text] [TIMEOUT s] [NUMERICS]): one test
# program; every case is a ctest of its own, with the prefix before its name. NUMERICS: its own loops are what
# takes the time, so they are optimised.
function(amsp_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NUMERICS" "PREFIX;TIMEOUT" "LIBS;LABELS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE amsp_options ${arg_LIBS} GTest::gmock GTest::gtest_main)
  if(NOT arg_NUMERICS)
    amsp_test_options(${name})
  endif()
  target_compile_definitions(${name} PRIVATE AMSP_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                             AMSP_BINARY_DIR="${PROJECT_BINARY_DIR}")
  set(properties TIMEOUT ${arg_TIMEOUT})
  if(arg_LABELS)
    list(APPEND properties LABELS "${arg_LABELS}")
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${arg_PREFIX}" DISCOVERY_TIMEOUT 60
                       PROPERTIES ${properties})
endfunction()
