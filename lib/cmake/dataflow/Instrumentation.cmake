# Builds that look for mistakes while tests run, and that count which lines run. Sanitizers and
# fuzzers are for the runtime, the planner and df-run (DATAFLOW_BUILD_COMPILER=OFF), as LLVM's own
# libraries are not instrumented.
set(DATAFLOW_SANITIZE "" CACHE STRING
  "Sanitizers of the whole build: address (with undefined behaviour), thread, or none")
set_property(CACHE DATAFLOW_SANITIZE PROPERTY STRINGS "" address thread)
option(DATAFLOW_COVERAGE "Count how often each line runs (for gcovr)" OFF)
option(DATAFLOW_FUZZ "Build the fuzz targets (needs clang's libFuzzer)" OFF)

set(flags)
if(DATAFLOW_SANITIZE STREQUAL "address")
  list(APPEND flags -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(DATAFLOW_SANITIZE STREQUAL "thread")
  list(APPEND flags -fsanitize=thread)
elseif(DATAFLOW_SANITIZE)
  message(FATAL_ERROR "DATAFLOW_SANITIZE is '${DATAFLOW_SANITIZE}', expected address, thread or "
    "nothing")
endif()
if(DATAFLOW_FUZZ)
  # Covers every branch for the fuzzer; its main comes with the targets.
  list(APPEND flags -fsanitize=fuzzer-no-link)
endif()
if(flags)
  add_compile_options(${flags} -fno-omit-frame-pointer -g1)
  add_link_options(${flags})
endif()
if(DATAFLOW_COVERAGE)
  # Not --coverage, which a target cannot take back. Our files only: counters of MLIR's headers are
  # of no use and cost most of the time. The driver takes the filter with --coverage alone, the
  # compiler behind it always.
  add_compile_options(-fprofile-arcs -ftest-coverage
    "SHELL:-Xclang \"-fprofile-filter-files=^${PROJECT_SOURCE_DIR}/\"")
  add_link_options(-fprofile-arcs)
endif()
if(DATAFLOW_BUILD_COMPILER AND flags)
  message(FATAL_ERROR "DATAFLOW_SANITIZE and DATAFLOW_FUZZ are for builds with "
    "DATAFLOW_BUILD_COMPILER=OFF")
endif()
unset(flags)
