// RUN: df-opt %s --dataflow-split-roles --dataflow-assign-layouts --dataflow-verify-kernel | FileCheck %s
// A short loop that loads what other loads have found is lowered as straight code, so that all its loads are on their way together,
// where the tiles of all its iterations have registers; else the loop loads one iteration ahead.

// CHECK-LABEL: dataflow.part @pick_compute
// CHECK:   scf.for {{.*}} iter_args(%{{[a-z0-9]*}} = %{{[a-z0-9_]*}})
// CHECK: dataflow.unroll = 2
// CHECK-LABEL: dataflow.part @pick_many_compute
// CHECK:   scf.for {{.*}} iter_args(%{{[a-z0-9]*}} = %{{[a-z0-9_]*}}, %{{[a-z0-9]*}} = %{{[a-z0-9_]*}})
// CHECK-NOT: dataflow.unroll
dataflow.program @rows(%x: tensor<?x64xbf16>, %place: tensor<?x32x8xi32>, %places: tensor<?x128x8xi32>,
                       %y: tensor<?x32x64xf32>, %z: tensor<?x128x64xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %place, %c0 : tensor<?x32x8xi32>
  dataflow.tasks @blocks(block = %n)
  dataflow.finalize @pick tasks @blocks operands(%x, %place : tensor<?x64xbf16>, tensor<?x32x8xi32>) outs(%y : tensor<?x32x64xf32>) : () -> ()
  dataflow.finalize @pick_many tasks @blocks operands(%x, %places : tensor<?x64xbf16>, tensor<?x128x8xi32>) outs(%z : tensor<?x128x64xf32>) : () -> ()
  dataflow.handler @pick(%block: index, %x: tensor<?x64xbf16>, %place: tensor<?x32x8xi32>, %y: tensor<?x32x64xf32>) -> tensor<?x32x64xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %count = arith.constant 2 : index
    %zeros = arith.constant dense<0.0> : tensor<32x64xf32>
    %empty = tensor.empty() : tensor<32x64xbf16>
    %sum = scf.for %k = %c0 to %count step %c1 iter_args(%acc = %zeros) -> tensor<32x64xf32> {
      %places = tensor.extract_slice %place[%block, 0, %k] [1, 32, 1] [1, 1, 1] : tensor<?x32x8xi32> to tensor<32xi32>
      %summands = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>],
                                  iterator_types = ["parallel", "parallel"]}
          ins(%places : tensor<32xi32>) outs(%empty : tensor<32x64xbf16>) {
      ^bb0(%p: i32, %o: bf16):
        %row = arith.index_cast %p : i32 to index
        %c = linalg.index 1 : index
        %v = tensor.extract %x[%row, %c] : tensor<?x64xbf16>
        linalg.yield %v : bf16
      } -> tensor<32x64xbf16>
      %wide = arith.extf %summands : tensor<32x64xbf16> to tensor<32x64xf32>
      %new = arith.addf %acc, %wide : tensor<32x64xf32>
      scf.yield %new : tensor<32x64xf32>
    }
    %r = tensor.insert_slice %sum into %y[%block, 0, 0] [1, 32, 64] [1, 1, 1] : tensor<32x64xf32> into tensor<?x32x64xf32>
    dataflow.yield %r : tensor<?x32x64xf32>
  }
  dataflow.handler @pick_many(%block: index, %x: tensor<?x64xbf16>, %places: tensor<?x128x8xi32>, %y: tensor<?x128x64xf32>) -> tensor<?x128x64xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %count = arith.constant 8 : index
    %zeros = arith.constant dense<0.0> : tensor<128x64xf32>
    %empty = tensor.empty() : tensor<128x64xbf16>
    %sum = scf.for %k = %c0 to %count step %c1 iter_args(%acc = %zeros) -> tensor<128x64xf32> {
      %rows = tensor.extract_slice %places[%block, 0, %k] [1, 128, 1] [1, 1, 1] : tensor<?x128x8xi32> to tensor<128xi32>
      %summands = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>],
                                  iterator_types = ["parallel", "parallel"]}
          ins(%rows : tensor<128xi32>) outs(%empty : tensor<128x64xbf16>) {
      ^bb0(%p: i32, %o: bf16):
        %row = arith.index_cast %p : i32 to index
        %c = linalg.index 1 : index
        %v = tensor.extract %x[%row, %c] : tensor<?x64xbf16>
        linalg.yield %v : bf16
      } -> tensor<128x64xbf16>
      %wide = arith.extf %summands : tensor<128x64xbf16> to tensor<128x64xf32>
      %new = arith.addf %acc, %wide : tensor<128x64xf32>
      scf.yield %new : tensor<128x64xf32>
    }
    %r = tensor.insert_slice %sum into %y[%block, 0, 0] [1, 128, 64] [1, 1, 1] : tensor<128x64xf32> into tensor<?x128x64xf32>
    dataflow.yield %r : tensor<?x128x64xf32>
  }
}
