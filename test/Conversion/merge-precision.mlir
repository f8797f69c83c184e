// RUN: df-opt %s --dataflow-prepare --dataflow-split-roles --dataflow-assign-layouts --convert-dataflow-to-nvvm="specializations=static" 2>&1 \
// RUN:   | FileCheck %s
// RUN: sed 's/accumulator = f32/accumulator = f32, merge = bf16/' %s \
// RUN:   | df-opt --dataflow-prepare --dataflow-split-roles --dataflow-assign-layouts --convert-dataflow-to-nvvm="specializations=static" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BF16
// RUN: sed 's/accumulator = f32/accumulator = f32, merge = f32/' %s \
// RUN:   | df-opt --dataflow-prepare --dataflow-split-roles --dataflow-assign-layouts --convert-dataflow-to-nvvm="specializations=static" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=F32
// RUN: sed 's/xf16>/xf32>/g;s/arith.truncf %n : f32 to f16/arith.addf %n, %n : f32/;s/: f16/: f32/' %s \
// RUN:   | df-opt --dataflow-prepare --dataflow-split-roles --dataflow-assign-layouts --convert-dataflow-to-nvvm="specializations=static" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WIDE
// RUN: sed 's/accumulator = f32/accumulator = f32, merge = f16/' %s \
// RUN:   | not df-opt --dataflow-prepare --convert-dataflow-to-nvvm="specializations=static" 2>&1 | FileCheck %s --check-prefix=PORTABLE
// RUN: sed 's/8x64/8x8/g;s/8, 64/8, 8/g' %s \
// RUN:   | df-opt --dataflow-prepare --dataflow-split-roles --dataflow-assign-layouts --convert-dataflow-to-nvvm="specializations=static" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ROWS
// RUN: sed 's/8x64/8x8/g;s/8, 64/8, 8/g;s/accumulator = f32/accumulator = f32, merge = f16/' %s \
// RUN:   | not df-opt --dataflow-prepare --dataflow-split-roles --dataflow-assign-layouts --convert-dataflow-to-nvvm="specializations=static" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REFUSED
// Parts whose large field becomes an f16 output are stored in f16 where a precision request says `automatic`; the fold keeps f32.

#row = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
!part = !dataflow.record<scale: tensor<8xf32>, rows: tensor<8x64xf32>>

