# Builds the Debian packages of the runtime and the tools from the build folder BUILD, in the folder
# WORK, and tries what is in them.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
execute_process(COMMAND "${CPACK}" -G DEB -B "${WORK}" --config "${BUILD}/CPackConfig.cmake"
  -D "CPACK_COMPONENTS_ALL=runtime;tools"
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(GLOB packages "${WORK}/*.deb")
list(LENGTH packages count)
if(NOT count EQUAL 2)
  message(FATAL_ERROR "expected 2 packages, found: ${packages}")
endif()
foreach(package IN LISTS packages)
  execute_process(COMMAND "${DPKG_DEB}" --field "${package}" OUTPUT_VARIABLE fields
    COMMAND_ERROR_IS_FATAL ANY)
  message("${fields}")
  if(NOT fields MATCHES "Depends: [^\n]*libc6")
    message(FATAL_ERROR "a package does not say what it needs")
  endif()
  execute_process(COMMAND "${DPKG_DEB}" --extract "${package}" "${WORK}/root"
    COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND "${WORK}/root/usr/bin/df-run" --version COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE found RELATIVE "${WORK}/root/usr" "${WORK}/root/usr/*")
message("${found}")
foreach(name "libdfrt\\.so\\.1" "bash-completion/completions/df-run")
  if(NOT found MATCHES "${name}")
    message(FATAL_ERROR "the packages lack ${name}")
  endif()
endforeach()
