# Finds MLIR 22.1 and prepares tblgen, the precompiled header and the link line.
# The MLIR and LLVM dylibs are the only LLVM libraries that this project links:
# a second, static copy would register every option twice.

if(NOT MLIR_DIR AND EXISTS "/usr/lib/llvm-22/lib/cmake/mlir")
  set(MLIR_DIR "/usr/lib/llvm-22/lib/cmake/mlir" CACHE PATH "folder of MLIRConfig.cmake")
endif()
find_package(MLIR 22.1 CONFIG)
if(NOT MLIR_FOUND)
  message(FATAL_ERROR "MLIR 22.1 was not found. Run scripts/setup, set MLIR_DIR to the folder of "
    "MLIRConfig.cmake, or build the runtime alone with -DDATAFLOW_BUILD_COMPILER=OFF")
endif()
foreach(dylib MLIR LLVM)
  if(NOT TARGET ${dylib})
    message(FATAL_ERROR "the MLIR package in ${MLIR_DIR} has no shared lib${dylib}")
  endif()
endforeach()
message(STATUS "MLIR ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}")

list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
set(MLIR_BINARY_DIR "${DATAFLOW_BINARY_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# dataflow_mlir_headers(target): lets the target include MLIR and what tblgen makes
# of our .td files.
function(dataflow_mlir_headers target)
  target_include_directories(${target} SYSTEM PUBLIC
    "$<BUILD_INTERFACE:${LLVM_INCLUDE_DIRS}>" "$<BUILD_INTERFACE:${MLIR_INCLUDE_DIRS}>")
  separate_arguments(definitions NATIVE_COMMAND ${LLVM_DEFINITIONS})
  target_compile_definitions(${target} PUBLIC ${definitions})
endfunction()

# dataflow_use_mlir(target): headers, dylibs and the precompiled header, which
# exists once: MLIR's headers take longer to compile than all of our code. clang
# only; -fno-pch-timestamp keeps ccache effective.
function(dataflow_use_mlir target)
  dataflow_mlir_headers(${target})
  target_link_libraries(${target} PUBLIC MLIR LLVM)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    if(NOT TARGET DataflowPCH)
      file(WRITE "${DATAFLOW_BINARY_DIR}/pch.cpp" "// Carries the precompiled header.\n")
      add_library(DataflowPCH OBJECT "${DATAFLOW_BINARY_DIR}/pch.cpp")
      dataflow_target_defaults(DataflowPCH)
      dataflow_mlir_headers(DataflowPCH)
      target_compile_options(DataflowPCH PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
      target_precompile_headers(DataflowPCH PRIVATE
        "${DATAFLOW_SOURCE_DIR}/lib/cmake/dataflow/Precompiled.h")
    endif()
    # The header is made with -fPIC; for executables CMake would say -fPIE, which
    # clang does not accept together with it.
    get_target_property(kind ${target} TYPE)
    if(kind STREQUAL "EXECUTABLE")
      set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${target} PRIVATE -fPIC)
    endif()
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    target_precompile_headers(${target} REUSE_FROM DataflowPCH)
  endif()
endfunction()

# dataflow_link_without_mlir(target library...): links the archives of our
# libraries and of what they need, but neither MLIR nor LLVM, whose symbols the
# process that loads the target has.
function(dataflow_link_without_mlir target)
  set(todo ${ARGN})
  set(archives)
  set(seen MLIR LLVM)
  while(todo)
    list(POP_FRONT todo library)
    if(library IN_LIST seen)
      continue()
    endif()
    list(APPEND seen ${library})
    if(library MATCHES "^Dataflow" AND TARGET ${library})
      list(APPEND archives "$<TARGET_FILE:${library}>")
      add_dependencies(${target} ${library})
      get_target_property(needs ${library} LINK_LIBRARIES)
      if(needs)
        list(APPEND todo ${needs})
      endif()
    else()
      list(APPEND archives ${library})
    endif()
  endwhile()
  target_link_libraries(${target} PRIVATE
    -Wl,--start-group ${archives} -Wl,--end-group)
endfunction()
