// RUN: df-opt %s --split-input-file --dataflow-prepare --dataflow-split-roles --dataflow-assign-layouts --convert-dataflow-to-nvvm="specializations=static" --verify-diagnostics
// A precision request on a reduce that names a type is obeyed or refused, with the reason.

// A maximum of all, which nothing can be cut from.

!whole = !dataflow.record<rows: tensor<64xf32>>
dataflow.program @cannot_be_cut(%x: tensor<?x64xf32>, %lengths: tensor<?xi32>, %y: tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @jobs(job = %n)
  dataflow.range @tiles of @jobs length %lengths[job] tile 1 : tensor<?xi32>
  %parts = dataflow.map @take tasks @jobs over @tiles operands(%x : tensor<?x64xf32>) : () -> !dataflow.channel<!whole, pieces>
  // expected-error@+1 {{request 'precision' on stage "two": parts cannot be stored in f16, because no field of its record is f32 and separable}}
  %all = dataflow.reduce @two(%parts) requests [#dataflow.precision<accumulator = f32, merge = f16>]
      : (!dataflow.channel<!whole, pieces>) -> !dataflow.channel<!whole> identity {
    %zero = arith.constant 0.0 : f32
    %rows = tensor.splat %zero : tensor<64xf32>
    dataflow.yield %rows : tensor<64xf32>
  }
  dataflow.finalize @put(%all) tasks @jobs outs(%y : tensor<?x64xf32>) : (!dataflow.channel<!whole>) -> ()
  dataflow.handler @take(%job: index, %begin: index, %end: index, %x: tensor<?x64xf32>) -> tensor<64xf32> {
    %rows = tensor.extract_slice %x[%begin, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
    dataflow.yield %rows : tensor<64xf32>
  }
  dataflow.handler @two(%a: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<64xf32> {
    %zero = arith.constant dense<0.0> : tensor<f32>
    %sum = linalg.reduce { arith.addf } ins(%a : tensor<64xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    %scalar = tensor.extract %sum[] : tensor<f32>
    %spread = tensor.splat %scalar : tensor<64xf32>
    %c = arith.addf %spread, %b : tensor<64xf32>
    dataflow.yield %c : tensor<64xf32>
  }
  dataflow.handler @put(%job: index, %rows: tensor<64xf32>, %y: tensor<?x64xf32>) -> tensor<?x64xf32> {
    %r = tensor.insert_slice %rows into %y[%job, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<?x64xf32>
    dataflow.yield %r : tensor<?x64xf32>
  }
}

// -----

!part = !dataflow.record<rows: tensor<8x64xf32>>
dataflow.program @other_accumulator(%x: tensor<?x8x64xf32>, %lengths: tensor<?xi32>, %y: tensor<?x8x64xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @jobs(job = %n)
  dataflow.range @tiles of @jobs length %lengths[job] tile 1 : tensor<?xi32>
  %parts = dataflow.map @take tasks @jobs over @tiles operands(%x : tensor<?x8x64xf32>) : () -> !dataflow.channel<!part, pieces>
  // expected-error@+1 {{request 'precision' on stage "two" asks for accumulators of 'f16', but field 'rows' has f32}}
  %all = dataflow.reduce @two(%parts) requests [#dataflow.precision<accumulator = f16, merge = f16>]
      : (!dataflow.channel<!part, pieces>) -> !dataflow.channel<!part> identity {
    %zero = arith.constant 0.0 : f32
    %rows = tensor.splat %zero : tensor<8x64xf32>
    dataflow.yield %rows : tensor<8x64xf32>
  }
  dataflow.finalize @put(%all) tasks @jobs outs(%y : tensor<?x8x64xf32>) : (!dataflow.channel<!part>) -> ()
  dataflow.handler @take(%job: index, %begin: index, %end: index, %x: tensor<?x8x64xf32>) -> tensor<8x64xf32> {
    %rows = tensor.extract_slice %x[%begin, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<?x8x64xf32> to tensor<8x64xf32>
    dataflow.yield %rows : tensor<8x64xf32>
  }
  dataflow.handler @two(%a: tensor<8x64xf32>, %b: tensor<8x64xf32>) -> tensor<8x64xf32> {
    %c = arith.addf %a, %b : tensor<8x64xf32>
    dataflow.yield %c : tensor<8x64xf32>
  }
  dataflow.handler @put(%job: index, %rows: tensor<8x64xf32>, %y: tensor<?x8x64xf32>) -> tensor<?x8x64xf32> {
    %r = tensor.insert_slice %rows into %y[%job, 0, 0] [1, 8, 64] [1, 1, 1] : tensor<8x64xf32> into tensor<?x8x64xf32>
    dataflow.yield %r : tensor<?x8x64xf32>
  }
}
