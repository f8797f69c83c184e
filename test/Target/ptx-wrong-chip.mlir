// RUN: not df-translate --dataflow-to-ptx --chip=sm_100a --split-input-file %s 2>&1 | FileCheck %s
// RUN: df-translate --dataflow-to-ptx %s --split-input-file | FileCheck %s --check-prefix=SM90
// wgmma exists on sm_90a only, also where neither a verifier nor the code generator looks.

// SM90: wgmma.fence.sync.aligned
// SM90: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16

// CHECK: error: 'nvvm.wgmma.fence.aligned' op [L8] exists on sm_90a only, not on sm_100a
gpu.module @fence {
  llvm.func @fence() attributes {nvvm.kernel} {
    nvvm.wgmma.fence.aligned
    llvm.return
  }
}

// -----

// CHECK: error: 'nvvm.wgmma.mma_async' op [L8] exists on sm_90a only, not on sm_100a
gpu.module @matrix {
  llvm.func @matrix(%a: i64, %b: i64, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %zero = llvm.mlir.zero : !llvm.struct<(f32, f32, f32, f32)>
    %sum = nvvm.wgmma.mma_async %a, %b, %zero, #nvvm.shape<m = 64, n = 8, k = 16>, D[<f32>, <zero>], A[<bf16>, <one>, <row>], B[<bf16>, <one>, <col>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
    llvm.store %sum, %out : !llvm.struct<(f32, f32, f32, f32)>, !llvm.ptr<1>
    llvm.return
  }
}