// CHECK: remark: kernel 'blend_static': parts of 'two' are stored in f16
// BF16: remark: kernel 'blend_static': parts of 'two' are stored in bf16
// F32-NOT: parts of 'two'
// WIDE: remark: kernel 'blend_static': parts of 'two' stay as they are, because outputs made of them are not all f16, nor all bf16
// Slices of rows take their own of the scale, which lies in the head: such a fold goes through memory.
// ROWS: remark: kernel 'blend_static': parts of 'two' stay as they are, because a fold does not keep slices of them in registers
// REFUSED: error: {{.*}}request 'precision' on stage "two": parts cannot be stored in f16, because a fold does not keep slices of them in registers
// PORTABLE: error: {{.*}}request 'precision' on stage "two": parts cannot be stored in f16, because its handler does not merge slices in the registers of a warp
dataflow.program @blend(%x: tensor<?x8x64xf32>, %lengths: tensor<?xi32>, %y: tensor<?x8x64xf16>, %z: tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @jobs(job = %n)
  dataflow.range @tiles of @jobs length %lengths[job] tile 1 : tensor<?xi32>
  %parts = dataflow.map @take tasks @jobs over @tiles operands(%x : tensor<?x8x64xf32>) : () -> !dataflow.channel<!part, pieces>
  %whole = dataflow.reduce @two(%parts) requests [#dataflow.precision<accumulator = f32>]
      : (!dataflow.channel<!part, pieces>) -> !dataflow.channel<!part> identity {
    %zero = arith.constant 0.0 : f32
    %scale = tensor.splat %zero : tensor<8xf32>
    %rows = tensor.splat %zero : tensor<8x64xf32>
    dataflow.yield %scale, %rows : tensor<8xf32>, tensor<8x64xf32>
  }
  dataflow.finalize @put(%whole) tasks @jobs outs(%y, %z : tensor<?x8x64xf16>, tensor<?x8xf32>) : (!dataflow.channel<!part>) -> ()

  dataflow.handler @take(%job: index, %begin: index, %end: index, %x: tensor<?x8x64xf32>) -> (tensor<8xf32>, tensor<8x64xf32>) {
    %one = arith.constant 1.0 : f32
    %scale = tensor.splat %one : tensor<8xf32>
    %rows = tensor.extract_slice %x[%begin, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<?x8x64xf32> to tensor<8x64xf32>
    dataflow.yield %scale, %rows : tensor<8xf32>, tensor<8x64xf32>
  }
  dataflow.handler @two(%as: tensor<8xf32>, %a: tensor<8x64xf32>, %bs: tensor<8xf32>, %b: tensor<8x64xf32>) -> (tensor<8xf32>, tensor<8x64xf32>) {
    %scale = arith.maximumf %as, %bs : tensor<8xf32>
    %empty = tensor.empty() : tensor<8x64xf32>
    %rows = linalg.generic {indexing_maps = [#row, #all, #all, #all], iterator_types = ["parallel", "parallel"]}
        ins(%scale, %a, %b : tensor<8xf32>, tensor<8x64xf32>, tensor<8x64xf32>) outs(%empty : tensor<8x64xf32>) {
    ^bb0(%s: f32, %p: f32, %q: f32, %o: f32):
      %d = arith.subf %p, %q : f32
      %m = arith.mulf %d, %s : f32
      linalg.yield %m : f32
    } -> tensor<8x64xf32>
    dataflow.yield %scale, %rows : tensor<8xf32>, tensor<8x64xf32>
  }
  dataflow.handler @put(%job: index, %scale: tensor<8xf32>, %rows: tensor<8x64xf32>, %y: tensor<?x8x64xf16>, %z: tensor<?x8xf32>)
      -> (tensor<?x8x64xf16>, tensor<?x8xf32>) {
    %empty = tensor.empty() : tensor<8x64xf16>
    %narrow = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
        ins(%rows : tensor<8x64xf32>) outs(%empty : tensor<8x64xf16>) {
    ^bb0(%n: f32, %o: f16):
      %h = arith.truncf %n : f32 to f16
      linalg.yield %h : f16
    } -> tensor<8x64xf16>
    %r = tensor.insert_slice %narrow into %y[%job, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<8x64xf16> into tensor<?x8x64xf16>
    %s = tensor.insert_slice %scale into %z[%job, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<?x8xf32>
    dataflow.yield %r, %s : tensor<?x8x64xf16>, tensor<?x8xf32>
  }

  // What is loaded are words, which nothing waits for; merging widens them, and its result is f32, as is what the finalize gets of it.
  // CHECK-LABEL: gpu.module @blend_static
  // CHECK: llvm.func internal @two$1$compute$load(
  // CHECK-SAME: -> !llvm.struct<(f32, i32
  // CHECK-NOT: llvm.fpext
  // CHECK: llvm.return
  // CHECK: llvm.func internal @two$1$compute$widen(%{{[a-z0-9]*}}: f32, %{{[a-z0-9]*}}: i32
  // CHECK-SAME: -> !llvm.struct<(f32, f32
  // CHECK: llvm.fpext
  // CHECK: llvm.func internal @two$1$compute$merge(%{{[a-z0-9]*}}: !llvm.ptr, %{{[a-z0-9]*}}: f32, %{{[a-z0-9]*}}: f32, %{{[a-z0-9]*}}: f32
  // CHECK-SAME: i32) -> !llvm.struct<(f32, f32
  // CHECK: llvm.func internal @two$1$compute$store(
  // CHECK: llvm.fptrunc
  // CHECK: llvm.func internal @put$1$compute$follow(%{{[a-z0-9]*}}: !llvm.ptr, %{{[a-z0-9]*}}: f32, %{{[a-z0-9]*}}: f32
  // The first part of a slice is widened, the others are merged as they come.
  // CHECK: llvm.func internal @dfk_stage_1_1(
  // CHECK: llvm.call @two$1$compute$load(
  // CHECK: llvm.call @two$1$compute$widen(
  // CHECK: llvm.call @two$1$compute$merge(

  // F32: llvm.func internal @two$1$compute$load(
  // F32-NOT: $widen(
}
