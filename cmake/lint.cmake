# Targets format, format-check and lint, over the sources of all rooms, the tests and the benchmarks.
find_program(CLANG_FORMAT NAMES clang-format-14 clang-format)
find_program(CLANG_TIDY NAMES clang-tidy-14 clang-tidy)
set(patterns "")
foreach(folder ${amsp_rooms} tests bench)
  foreach(suffix cpp h cu cuh)
    list(APPEND patterns ${folder}/*.${suffix})
  endforeach()
endforeach()
file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${patterns})
if(CLANG_FORMAT)
  add_custom_target(format COMMAND ${CLANG_FORMAT} -i ${sources} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  add_custom_target(format-check COMMAND ${CLANG_FORMAT} --dry-run --Werror ${sources}
                    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endif()

# clang-tidy can't read GCC's precompiled headers, so a build folder that has them uses another one's commands.
if(AMSP_PCH)
  add_custom_target(lint COMMAND ${CMAKE_COMMAND} --workflow --preset lint USES_TERMINAL
                    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
elseif(CLANG_TIDY)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "^(tests|bench)/")
  if(NOT AMSP_HAVE_CUDA)
    list(FILTER sources EXCLUDE REGEX "^executor/cuda/")
  endif()
  list(JOIN sources "\n" lines)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/lint_sources.txt CONTENT "${lines}\n")
  include(ProcessorCount)
  ProcessorCount(cores)
  # Without carets clang says nothing but what it found; clang-tidy draws its own.
  add_custom_target(lint COMMAND xargs -a ${PROJECT_BINARY_DIR}/lint_sources.txt -n 1 -P ${cores}
                                 ${CLANG_TIDY} -p ${PROJECT_BINARY_DIR} --quiet
                                 --extra-arg=-Wno-unknown-warning-option
                                 --extra-arg=-fno-caret-diagnostics
                    USES_TERMINAL WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endif()
