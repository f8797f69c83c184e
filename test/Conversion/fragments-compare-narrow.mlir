// RUN: df-opt %s --dataflow-parts-to-llvm | FileCheck %s
// What needs all bits of a narrow type is a negative number when it leaves that: it is compared as it is.
#tile = #dataflow.fragment<[8, 64] block [8, 64] registers [1:1, 1:2] lanes [1:4, 1:8, 1:16, 1:32, 0:1] warps [0:2, 0:4]>
#whole = affine_map<(i, j) -> (i, j)>
dataflow.program @p(%x: tensor<?x8x64xf32>, %counts: tensor<?xi64>, %y: tensor<?x8x64xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8x64xf32>
  dataflow.tasks @rows(row = %n)
  dataflow.finalize @mask tasks @rows operands(%x, %counts : tensor<?x8x64xf32>, tensor<?xi64>) outs(%y : tensor<?x8x64xf32>) : () -> ()
  dataflow.handler @mask(%row: index, %x: tensor<?x8x64xf32>, %counts: tensor<?xi64>, %y: tensor<?x8x64xf32>) -> tensor<?x8x64xf32> {
    dataflow.yield %y : tensor<?x8x64xf32>
  }
  dataflow.kernel @kernel {
    dataflow.part @mask_compute of @mask compute(%row: index, %x: tensor<?x8x64xf32>, %counts: tensor<?xi64>, %y: tensor<?x8x64xf32>) -> tensor<?x8x64xf32> attributes {fragments} {
      %zero = arith.constant 0.0 : f32
      %c100 = arith.constant 100 : i8
      %n = tensor.extract %counts[%row] : tensor<?xi64>
      %count = arith.index_cast %n : i64 to index
      %slice = tensor.extract_slice %x[%row, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<?x8x64xf32> to tensor<8x64xf32>
      %a = dataflow.convert_layout %slice : tensor<8x64xf32> to tensor<8x64xf32, #tile>
      %empty = tensor.empty() : tensor<8x64xf32, #tile>
      %m = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]}
          ins(%a : tensor<8x64xf32, #tile>) outs(%empty : tensor<8x64xf32, #tile>) {
      ^bb0(%v: f32, %o: f32):
        %j = linalg.index 1 : index
        %narrow = arith.index_cast %j : index to i8
        %more = arith.addi %narrow, %c100 : i8
        %wrapped = arith.index_cast %more : i8 to index
        %live = arith.cmpi slt, %wrapped, %count : index
        %masked = arith.select %live, %v, %zero : f32
        linalg.yield %masked : f32
      } -> tensor<8x64xf32, #tile>
      %out = tensor.insert_slice %m into %y[%row, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<8x64xf32, #tile> into tensor<?x8x64xf32>
      dataflow.yield %out : tensor<?x8x64xf32>
    }
  }
}
// CHECK: llvm.func internal @mask$0$compute$body
// CHECK: llvm.sext %{{.*}} : i8 to i64
// CHECK: llvm.icmp "slt" %{{.*}}, %{{.*}} : i64
// CHECK: llvm.return
