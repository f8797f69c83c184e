// RUN: df-opt %s --dataflow-handlers-to-llvm=target=cpu | FileCheck %s

// What a branch hands out lives on behind it, so its place is not given to what
// is computed next: four tensors of 64 x 4 bytes, not three.

// CHECK: dataflow.scratch_bytes = {row$0 = 1024 : i64}
dataflow.program @p(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  dataflow.tasks @rows(row = %n)
  dataflow.finalize @row() tasks @rows operands(%x : tensor<?x64xf32>) outs(%y : tensor<?x64xf32>) : () -> ()
  dataflow.handler @row(%i: index, %x: tensor<?x64xf32>, %y: tensor<?x64xf32>) -> tensor<?x64xf32> {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %row = tensor.extract_slice %x[%i, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
    %first = tensor.extract %row[%c0] : tensor<64xf32>
    %positive = arith.cmpf ogt, %first, %zero : f32
    %a = scf.if %positive -> tensor<64xf32> {
      %square = arith.mulf %row, %row : tensor<64xf32>
      scf.yield %square : tensor<64xf32>
    } else {
      scf.yield %row : tensor<64xf32>
    }
    %b = math.exp2 %row : tensor<64xf32>
    %c = math.absf %b : tensor<64xf32>
    %sum = arith.addf %a, %c : tensor<64xf32>
    %diff = arith.subf %sum, %b : tensor<64xf32>
    %all = arith.mulf %diff, %a : tensor<64xf32>
    %new = tensor.insert_slice %all into %y[%i, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<?x64xf32>
    dataflow.yield %new : tensor<?x64xf32>
  }
}
