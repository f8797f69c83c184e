// RUN: df-opt %s --verify-roundtrip | df-opt | FileCheck %s
// RUN: df-opt %s -mlir-print-op-generic | df-opt | FileCheck %s

// Every request attribute is printed as it is written, without the keys that
// have their default value.

!one = !dataflow.channel<!dataflow.record<h: tensor<4x8xf32>>>
!tiles = !dataflow.channel<!dataflow.record<h: tensor<4x8xf32>>, tiles>
!collected = !dataflow.channel<!dataflow.record<h: tensor<4x8xf32>>, collected>

// CHECK-LABEL: dataflow.program @requests
dataflow.program @requests(%x: tensor<?x16xf16>, %n: tensor<?xi32>, %y: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %n, %c0 : tensor<?xi32>
  dataflow.tasks @rows(row = %rows)
  dataflow.range @columns of @rows length %n[row] tile 64 : tensor<?xi32>
  dataflow.range @rows_of of @rows length %n[row] tile 32 : tensor<?xi32>

  // CHECK: dataflow.map @make
  // CHECK-SAME: requests [#dataflow.coarsening<extent = 64, handler_extent = 256>,
  // CHECK-SAME: #dataflow.bounded<@rows_of, [8, 16]>,
  // CHECK-SAME: #dataflow.pipeline<stages = 4, consumers = 2>,
  // CHECK-SAME: #dataflow.physical_form<outputs = [shared], direct_output>,
  // CHECK-SAME: #dataflow.handoff<resident, depth = 2>,
  // CHECK-SAME: #dataflow.layout<operand = 0, rank = 2, family = swizzle_128>,
  // CHECK-SAME: #dataflow.layout<operand = 1, rank = 1, family = row_major>,
  // CHECK-SAME: #dataflow.precision<accumulator = f32>,
  // CHECK-SAME: #dataflow.memory<shared>]
  %made = dataflow.map @make tasks @rows each @columns operands(%x, %n : tensor<?x16xf16>, tensor<?xi32>)
      requests [#dataflow.coarsening<extent = 64, handler_extent = 256, outputs = 1>,
                #dataflow.bounded<@rows_of, [8, 16]>,
                #dataflow.pipeline<stages = 4, producers = 1, consumers = 2>,
                #dataflow.physical_form<direct_output, outputs = [shared]>,
                #dataflow.handoff<resident, depth = 2>,
                #dataflow.layout<operand = 0, rank = 2, family = swizzle_128>,
                #dataflow.layout<operand = 1, rank = 1, family = row_major>,
                #dataflow.precision<accumulator = f32>,
                #dataflow.memory<shared>]
      : () -> !tiles

  // CHECK: dataflow.map @change
  // CHECK-SAME: requests [#dataflow.physical_form<inputs = [shared], outputs = [shared], output_aliases_input = 0>,
  // CHECK-SAME: #dataflow.precision<accumulator = bf16, merge = bf16>,
  // CHECK-SAME: #dataflow.handoff<resident>,
  // CHECK-SAME: #dataflow.memory<automatic>]
  %changed = dataflow.map @change(%made) tasks @rows each @columns
      requests [#dataflow.physical_form<inputs = [shared], outputs = [shared], output_aliases_input = 0>,
                #dataflow.precision<accumulator = bf16, merge = bf16>,
                #dataflow.handoff<resident, depth = 1>,
                #dataflow.memory<automatic>]
      : (!tiles) -> !tiles

  // CHECK: dataflow.reshard "gather" collect
  // CHECK-SAME: requests [#dataflow.reshard_transport<via = #dataflow.global, logical = 16, physical = 4, fields = [h = 1], order = as_arrived>]
  %all = dataflow.reshard "gather" collect(%changed)
      requests [#dataflow.reshard_transport<via = #dataflow.global, logical = 16, physical = 4, fields = [h = 1], order = as_arrived>]
      : (!tiles) -> !collected

  // CHECK: dataflow.reshard "again" move
  // CHECK-SAME: requests [#dataflow.reshard_transport<order = ascending>]
  %again = dataflow.reshard "again" move(%all)
      requests [#dataflow.reshard_transport<order = ascending>] : (!collected) -> !collected

  dataflow.finalize @store(%again) tasks @rows outs(%y : tensor<?xf32>) : (!collected) -> ()

  dataflow.handler @make(%row: index, %begin: index, %end: index, %x: tensor<?x16xf16>, %n: tensor<?xi32>) -> tensor<4x8xf32> {
    %e = tensor.empty() : tensor<4x8xf32>
    dataflow.yield %e : tensor<4x8xf32>
  }
  dataflow.handler @change(%row: index, %begin: index, %end: index, %h: tensor<4x8xf32>) -> tensor<4x8xf32> {
    dataflow.yield %h : tensor<4x8xf32>
  }
  dataflow.handler @store(%row: index, %h: tensor<?x4x8xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}
