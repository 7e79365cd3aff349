# Targets format, format-check and lint over all sources under version control.
find_program(CLANG_FORMAT NAMES clang-format-14 clang-format)
find_program(CLANG_TIDY NAMES clang-tidy-14 clang-tidy)
file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     core/*.cpp core/*.h data/*.cpp data/*.h kernels/*.cpp kernels/*.h
     topology/*.cpp topology/*.h schedule/*.cpp schedule/*.h
     scenario/*.cpp scenario/*.h lowering/*.cpp lowering/*.h traces/*.cpp traces/*.h
     executor/*.cpp executor/*.h trace_*/*.cpp trace_*/*.h profiling/*.cpp profiling/*.h sim/*.cpp sim/*.h
     prediction/*.cpp prediction/*.h tools/*.cpp tools/*.h tests/*.cpp tests/*.h
     bench/*.cpp)
file(GLOB_RECURSE kernel_sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     executor/*.cu executor/*.cuh tests/*.cuh)
if(CLANG_FORMAT)
  add_custom_target(format COMMAND ${CLANG_FORMAT} -i ${sources} ${kernel_sources}
                    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  add_custom_target(format-check COMMAND ${CLANG_FORMAT} --dry-run --Werror ${sources} ${kernel_sources}
                    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endif()
if(CLANG_TIDY)
  set(tidy_sources ${sources})
  list(FILTER tidy_sources EXCLUDE REGEX "^(tests|bench)/|\\.h$")
  if(NOT AMSP_HAVE_CUDA)
    list(FILTER tidy_sources EXCLUDE REGEX "^executor/cuda/")
  endif()
  add_custom_target(lint COMMAND ${CLANG_TIDY} -p ${PROJECT_BINARY_DIR} --quiet
                    --extra-arg=-Wno-unknown-warning-option ${tidy_sources}
                    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endif()
