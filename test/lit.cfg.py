# The lit suites: everything under test/ but the unit tests.

import os
import shutil

import lit.formats

config.name = "dataflow"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "package", "Inputs"]
config.test_source_root = os.path.join(config.dataflow_source, "test")
config.test_exec_root = os.path.join(config.dataflow_build, "test")

# Our tools come first, then FileCheck, not, mlir-opt and the like.
config.environment["PATH"] = os.pathsep.join(
    [config.dataflow_tools, config.llvm_tools, os.environ.get("PATH", "")]
)

config.substitutions += [
    ("%source", config.dataflow_source),
    ("%plugin", config.plugin),
    ("%python", config.python or "python3"),
    ("%dfrt", config.dfrt),
]

# Features that a test can ask for with REQUIRES.
for tool in ("df-opt", "df-translate", "df-run", "df-lsp-server", "dataflow-capi-test"):
    if os.path.exists(os.path.join(config.dataflow_tools, tool)):
        config.available_features.add(tool)
if os.path.exists(config.plugin):
    config.available_features.add("plugin")
if os.path.exists(config.dfrt):
    config.available_features.add("dfrt-shared")
if os.path.exists(os.path.join(config.llvm_tools, "mlir-opt")):
    config.available_features.add("mlir-opt")

# A browser, for pages.
browser = shutil.which("chromium") or shutil.which("chromium-browser")
config.substitutions.append(("%chromium", browser or "chromium"))
if browser:
    config.available_features.add("chromium")
else:
    lit_config.note("chromium was not found: pages are not looked at")

# For traces.
if shutil.which("protoc"):
    config.available_features.add("protoc")
else:
    lit_config.note("protoc was not found: traces for Perfetto are not decoded")

# CUDA's assembler, found as df-translate finds it.
toolkits = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")]
toolkits = [os.path.join(root, "bin") for root in toolkits if root]
folders = toolkits + [os.environ.get("PATH", ""), "/usr/local/cuda/bin"]
if shutil.which("ptxas", path=os.pathsep.join(folders)):
    config.available_features.add("ptxas")
else:
    lit_config.note("ptxas was not found: tests of cubins are skipped")
for name in ("CUDA_HOME", "CUDA_PATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
