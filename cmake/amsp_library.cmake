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

# amsp_library(NAME sources... [PUBLIC libs...] [PRIVATE libs...]): the library amsp::NAME.
# Headers are included from the root of the repository: #include "core/units.h".
function(amsp_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PUBLIC;PRIVATE")
  add_library(amsp_${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  add_library(amsp::${name} ALIAS amsp_${name})
  target_include_directories(amsp_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(amsp_${name} PUBLIC ${arg_PUBLIC} PRIVATE amsp_options ${arg_PRIVATE})
endfunction()

# amsp_test(NAME sources... LIBS libs... [LABELS labels...] [PREFIX text] [TIMEOUT s]): one test program; every
# case is a ctest of its own, with the prefix before its name.
function(amsp_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PREFIX;TIMEOUT" "LIBS;LABELS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE amsp_options ${arg_LIBS} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE AMSP_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                             AMSP_BINARY_DIR="${PROJECT_BINARY_DIR}")
  set(properties TIMEOUT ${arg_TIMEOUT})
  if(arg_LABELS)
    list(APPEND properties LABELS "${arg_LABELS}")
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${arg_PREFIX}" DISCOVERY_TIMEOUT 60
                       PROPERTIES ${properties})
endfunction()
