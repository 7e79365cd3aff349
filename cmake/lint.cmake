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

# over(NAME PROGRAM LIST PROCESSES AT_ONCE arguments...): the target NAME runs PROGRAM over the sources in LIST.
function(over name program list processes at_once)
  list(JOIN ${list} "\n" lines)
  set(file ${PROJECT_BINARY_DIR}/${name}_sources.txt)
  file(CONFIGURE OUTPUT ${file} CONTENT "${lines}\n")
  add_custom_target(${name} COMMAND xargs -a ${file} -n ${at_once} -P ${processes} ${program} ${ARGN}
                    USES_TERMINAL WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endfunction()

include(ProcessorCount)
ProcessorCount(cores)
if(CLANG_FORMAT)
  over(format ${CLANG_FORMAT} sources ${cores} 50 -i)
  over(format-check ${CLANG_FORMAT} sources ${cores} 50 --dry-run --Werror)
endif()

# clang-tidy can't read GCC's precompiled headers, so a build folder that has them uses another one's commands.
if(AMSP_PCH)
  add_custom_target(lint COMMAND ${CMAKE_COMMAND} --workflow --preset lint USES_TERMINAL
                    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
elseif(CLANG_TIDY)
  set(units ${sources})
  list(FILTER units INCLUDE REGEX "\\.cpp$")
  list(FILTER units EXCLUDE REGEX "^(tests|bench)/")
  if(NOT AMSP_HAVE_CUDA)
    list(FILTER units EXCLUDE REGEX "^executor/cuda/")
  endif()
  # Without carets clang says nothing but what it found; clang-tidy draws its own.
  over(lint ${CLANG_TIDY} units ${cores} 1 -p ${PROJECT_BINARY_DIR} --quiet
       --extra-arg=-Wno-unknown-warning-option --extra-arg=-fno-caret-diagnostics)
endif()
