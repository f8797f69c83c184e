// RUN: df-opt %s --dataflow-prepare | df-translate --dataflow-to-artifact -o %t.dfa
// RUN: df-translate --artifact-info %t.dfa | tr -d ' \n' | FileCheck %s
// RUN: df-opt %source/examples/mla-decode/mla_decode.mlir --dataflow-prepare="params=heads=16" | df-translate --dataflow-to-artifact -o %t.16.dfa
// RUN: not df-run %t.16.dfa --input %source/examples/mla-decode/workload.json --check 2>&1 | FileCheck %s --check-prefix=HEADS
// A dimension that all handlers slice whole has the extent that they slice; others stay open.

// HEADS: arguments.q.shape[1]: is 32, the program's argument has 16

// Sliced whole by both handlers, at a moving offset, and asked for its extent.
// CHECK: "name":"agreed","element":"f32","shape":[-1,8,-1]
// Sliced whole by one handler and in part by the other.
// CHECK: "name":"disputed","element":"f32","shape":[-1,-1]
// Read by elements.
// CHECK: "name":"elements","element":"f32","shape":[-1,-1]
// CHECK: "name":"lengths","element":"i32","shape":[-1]
// Written through a loop, whole in dimension 1.
// CHECK: "name":"out","element":"f32","shape":[-1,4]

dataflow.program @extents(%agreed: tensor<?x?x?xf32>, %disputed: tensor<?x?xf32>, %elements: tensor<?x?xf32>,
                          %lengths: tensor<?xi32>, %out: tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @rows(row = %n)
  %a = dataflow.map @first tasks @rows operands(%agreed, %disputed : tensor<?x?x?xf32>, tensor<?x?xf32>)
      : () -> !dataflow.channel<!dataflow.record<v: tensor<4xf32>>>
  %b = dataflow.map @second tasks @rows operands(%agreed, %disputed, %elements : tensor<?x?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>)
      : () -> !dataflow.channel<!dataflow.record<v: tensor<4xf32>>>
  dataflow.finalize @store(%a, %b) tasks @rows outs(%out : tensor<?x?xf32>)
      : (!dataflow.channel<!dataflow.record<v: tensor<4xf32>>>, !dataflow.channel<!dataflow.record<v: tensor<4xf32>>>) -> ()

  dataflow.handler @first(%row: index, %agreed: tensor<?x?x?xf32>, %disputed: tensor<?x?xf32>) -> tensor<4xf32> {
    %slab = tensor.extract_slice %agreed[%row, 0, 0] [1, 8, 4] [1, 1, 1] : tensor<?x?x?xf32> to tensor<8x4xf32>
    %top = tensor.extract_slice %slab[0, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
    %part = tensor.extract_slice %disputed[%row, 0] [1, 4] [1, 1] : tensor<?x?xf32> to tensor<4xf32>
    %sum = arith.addf %top, %part : tensor<4xf32>
    dataflow.yield %sum : tensor<4xf32>
  }
  dataflow.handler @second(%row: index, %agreed: tensor<?x?x?xf32>, %disputed: tensor<?x?xf32>, %elements: tensor<?x?xf32>) -> tensor<4xf32> {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %depth = tensor.dim %agreed, %c2 : tensor<?x?x?xf32>
    %last = arith.subi %depth, %c2 : index
    %slab = tensor.extract_slice %agreed[%row, 0, %last] [1, 8, 2] [1, 1, 1] : tensor<?x?x?xf32> to tensor<8x2xf32>
    %corner = tensor.extract %slab[%c0, %c0] : tensor<8x2xf32>
    %element = tensor.extract %elements[%row, %c0] : tensor<?x?xf32>
    %pair = tensor.extract_slice %disputed[%row, 0] [1, 2] [1, 1] : tensor<?x?xf32> to tensor<2xf32>
    %value = tensor.extract %pair[%c0] : tensor<2xf32>
    %s = arith.addf %corner, %element : f32
    %t = arith.addf %s, %value : f32
    %all = tensor.splat %t : tensor<4xf32>
    dataflow.yield %all : tensor<4xf32>
  }
  dataflow.handler @store(%row: index, %a: tensor<4xf32>, %b: tensor<4xf32>, %out: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %sum = arith.addf %a, %b : tensor<4xf32>
    %written = scf.for %i = %c0 to %c1 step %c1 iter_args(%o = %out) -> tensor<?x?xf32> {
      %at = arith.addi %row, %i : index
      %next = tensor.insert_slice %sum into %o[%at, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<?x?xf32>
      scf.yield %next : tensor<?x?xf32>
    }
    dataflow.yield %written : tensor<?x?xf32>
  }
}
