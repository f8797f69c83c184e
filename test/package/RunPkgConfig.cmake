# Builds SOURCES, a C program, with what pkg-config says of dfrt in the install tree PREFIX, in the
# folder WORK, and runs it.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
file(GLOB folder "${PREFIX}/lib*/pkgconfig" "${PREFIX}/lib/*/pkgconfig")
set(ENV{PKG_CONFIG_PATH} "${folder}")
execute_process(COMMAND "${PKG_CONFIG}" --cflags --libs dfrt
  OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
execute_process(COMMAND "${C_COMPILER}" ${SOURCES} ${flags} -o "${WORK}/program"
  COMMAND_ERROR_IS_FATAL ANY)
cmake_path(GET folder PARENT_PATH libraries)
set(ENV{LD_LIBRARY_PATH} "${libraries}")
execute_process(COMMAND "${WORK}/program" COMMAND_ERROR_IS_FATAL ANY)
