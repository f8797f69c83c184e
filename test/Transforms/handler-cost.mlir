// RUN: df-opt %s --dataflow-schedule-program --remark-format=emitRemark --remarks-filter=dataflow -o /dev/null 2>&1 | FileCheck %s
// RUN: df-opt %source/examples/mla-decode/mla_decode.mlir --dataflow-plan="values=lengths=130,64 ctas=4" \
// RUN:   --remark-format=emitRemark --remarks-filter=dataflow -o /dev/null 2>&1 | FileCheck %s --check-prefix=DECODE
// Bytes and operations are read off the bodies: per call, and per tile inside loops over the piece.

// A page of 64 x 576 two-byte elements a tile; the slice of it and the page number cost nothing. 32 x 576 elements of the
// query a call.
// DECODE: remark: [Analysis] cost {{.*}} Function=attend | FixedBytes=36864, {{.*}}TileBytes=73728
// DECODE: remark: [Analysis] cost {{.*}} Function=normalize | FixedBytes=32896

// A contraction of 8 x 16 x 32 in a loop of 3: 3 * 2 * 8 * 16 * 32. Loads: 8 x 32 once, 3 times 16 x 32 floats.
// CHECK: [Analysis] cost {{.*}} Function=contract | FixedBytes=7168, FixedFlops=24576, TileBytes=0, TileFlops=0

// Two slices at the same place count once, and the larger one: 64 floats a tile of 64.
// CHECK: [Analysis] cost {{.*}} Function=alias | FixedBytes=0, {{.*}}TileBytes=256

// The whole piece in one slice is 64 floats a tile, although no loop shows it.
// CHECK: [Analysis] cost {{.*}} Function=piece | FixedBytes=0, {{.*}}TileBytes=256

// Four elements a step in a loop of steps of 16: 16 elements a tile.
// CHECK: [Analysis] cost {{.*}} Function=steps | FixedBytes=0, {{.*}}TileBytes=64

// What the handler states wins; what it does not state is read off.
// CHECK: [Analysis] cost {{.*}} Function=stated | FixedBytes=77, {{.*}}TileBytes=256

// Stores: a row of 64 floats.
// CHECK: [Analysis] cost {{.*}} Function=store | FixedBytes=256

!value = !dataflow.record<v: f32>
!part = !dataflow.channel<!value, pieces>
!one = !dataflow.channel<!value>

