// RUN: df-opt %s --convert-dataflow-to-nvvm="specializations=static" | FileCheck %s
// RUN: df-opt %s --convert-dataflow-to-nvvm="specializations=static" | FileCheck %s --check-prefix=ONE
// A reduce of a record that is cut, and its finalize, on tiles of one warp: warps share the slices, and the fold stays in registers.

#map = affine_map<(i, j) -> (i)>
#map1 = affine_map<(i, j) -> (i, j)>
#scale = #dataflow.fragment<[8] block [8] lanes [0:1, 0:2, 0:4, _, _]>
#rows = #dataflow.fragment<[8, 4] block [8, 1] lanes [0:1, 0:2, 0:4, _, _]>
!part = !dataflow.record<scale: tensor<8xf32>, rows: tensor<8x64xf32>>

dataflow.program @blend(%x: tensor<?x8x64xf32>, %lengths: tensor<?xi32>, %y: tensor<?x8x64xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @jobs(job = %n)
  dataflow.range @tiles of @jobs length %lengths[job] tile 1 : tensor<?xi32>
  %parts = dataflow.map @take tasks @jobs over @tiles operands(%x : tensor<?x8x64xf32>) : () -> !dataflow.channel<!part, pieces>
  %whole = dataflow.reduce @two(%parts) : (!dataflow.channel<!part, pieces>) -> !dataflow.channel<!part> identity {
    %zero = arith.constant 0.0 : f32
    %scale = tensor.splat %zero : tensor<8xf32>
    %rows = tensor.splat %zero : tensor<8x64xf32>
    dataflow.yield %scale, %rows : tensor<8xf32>, tensor<8x64xf32>
  }
  dataflow.finalize @put(%whole) tasks @jobs outs(%y : tensor<?x8x64xf32>) : (!dataflow.channel<!part>) -> ()

  dataflow.handler @take(%job: index, %begin: index, %end: index, %x: tensor<?x8x64xf32>) -> (tensor<8xf32>, tensor<8x64xf32>) {
    %one = arith.constant 1.0 : f32
    %scale = tensor.splat %one : tensor<8xf32>
    %rows = tensor.extract_slice %x[%begin, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<?x8x64xf32> to tensor<8x64xf32>
    dataflow.yield %scale, %rows : tensor<8xf32>, tensor<8x64xf32>
  }
  dataflow.handler @two(%as: tensor<8xf32>, %a: tensor<8x64xf32>, %bs: tensor<8xf32>, %b: tensor<8x64xf32>) -> (tensor<8xf32>, tensor<8x64xf32>) {
    %scale = arith.maximumf %as, %bs : tensor<8xf32>
    %empty = tensor.empty() : tensor<8x64xf32>
    %rows = linalg.generic {indexing_maps = [#map, #map1, #map1, #map1], iterator_types = ["parallel", "parallel"]}
        ins(%scale, %a, %b : tensor<8xf32>, tensor<8x64xf32>, tensor<8x64xf32>) outs(%empty : tensor<8x64xf32>) {
    ^bb0(%s: f32, %p: f32, %q: f32, %o: f32):
      %d = arith.subf %p, %q : f32
      %m = arith.mulf %d, %s : f32
      linalg.yield %m : f32
    } -> tensor<8x64xf32>
    dataflow.yield %scale, %rows : tensor<8xf32>, tensor<8x64xf32>
  }
  dataflow.handler @two_sliced(%slice: index, %as: tensor<8xf32>, %a: tensor<8x4xf32>, %bs: tensor<8xf32>, %b: tensor<8x4xf32>)
      -> (tensor<8xf32>, tensor<8x4xf32>) attributes {variant = #dataflow.variant<sliced>, variant_of = @two} {
    %scale = arith.maximumf %as, %bs : tensor<8xf32>
    %empty = tensor.empty() : tensor<8x4xf32>
    %rows = linalg.generic {indexing_maps = [#map, #map1, #map1, #map1], iterator_types = ["parallel", "parallel"]}
        ins(%scale, %a, %b : tensor<8xf32>, tensor<8x4xf32>, tensor<8x4xf32>) outs(%empty : tensor<8x4xf32>) {
    ^bb0(%s: f32, %p: f32, %q: f32, %o: f32):
      %d = arith.subf %p, %q : f32
      %m = arith.mulf %d, %s : f32
      linalg.yield %m : f32
    } -> tensor<8x4xf32>
    dataflow.yield %scale, %rows : tensor<8xf32>, tensor<8x4xf32>
  }
  dataflow.handler @put(%job: index, %scale: tensor<8xf32>, %rows: tensor<8x64xf32>, %y: tensor<?x8x64xf32>) -> tensor<?x8x64xf32> {
    %r = tensor.insert_slice %rows into %y[%job, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<8x64xf32> into tensor<?x8x64xf32>
    dataflow.yield %r : tensor<?x8x64xf32>
  }
  dataflow.handler @put_sliced(%job: index, %slice: index, %scale: tensor<8xf32>, %rows: tensor<8x4xf32>, %y: tensor<?x8x64xf32>)
      -> tensor<?x8x64xf32> attributes {variant = #dataflow.variant<sliced>, variant_of = @put} {
    %c4 = arith.constant 4 : index
    %at = arith.muli %slice, %c4 : index
    %r = tensor.insert_slice %rows into %y[%job, 0, %at] [1, 8, 4] [1, 1, 1] : tensor<8x4xf32> into tensor<?x8x64xf32>
    dataflow.yield %r : tensor<?x8x64xf32>
  }

  // A thread holds one scale and four numbers of a slice. Two records go into `merge` behind the indices.
  // CHECK-LABEL: gpu.module @blend_static
  // CHECK: llvm.func internal @two$1$compute$load(%{{[^)]*}}) -> !llvm.struct<(f32, f32, f32, f32, f32)>
  // CHECK: llvm.func internal @two$1$compute$merge(%{{[a-z0-9]*}}: !llvm.ptr, %{{[a-z0-9]*}}: f32
  // CHECK-NOT: llvm.load {{.*}} -> f32
  // CHECK: llvm.fsub
  // CHECK-NOT: llvm.store
  // CHECK: llvm.func internal @two$1$compute$store(
  // CHECK-NOT: dfk_sync()
  // CHECK: llvm.return

  // Four elements that are neighbours in memory are stored together.
  // CHECK: llvm.func internal @put$1$compute$apply$body(
  // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>

  // It may get a slice from the registers of the fold.
  // CHECK: llvm.func internal @put$1$compute$follow(%{{[a-z0-9]*}}: !llvm.ptr, %{{[a-z0-9]*}}: f32, %{{[a-z0-9]*}}: f32

  // The window is filled, then each group of records that is merged makes room for another; what is stored is the last of a slice.
  // The head, which slices have in common, is stored with the first one. If the finalize is the next instruction, nothing is stored,
  // and the first slice of all, for which the finalize may have more to do, is left to the end.
  // CHECK: llvm.func internal @dfk_stage_1_1(
  // CHECK: scf.index_switch
  // CHECK: case 0 {
  // CHECK: llvm.call @two$identity(
  // CHECK: default {
  // CHECK-NOT: dfk_sync
  // CHECK: llvm.call @dfk_warp()
  // CHECK-NOT: scf.while
  // CHECK-COUNT-12: llvm.call @two$1$compute$load(
  // CHECK-NOT: llvm.call @two$1$compute$load(
  // CHECK: llvm.call @dfk_output_address(
  // CHECK: %[[FOLLOWED:.*]] = llvm.call @dfk_is_followed(
  // CHECK: scf.while
  // CHECK-COUNT-4: llvm.call @two$1$compute$merge(
  // CHECK-NOT: llvm.call @two$1$compute$merge(
  // CHECK: scf.while
  // CHECK: scf.if %[[FOLLOWED]] {
  // CHECK: %[[IS_OTHER:.*]] = arith.cmpi ne
  // CHECK-NEXT: scf.if %[[IS_OTHER]] {
  // CHECK: llvm.call @put$1$compute$follow(
  // CHECK: else
  // CHECK: llvm.call @two$1$compute$store(
  // CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq
  // CHECK-NEXT: scf.if %[[IS_FIRST]] {
  // CHECK-NEXT: llvm.call @two$1$compute$head(
  // CHECK: llvm.call @dfk_near_place(
  // CHECK: llvm.call @two$1$compute$load(
  // CHECK: llvm.call @two$1$compute$merge(
  // CHECK-NOT: @put$1$compute(
  // CHECK: llvm.call @put$1$compute$follow(
  // CHECK-NOT: dfk_sync()

  // A warp loads four slices at once, up to eight ahead. Meanwhile the handler itself is called for the first slice, which may have
  // more to do than the others.
  // CHECK: llvm.func internal @dfk_stage_2_1(
  // CHECK-NOT: dfk_sync
  // CHECK: llvm.call @dfk_warp()
  // CHECK-NOT: @put$1$compute(
  // CHECK-COUNT-8: llvm.call @put$1$compute$slice(
  // CHECK: llvm.call @put$1$compute(
  // CHECK-NOT: @put$1$compute(
  // CHECK: scf.while
  // CHECK-COUNT-4: llvm.call @put$1$compute$apply(
  // CHECK-COUNT-4: llvm.call @put$1$compute$slice(
  // CHECK-NOT: dfk_sync
  // CHECK: llvm.return

  // The code for slices serves instructions that cover all of them, too.
  // ONE-NOT: @dfk_stage_1_0
  // ONE-NOT: @dfk_stage_2_0
  // ONE: llvm.func internal @dfk_dispatch(
  // ONE: llvm.call @dfk_stage_1_1(
  // ONE: llvm.call @dfk_stage_2_1(
  dataflow.kernel @kernel consumers 1 {
    dataflow.part @two_sliced_compute of @two_sliced compute(%slice: index, %as: tensor<8xf32>, %a: tensor<8x4xf32>, %bs: tensor<8xf32>, %b: tensor<8x4xf32>)
        -> (tensor<8xf32>, tensor<8x4xf32>) attributes {fragments, warp} {
      %0 = dataflow.convert_layout %as : tensor<8xf32> to tensor<8xf32, #scale>
      %1 = dataflow.convert_layout %bs : tensor<8xf32> to tensor<8xf32, #scale>
      %2 = arith.maximumf %0, %1 : tensor<8xf32, #scale>
      %3 = dataflow.convert_layout %a : tensor<8x4xf32> to tensor<8x4xf32, #rows>
      %4 = dataflow.convert_layout %b : tensor<8x4xf32> to tensor<8x4xf32, #rows>
      %5 = tensor.empty() : tensor<8x4xf32, #rows>
      %6 = linalg.generic {indexing_maps = [#map, #map1, #map1, #map1], iterator_types = ["parallel", "parallel"]}
          ins(%2, %3, %4 : tensor<8xf32, #scale>, tensor<8x4xf32, #rows>, tensor<8x4xf32, #rows>) outs(%5 : tensor<8x4xf32, #rows>) {
      ^bb0(%s: f32, %p: f32, %q: f32, %o: f32):
        %d = arith.subf %p, %q : f32
        %m = arith.mulf %d, %s : f32
        linalg.yield %m : f32
      } -> tensor<8x4xf32, #rows>
      dataflow.yield %2, %6 : tensor<8xf32, #scale>, tensor<8x4xf32, #rows>
    }
    dataflow.part @put_sliced_compute of @put_sliced compute(%job: index, %slice: index, %scale: tensor<8xf32>, %rows: tensor<8x4xf32>, %y: tensor<?x8x64xf32>)
        -> tensor<?x8x64xf32> attributes {fragments, warp} {
      %c4 = arith.constant 4 : index
      %at = arith.muli %slice, %c4 : index
      %0 = dataflow.convert_layout %rows : tensor<8x4xf32> to tensor<8x4xf32, #rows>
      %1 = dataflow.convert_layout %0 : tensor<8x4xf32, #rows> to tensor<8x4xf32>
      %r = tensor.insert_slice %1 into %y[%job, 0, %at] [1, 8, 4] [1, 1, 1] : tensor<8x4xf32> into tensor<?x8x64xf32>
      dataflow.yield %r : tensor<?x8x64xf32>
    }
  }
}
