// REQUIRES: ptxas
// RUN: rm -rf %t && mkdir %t
// RUN: df-translate --dataflow-to-cubin --no-cache --strict-ptxas --gpu-module=good %s -o %t/good.cubin 2>&1 | FileCheck %s --check-prefix=GOOD
// RUN: od -An -c -N4 %t/good.cubin | FileCheck %s --check-prefix=ELF
// RUN: df-translate --dataflow-to-cubin --no-cache --strict-ptxas --chip=sm_100a --gpu-module=good %s -o %t/good100.cubin
// RUN: not df-translate --dataflow-to-cubin --no-cache %s -o %t/several 2>&1 | FileCheck %s --check-prefix=SEVERAL
// RUN: split-file %S/ptx-modules.mlir %t/split
// RUN: df-translate --dataflow-to-cubin --no-cache --cubin-dir=%t/folder %t/split/several.mlir 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: od -An -c -N4 %t/folder/second.cubin | FileCheck %s --check-prefix=ELF
// RUN: df-translate --dataflow-to-cubin --no-cache --cubin-dir=%t/one --gpu-module=first %t/split/several.mlir -o %t/list
// RUN: ls %t/one | FileCheck %s --check-prefix=ONE
// RUN: not df-translate --dataflow-to-cubin --no-cache --cubin-dir=%t/list %t/split/several.mlir 2>&1 | FileCheck %s --check-prefix=NOFOLDER
// RUN: df-translate --dataflow-to-cubin --no-cache --gpu-module=ignored %s -o %t/ignored.cubin 2>&1 | FileCheck %s --check-prefix=WARNED
// RUN: not df-translate --dataflow-to-cubin --no-cache --strict-ptxas --gpu-module=ignored %s -o %t/none 2>&1 | FileCheck %s --check-prefix=IGNORED
// RUN: not df-translate --dataflow-to-cubin --no-cache --strict-ptxas --gpu-module=spills %s -o %t/none 2>&1 | FileCheck %s --check-prefix=SPILLS
// RUN: not df-translate --dataflow-to-cubin --no-cache --strict-ptxas --gpu-module=local %s -o %t/none 2>&1 | FileCheck %s --check-prefix=LOCAL
// RUN: not df-translate --dataflow-to-cubin --no-cache --strict-ptxas --gpu-module=waits %s -o %t/none 2>&1 | FileCheck %s --check-prefix=WAITS
// RUN: not df-translate --dataflow-to-cubin --no-cache --gpu-module=refused %s -o %t/none 2>&1 | FileCheck %s --check-prefix=REFUSED
// The assembler's report becomes diagnostics at the kernels; what costs performance is an error with --strict-ptxas.

// SEVERAL: error: holds 6 gpu.modules, but a cubin has one: name one with --gpu-module, or a folder for all with --cubin-dir
// FOLDER-DAG: remark: kernel 'one': {{[0-9]+}} registers
// FOLDER-DAG: remark: kernel 'two': {{[0-9]+}} registers
// FOLDER-DAG: {{^}}first.cubin
// FOLDER-DAG: {{^}}second.cubin
// ONE: first.cubin
// ONE-NOT: second
// NOFOLDER: error: cannot write '{{.*}}list{{.}}first.cubin': {{.+}}
// ELF: 177 E L F

// GOOD: [[@LINE+4]]:{{.*}}remark: kernel 'fill': {{[0-9]+}} registers, 1 barriers, 4 bytes of shared memory, 0 bytes of stack, 0 bytes spilled
// One line, not the kernel's text below it.
// GOOD-NOT: llvm.func
gpu.module @good {
  llvm.func @fill(%out: !llvm.ptr<1>, %value: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %word = llvm.mlir.addressof @word : !llvm.ptr<3>
    llvm.store volatile %value, %word : i32, !llvm.ptr<3>
    nvvm.barrier0
    %read = llvm.load volatile %word : !llvm.ptr<3> -> i32
    llvm.store %read, %out : i32, !llvm.ptr<1>
    llvm.return
  }
  llvm.mlir.global internal @word() {addr_space = 3 : i32, alignment = 4 : i64} : i32
}