dataflow.program @costs(%x: tensor<?x?xf32>, %w: tensor<?x8x32xf32>, %lengths: tensor<?xi32>, %y: tensor<?x64xf32>)
    attributes {dataflow.inputs = {lengths = dense<[100]> : tensor<1xi64>},
                dataflow.topology = #dataflow.topology<ctas = 2>} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @rows(row = %n)
  dataflow.range @columns of @rows length %lengths[row] tile 64 : tensor<?xi32>
  %a = dataflow.map @contract tasks @rows operands(%w, %x : tensor<?x8x32xf32>, tensor<?x?xf32>) : () -> !one
  %b = dataflow.map @alias tasks @rows over @columns operands(%x : tensor<?x?xf32>) : () -> !part
  %c = dataflow.map @piece tasks @rows over @columns operands(%x : tensor<?x?xf32>) : () -> !part
  %d = dataflow.map @steps tasks @rows over @columns operands(%x : tensor<?x?xf32>) : () -> !part
  %e = dataflow.map @stated tasks @rows over @columns operands(%x : tensor<?x?xf32>) : () -> !part
  %rb = dataflow.reduce @add as "rb" (%b) : (!part) -> !one identity {
    %zero = arith.constant 0.0 : f32
    dataflow.yield %zero : f32
  }
  %rc = dataflow.reduce @add as "rc" (%c) : (!part) -> !one identity {
    %zero = arith.constant 0.0 : f32
    dataflow.yield %zero : f32
  }
  %rd = dataflow.reduce @add as "rd" (%d) : (!part) -> !one identity {
    %zero = arith.constant 0.0 : f32
    dataflow.yield %zero : f32
  }
  %re = dataflow.reduce @add as "re" (%e) : (!part) -> !one identity {
    %zero = arith.constant 0.0 : f32
    dataflow.yield %zero : f32
  }
  dataflow.finalize @store(%a, %rb, %rc, %rd, %re) tasks @rows outs(%y : tensor<?x64xf32>)
      : (!one, !one, !one, !one, !one) -> ()

  dataflow.handler @contract(%row: index, %w: tensor<?x8x32xf32>, %x: tensor<?x?xf32>) -> f32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %zero = arith.constant dense<0.0> : tensor<8x16xf32>
    %weights = tensor.extract_slice %w[%row, 0, 0] [1, 8, 32] [1, 1, 1] : tensor<?x8x32xf32> to tensor<8x32xf32>
    %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %zero) -> tensor<8x16xf32> {
      %m = tensor.extract_slice %x[%i, 0] [16, 32] [1, 1] : tensor<?x?xf32> to tensor<16x32xf32>
      %next = linalg.contract
          indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
          ins(%weights, %m : tensor<8x32xf32>, tensor<16x32xf32>) outs(%acc : tensor<8x16xf32>) -> tensor<8x16xf32>
      scf.yield %next : tensor<8x16xf32>
    }
    %v = tensor.extract %r[%c0, %c0] : tensor<8x16xf32>
    dataflow.yield %v : f32
  }
  dataflow.handler @alias(%row: index, %begin: index, %end: index, %x: tensor<?x?xf32>) -> f32 {
    %c0 = arith.constant 0 : index
    %step = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %r = scf.for %i = %begin to %end step %step iter_args(%s = %zero) -> f32 {
      %half = tensor.extract_slice %x[%row, %i] [1, 32] [1, 1] : tensor<?x?xf32> to tensor<32xf32>
      %tile = tensor.extract_slice %x[%row, %i] [1, 64] [1, 1] : tensor<?x?xf32> to tensor<64xf32>
      %part = tensor.extract_slice %tile[0] [16] [1] : tensor<64xf32> to tensor<16xf32>
      %v = tensor.extract %half[%c0] : tensor<32xf32>
      %u = tensor.extract %part[%c0] : tensor<16xf32>
      %t = arith.addf %v, %u : f32
      %q = arith.addf %s, %t : f32
      scf.yield %q : f32
    }
    dataflow.yield %r : f32
  }
  dataflow.handler @piece(%row: index, %begin: index, %end: index, %x: tensor<?x?xf32>) -> f32 {
    %length = arith.subi %end, %begin : index
    %zero = arith.constant dense<0.0> : tensor<f32>
    %all = tensor.extract_slice %x[%row, %begin] [1, %length] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
    %s = linalg.reduce { arith.addf } ins(%all : tensor<?xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    %v = tensor.extract %s[] : tensor<f32>
    dataflow.yield %v : f32
  }
  dataflow.handler @steps(%row: index, %begin: index, %end: index, %x: tensor<?x?xf32>) -> f32 {
    %c0 = arith.constant 0 : index
    %step = arith.constant 16 : index
    %zero = arith.constant 0.0 : f32
    %r = scf.for %i = %begin to %end step %step iter_args(%s = %zero) -> f32 {
      %tile = tensor.extract_slice %x[%row, %i] [1, 4] [1, 1] : tensor<?x?xf32> to tensor<4xf32>
      %v = tensor.extract %tile[%c0] : tensor<4xf32>
      %q = arith.addf %s, %v : f32
      scf.yield %q : f32
    }
    dataflow.yield %r : f32
  }
  dataflow.handler @stated(%row: index, %begin: index, %end: index, %x: tensor<?x?xf32>) -> f32
      attributes {cost = {fixed_bytes = 77}} {
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %r = scf.for %i = %begin to %end step %c1 iter_args(%s = %zero) -> f32 {
      %v = tensor.extract %x[%row, %i] : tensor<?x?xf32>
      %q = arith.addf %s, %v : f32
      scf.yield %q : f32
    }
    dataflow.yield %r : f32
  }
  dataflow.handler @add(%a: f32, %b: f32) -> f32 {
    %c = arith.addf %a, %b : f32
    dataflow.yield %c : f32
  }
  dataflow.handler @store(%row: index, %a: f32, %b: f32, %c: f32, %d: f32, %e: f32, %y: tensor<?x64xf32>) -> tensor<?x64xf32> {
    %v = tensor.splat %a : tensor<64xf32>
    %r = tensor.insert_slice %v into %y[%row, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<?x64xf32>
    dataflow.yield %r : tensor<?x64xf32>
  }
}
