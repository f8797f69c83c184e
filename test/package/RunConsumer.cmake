# Builds and runs one consumer project: CASE is runtime, compiler or embedded.
set(work "${BUILD}/test/package/${CASE}")
set(prefix "${work}/prefix")
file(REMOVE_RECURSE "${work}")
file(MAKE_DIRECTORY "${work}")

function(must)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}\n${output}")
  endif()
endfunction()

set(arguments -D SOURCE=${SOURCE})
if(NOT CASE STREQUAL "embedded")
  must(${CMAKE_COMMAND} --install "${BUILD}" --prefix "${prefix}")
  list(APPEND arguments -D CMAKE_PREFIX_PATH=${prefix})
endif()
must(${CMAKE_COMMAND} -G Ninja -S "${SOURCE}/test/package/${CASE}" -B "${work}/build"
  -D CMAKE_BUILD_TYPE=Release -D CMAKE_C_COMPILER=${C_COMPILER} -D CMAKE_CXX_COMPILER=${CXX_COMPILER}
  -D CMAKE_C_COMPILER_LAUNCHER=ccache -D CMAKE_CXX_COMPILER_LAUNCHER=ccache ${arguments})
must(${CMAKE_COMMAND} --build "${work}/build" -j 2)
must("${work}/build/consumer")