// Nothing says how many threads there are.
// WARNED: [[@LINE+3]]:{{.*}}warning: 'ignored': ptxas: C7508: {{.*}}'setmaxnreg' ignored
// IGNORED: [[@LINE+2]]:{{.*}}error: 'ignored': ptxas: C7508: {{.*}}'setmaxnreg' ignored
gpu.module @ignored {
  llvm.func @ignored() attributes {nvvm.kernel} {
    nvvm.setmaxregister increase 232
    llvm.return
  }
}

// More values live than 24 registers hold.
// SPILLS: [[@LINE+2]]:{{.*}}error: 'spills': ptxas: spills registers: {{[1-9][0-9]*}} bytes stored
gpu.module @spills {
  llvm.func @spills(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, nvvm.maxnreg = 24 : i32} {
    %p1 = llvm.getelementptr %in[64] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %p2 = llvm.getelementptr %in[128] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %p3 = llvm.getelementptr %in[192] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %q1 = llvm.getelementptr %out[64] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %q2 = llvm.getelementptr %out[128] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %q3 = llvm.getelementptr %out[192] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %a = llvm.load volatile %in {alignment = 64 : i64} : !llvm.ptr<1> -> vector<16xf32>
    %b = llvm.load volatile %p1 {alignment = 64 : i64} : !llvm.ptr<1> -> vector<16xf32>
    %c = llvm.load volatile %p2 {alignment = 64 : i64} : !llvm.ptr<1> -> vector<16xf32>
    %d = llvm.load volatile %p3 {alignment = 64 : i64} : !llvm.ptr<1> -> vector<16xf32>
    llvm.store volatile %d, %out {alignment = 64 : i64} : vector<16xf32>, !llvm.ptr<1>
    llvm.store volatile %c, %q1 {alignment = 64 : i64} : vector<16xf32>, !llvm.ptr<1>
    llvm.store volatile %b, %q2 {alignment = 64 : i64} : vector<16xf32>, !llvm.ptr<1>
    llvm.store volatile %a, %q3 {alignment = 64 : i64} : vector<16xf32>, !llvm.ptr<1>
    llvm.return
  }
}

// An array that is indexed cannot live in registers.
// LOCAL: [[@LINE+2]]:{{.*}}error: 'local': ptxas: uses local memory: {{[1-9][0-9]*}} bytes a thread
gpu.module @local {
  llvm.func @local(%out: !llvm.ptr<1>, %i: i32, %j: i32) attributes {nvvm.kernel} {
    %n = llvm.mlir.constant(64 : i32) : i32
    %array = llvm.alloca %n x i32 : (i32) -> !llvm.ptr
    %p = llvm.getelementptr %array[%i] : (!llvm.ptr, i32) -> !llvm.ptr, i32
    llvm.store volatile %i, %p : i32, !llvm.ptr
    %q = llvm.getelementptr %array[%j] : (!llvm.ptr, i32) -> !llvm.ptr, i32
    %v = llvm.load volatile %q : !llvm.ptr -> i32
    llvm.store %v, %out : i32, !llvm.ptr<1>
    llvm.return
  }
}

// The accumulator is read while it may still be written.
// WAITS: [[@LINE+2]]:{{.*}}error: 'waits': ptxas: C7517: warpgroup.wait is injected
gpu.module @waits {
  llvm.func @waits(%a: i64, %b: i64, %out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %none = llvm.mlir.poison : !llvm.struct<(f32, f32, f32, f32)>
    nvvm.wgmma.fence.aligned
    %sum = nvvm.wgmma.mma_async %a, %b, %none, #nvvm.shape<m = 64, n = 8, k = 16>, D[<f32>, <zero>], A[<bf16>, <one>, <row>], B[<bf16>, <one>, <col>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
    nvvm.wgmma.commit.group.sync.aligned
    %x = llvm.extractvalue %sum[0] : !llvm.struct<(f32, f32, f32, f32)>
    llvm.store %x, %out : f32, !llvm.ptr<1>
    llvm.return
  }
}

// A barrier number that neither MLIR nor LLVM checks.
// REFUSED: error: ptxas failed with status {{[0-9]+}} on 'refused'
// REFUSED: error: ptxas: line {{[0-9]+}}:
gpu.module @refused {
  llvm.func @refused() attributes {nvvm.kernel} {
    %id = llvm.mlir.constant(20 : i32) : i32
    nvvm.barrier id = %id
    llvm.return
  }
}
