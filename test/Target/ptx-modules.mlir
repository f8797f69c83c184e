// RUN: split-file %s %t
// RUN: df-translate --dataflow-to-ptx %t/several.mlir | FileCheck %s --check-prefix=SEVERAL
// RUN: df-translate --dataflow-to-ptx --gpu-module=second %t/several.mlir | FileCheck %s --check-prefix=SECOND
// RUN: not df-translate --dataflow-to-ptx --gpu-module=third %t/several.mlir 2>&1 | FileCheck %s --check-prefix=THIRD
// RUN: df-translate --dataflow-to-ptx %t/bare.mlir | FileCheck %s --check-prefix=BARE
// Which modules are compiled, and that ordinary upstream dialects may be used in them.

// SEVERAL: // gpu.module first
// SEVERAL: .entry one(
// SEVERAL: // gpu.module second
// SEVERAL: .entry two(
// SECOND-NOT: one(
// SECOND: .entry two(
// SECOND: ex2.approx
// SECOND: cp.async.commit_group
// THIRD: error: holds no gpu.module called 'third'
// BARE: .target sm_90a
// BARE: .entry bare(

//--- several.mlir
gpu.module @first {
  llvm.func @one() attributes {nvvm.kernel} {
    llvm.return
  }
}
gpu.module @second {
  func.func private @power(%x: f32) -> f32 {
    %y = math.exp2 %x : f32
    return %y : f32
  }
  llvm.func @two(%n: i32, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%part = %zero) -> (vector<4xf32>) : i32 {
      %f = arith.sitofp %i : i32 to f32
      %e = func.call @power(%f) : (f32) -> f32
      %b = vector.broadcast %e : f32 to vector<4xf32>
      %next = arith.addf %part, %b : vector<4xf32>
      scf.yield %next : vector<4xf32>
    }
    llvm.store %sum, %out {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
    %group = nvgpu.device_async_create_group
    llvm.return
  }
}

//--- bare.mlir
llvm.func @bare() attributes {nvvm.kernel} {
  llvm.return
}
