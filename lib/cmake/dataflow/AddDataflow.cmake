# Functions that make this project's targets. A library `IR` becomes the target
# DataflowIR with the alias (and, installed, the exported name) Dataflow::IR.

set(DATAFLOW_SOURCE_DIR "${PROJECT_SOURCE_DIR}")
set(DATAFLOW_BINARY_DIR "${PROJECT_BINARY_DIR}")

# dataflow_target_defaults(target): language level, warnings, include folders.
function(dataflow_target_defaults target)
  target_compile_features(${target} PUBLIC cxx_std_17)
  target_include_directories(${target} PUBLIC
    "$<BUILD_INTERFACE:${DATAFLOW_SOURCE_DIR}/include>"
    "$<BUILD_INTERFACE:${DATAFLOW_SOURCE_DIR}/runtime/include>"
    "$<BUILD_INTERFACE:${DATAFLOW_BINARY_DIR}/include>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-unused-parameter
    "$<$<BOOL:${DATAFLOW_WARNINGS_AS_ERRORS}>:-Werror>")
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

# add_dataflow_library(Name SOURCES ... [LINK_LIBS ...] [DEPENDS ...] [MLIR])
# MLIR: the sources see MLIR's headers, use the shared precompiled header, and the
# library links the MLIR and LLVM dylibs.
function(add_dataflow_library name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LINK_LIBS;DEPENDS" ${ARGN})
  set(target Dataflow${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  add_library(Dataflow::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  dataflow_target_defaults(${target})
  target_link_libraries(${target} PUBLIC ${ARG_LINK_LIBS})
  if(ARG_MLIR)
    dataflow_use_mlir(${target})
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${target} ${ARG_DEPENDS})
  endif()
  dataflow_export(${target} "${ARG_MLIR}")
endfunction()

# dataflow_export(target mlir): the target is installed with the component Compiler if
# it needs MLIR, else with the component Runtime.
function(dataflow_export target mlir)
  if(mlir)
    set_property(GLOBAL APPEND PROPERTY DATAFLOW_COMPILER_TARGETS ${target})
  else()
    set_property(GLOBAL APPEND PROPERTY DATAFLOW_RUNTIME_TARGETS ${target})
  endif()
endfunction()

# add_dataflow_tool(name SOURCES ... [LINK_LIBS ...] [MLIR])
function(add_dataflow_tool name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  add_executable(Dataflow::${name} ALIAS ${name})
  dataflow_target_defaults(${name})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${DATAFLOW_BINARY_DIR}/bin")
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS})
  if(ARG_MLIR)
    dataflow_use_mlir(${name})
  endif()
  dataflow_export(${name} "${ARG_MLIR}")
endfunction()

# Installs every target made by the functions above, the headers, and a package
# configuration that works from the build tree and from the install tree.
function(dataflow_install_package)
  include(CMakePackageConfigHelpers)
  set(package "${CMAKE_INSTALL_LIBDIR}/cmake/dataflow")
  foreach(component Runtime Compiler)
    string(TOUPPER ${component} upper)
    get_property(targets GLOBAL PROPERTY DATAFLOW_${upper}_TARGETS)
    if(targets)
      set(tools compiler)
      if(component STREQUAL "Runtime")
        set(tools tools)
      endif()
      install(TARGETS ${targets} EXPORT Dataflow${component}Targets
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${tools}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime
          NAMELINK_COMPONENT development
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
      install(EXPORT Dataflow${component}Targets NAMESPACE Dataflow:: DESTINATION ${package}
        COMPONENT development)
      export(EXPORT Dataflow${component}Targets NAMESPACE Dataflow::
        FILE "${DATAFLOW_BINARY_DIR}/lib/cmake/dataflow/Dataflow${component}Targets.cmake")
    endif()
  endforeach()
  set(config "${DATAFLOW_BINARY_DIR}/lib/cmake/dataflow/DataflowConfig.cmake")
  configure_package_config_file(
    "${DATAFLOW_SOURCE_DIR}/lib/cmake/dataflow/DataflowConfig.cmake.in" "${config}"
    INSTALL_DESTINATION ${package})
  write_basic_package_version_file(
    "${DATAFLOW_BINARY_DIR}/lib/cmake/dataflow/DataflowConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
  install(FILES "${config}"
    "${DATAFLOW_BINARY_DIR}/lib/cmake/dataflow/DataflowConfigVersion.cmake"
    DESTINATION ${package} COMPONENT development)
  install(DIRECTORY "${DATAFLOW_SOURCE_DIR}/include/" "${DATAFLOW_BINARY_DIR}/include/"
    "${DATAFLOW_SOURCE_DIR}/runtime/include/"
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
    FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.td" PATTERN "*.inc")
endfunction()
