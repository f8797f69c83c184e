# Debian packages, by `cpack -G DEB` in the build folder:
#   libdfrt1           libdfrt.so, for engines
#   dataflow-tools     df-run
#   dataflow-compiler  df-opt, df-translate, the language server, the plugin
#   libdataflow-dev    headers, archives, CMake packages, dfrt.pc
# Configure with -DCMAKE_INSTALL_PREFIX=/usr for packages that belong there.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dataflow)
set(CPACK_PACKAGE_VENDOR dataflow)
set(CPACK_PACKAGE_CONTACT "The dataflow project <dataflow@localhost>")
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${DATAFLOW_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL runtime tools development)
if(DATAFLOW_BUILD_COMPILER)
  list(APPEND CPACK_COMPONENTS_ALL compiler)
endif()

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Where the tools find libraries of the other packages.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${DATAFLOW_BINARY_DIR}/lib")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libdfrt1)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
  "Runtime of the dataflow project\n Loads compiled programs, plans batches, launches them on a CPU or a GPU.")
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME dataflow-tools)
set(CPACK_COMPONENT_TOOLS_DESCRIPTION
  "Plans, runs, checks and measures dataflow programs\n df-run executes a compiled program on a workload and says what was decided and why.")
set(CPACK_DEBIAN_COMPILER_PACKAGE_NAME dataflow-compiler)
set(CPACK_COMPONENT_COMPILER_DESCRIPTION
  "Compiler of the dataflow project\n df-opt, df-translate, a language server and a plugin for mlir-opt.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libdataflow-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libdfrt1 (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
  "Headers and libraries of the dataflow project\n For programs that embed its runtime or its compiler.")
include(CPack)
