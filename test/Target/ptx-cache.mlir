// REQUIRES: ptxas
// RUN: rm -rf %t && mkdir %t
// RUN: df-translate --dataflow-to-cubin --cache-dir=%t/cache %s -o %t/first 2>&1 | FileCheck %s --check-prefix=MISS
// RUN: df-translate --dataflow-to-cubin --cache-dir=%t/cache %s -o %t/second 2>&1 | FileCheck %s --check-prefix=HIT
// RUN: cmp %t/first %t/second
// RUN: env DATAFLOW_CACHE_DIR=%t/cache df-translate --dataflow-to-cubin %s -o %t/third 2>&1 | FileCheck %s --check-prefix=HIT
// RUN: not df-translate --dataflow-to-cubin --cache-dir=%t/cache --strict-ptxas %s -o %t/none 2>&1 | FileCheck %s --check-prefixes=HIT,STRICT
// RUN: df-translate --dataflow-to-cubin --cache-dir=%t/cache --no-cache %s -o %t/fourth 2>&1 | FileCheck %s --check-prefix=MISS
// RUN: df-translate --dataflow-to-cubin --cache-dir=%t/cache --chip=sm_100a %s -o %t/other 2>&1 | FileCheck %s --check-prefix=MISS
// RUN: %python -c "import glob; [open(f, 'r+b').truncate(100) for f in glob.glob(r'%t/cache/*.cubin')]"
// RUN: df-translate --dataflow-to-cubin --cache-dir=%t/cache %s -o %t/fifth 2>&1 | FileCheck %s --check-prefix=MISS
// RUN: cmp %t/first %t/fifth
// RUN: df-translate --dataflow-to-cubin --cache-dir=%t/cache %s -o %t/sixth 2>&1 | FileCheck %s --check-prefix=HIT
// Cubins are kept by content: another chip misses, a damaged entry is written anew, a hit is judged as strictly as a miss.

// MISS-NOT: taken from the cache
// MISS: remark: kernel 'kernel':
// MISS-NOT: taken from the cache
// HIT: remark: cubin taken from the cache
// HIT: remark: kernel 'kernel':
// STRICT: error: 'kernel': ptxas: C7508

gpu.module @cached {
  llvm.func @kernel() attributes {nvvm.kernel} {
    nvvm.setmaxregister increase 232
    llvm.return
  }
}
