// RUN: df-opt %s --dataflow-split-roles --dataflow-assign-layouts --dataflow-verify-kernel | FileCheck %s
// The loop itself carries what it loads: its last use is the end of the body, and the loads of the next iteration stand in front of that.

// CHECK-LABEL: dataflow.part @pick_compute
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[BEFORE:.*]] = %{{.*}}, %[[NOW:.*]] = %{{.*}})
// CHECK:   arith.extf %[[BEFORE]]
// CHECK:   %[[NEXT:.*]] = arith.addi %[[K]]
// CHECK:   %[[PLACE:.*]] = arith.minui %[[NEXT]]
// CHECK:   %[[LOADED:.*]] = linalg.generic
// CHECK:   scf.yield %{{.*}}, %[[NOW]], %[[LOADED]]
dataflow.program @rows(%x: tensor<?x64xbf16>, %place: tensor<?x32x16xi32>, %y: tensor<?x32x64xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %place, %c0 : tensor<?x32x16xi32>
  dataflow.tasks @blocks(block = %n)
  dataflow.finalize @pick tasks @blocks operands(%x, %place : tensor<?x64xbf16>, tensor<?x32x16xi32>) outs(%y : tensor<?x32x64xf32>) : () -> ()
  dataflow.handler @pick(%block: index, %x: tensor<?x64xbf16>, %place: tensor<?x32x16xi32>, %y: tensor<?x32x64xf32>) -> tensor<?x32x64xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %count = arith.constant 16 : index
    %zeros = arith.constant dense<0.0> : tensor<32x64xf32>
    %zero16 = arith.constant dense<0.0> : tensor<32x64xbf16>
    %empty = tensor.empty() : tensor<32x64xbf16>
    %sum:2 = scf.for %k = %c0 to %count step %c1 iter_args(%acc = %zeros, %before = %zero16) -> (tensor<32x64xf32>, tensor<32x64xbf16>) {
      %places = tensor.extract_slice %place[%block, 0, %k] [1, 32, 1] [1, 1, 1] : tensor<?x32x16xi32> to tensor<32xi32>
      %summands = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>],
                                  iterator_types = ["parallel", "parallel"]}
          ins(%places : tensor<32xi32>) outs(%empty : tensor<32x64xbf16>) {
      ^bb0(%p: i32, %o: bf16):
        %row = arith.index_cast %p : i32 to index
        %c = linalg.index 1 : index
        %v = tensor.extract %x[%row, %c] : tensor<?x64xbf16>
        linalg.yield %v : bf16
      } -> tensor<32x64xbf16>
      %wide = arith.extf %before : tensor<32x64xbf16> to tensor<32x64xf32>
      %new = arith.addf %acc, %wide : tensor<32x64xf32>
      scf.yield %new, %summands : tensor<32x64xf32>, tensor<32x64xbf16>
    }
    %r = tensor.insert_slice %sum#0 into %y[%block, 0, 0] [1, 32, 64] [1, 1, 1] : tensor<32x64xf32> into tensor<?x32x64xf32>
    dataflow.yield %r : tensor<?x32x64xf32>
  }
}
