# Builds the project in PROJECT against the install tree PREFIX, in the folder WORK, and runs its
# program with ARGUMENTS, in which %WORK% stands for that folder.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
cmake_path(GET PROJECT FILENAME name)

function(must)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}\n${output}")
  endif()
  message("${output}")
endfunction()

must(${CMAKE_COMMAND} -G Ninja -S "${PROJECT}" -B "${WORK}/build"
  -D CMAKE_BUILD_TYPE=Release -D CMAKE_C_COMPILER=${C_COMPILER} -D CMAKE_CXX_COMPILER=${CXX_COMPILER}
  -D CMAKE_C_COMPILER_LAUNCHER=ccache -D CMAKE_CXX_COMPILER_LAUNCHER=ccache
  -D SOURCE=${SOURCE} -D CMAKE_PREFIX_PATH=${PREFIX} -Wno-dev)
must(${CMAKE_COMMAND} --build "${WORK}/build" -j 2)
set(program "${WORK}/build/${name}")
if(NOT EXISTS "${program}")
  set(program "${WORK}/build/consumer")
endif()
string(REPLACE "%WORK%" "${WORK}" ARGUMENTS "${ARGUMENTS}")
must("${program}" ${ARGUMENTS})
