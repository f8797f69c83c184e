// RUN: rm -rf %t && mkdir %t
// RUN: df-opt %source/examples/hello/ragged_sum.mlir --dataflow-prepare -o %t/program.mlir
// RUN: df-translate --dataflow-to-artifact --targets=cpu --cache-dir=%t/cache %t/program.mlir -o %t/first 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
// RUN: df-translate --dataflow-to-artifact --targets=cpu --cache-dir=%t/cache %t/program.mlir -o %t/second 2>&1 | FileCheck %s --check-prefix=HIT
// RUN: cmp %t/first %t/second
// RUN: env DATAFLOW_CACHE_DIR=%t/cache df-translate --dataflow-to-artifact --targets=cpu %t/program.mlir -o %t/third 2>&1 | FileCheck %s --check-prefix=HIT
// RUN: df-translate --dataflow-to-artifact --targets=cpu --cache-dir=%t/cache --no-cache %t/program.mlir -o %t/other 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
// RUN: df-translate --dataflow-to-artifact --targets=cpu --verbose-cache %t/program.mlir -o %t/other 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
// Spelling does not matter, what is compiled does:
// RUN: df-opt %t/program.mlir --mlir-print-op-generic --mlir-print-debuginfo | df-translate --dataflow-to-artifact --targets=cpu --cache-dir=%t/cache -o %t/other 2>&1 | FileCheck %s --check-prefix=HIT
// RUN: sed 's/tile 256/tile 128/' %t/program.mlir | df-translate --dataflow-to-artifact --targets=cpu --cache-dir=%t/cache --verbose-cache -o %t/other 2>&1 | FileCheck %s --check-prefix=MISS
// RUN: df-translate --dataflow-to-artifact --targets=cpu --cache-dir=%t/cache --verbose-cache --chip=sm_100a %t/program.mlir -o %t/other 2>&1 | FileCheck %s --check-prefix=MISS
// RUN: df-translate --dataflow-to-artifact --targets=cpu --cache-dir=%t/cache --verbose-cache --ptx-features=+ptx87 %t/program.mlir -o %t/other 2>&1 | FileCheck %s --check-prefix=MISS
// RUN: df-translate --dataflow-to-artifact --targets=cpu --cache-dir=%t/cache --verbose-cache --ptx-opt-level=1 %t/program.mlir -o %t/other 2>&1 | FileCheck %s --check-prefix=MISS
// RUN: %python -c "import os; f = r'%t/assembler'; open(f, 'w').write('#!/bin/sh\necho another assembler\n'); os.chmod(f, 0o755)"
// RUN: df-translate --dataflow-to-artifact --targets=cpu --cache-dir=%t/cache --verbose-cache --ptxas=%t/assembler %t/program.mlir -o %t/other 2>&1 | FileCheck %s --check-prefix=MISS
// RUN: df-translate --dataflow-to-artifact --targets=cpu --watchdog --cache-dir=%t/cache --verbose-cache %t/program.mlir -o %t/other 2>&1 | FileCheck %s --check-prefix=MISS
// RUN: %python -c "import glob; [open(f, 'r+b').truncate(100) for f in glob.glob(r'%t/cache/*.dfart')]"
// RUN: df-translate --dataflow-to-artifact --targets=cpu --cache-dir=%t/cache %t/program.mlir -o %t/fourth 2>&1 | FileCheck %s --check-prefix=DAMAGED
// RUN: cmp %t/first %t/fourth
// RUN: df-translate --dataflow-to-artifact --targets=cpu --cache-dir=%t/cache %t/program.mlir -o %t/fifth 2>&1 | FileCheck %s --check-prefix=HIT
// RUN: df-translate --dataflow-to-artifact --targets=cpu --cache-dir=%t/program.mlir %t/program.mlir -o %t/sixth 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: cmp %t/first %t/sixth
// A compiled artifact is found again by all that decides it.

// SILENT-NOT: artifact cache
// HIT: remark: artifact cache: hit {{[0-9a-f]+$}}
// HIT-NOT: {{.}}
// MISS: remark: artifact cache: miss {{[0-9a-f]+$}}
// DAMAGED: warning: artifact cache: '{{.*}}.dfart' is damaged and compiled anew
// FOLDER: warning: artifact cache: '{{.*}}program.mlir{{.}}{{[0-9a-f]+}}.dfart' cannot be written:
