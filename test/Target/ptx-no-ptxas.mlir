// RUN: df-translate --dataflow-to-ptx --ptxas=/nonexistent/ptxas %s | FileCheck %s
// RUN: not df-translate --dataflow-to-cubin --no-cache --ptxas=/nonexistent/ptxas %s -o %t 2>&1 | FileCheck %s --check-prefix=NONE
// Without an assembler everything up to PTX works, and a cubin is a clear error.

// CHECK: .entry kernel()
// NONE: [[@LINE+1]]:{{.*}}error: ptxas '/nonexistent/ptxas' is not there or cannot be run
gpu.module @plain {
  llvm.func @kernel() attributes {nvvm.kernel} {
    llvm.return
  }
}
