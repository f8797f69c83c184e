// RUN: df-opt %s --split-input-file --dataflow-split-roles --dataflow-verify-kernel | FileCheck %s
// RUN: df-opt %s --split-input-file --dataflow-split-roles --canonicalize --cse --dataflow-verify-kernel -o /dev/null
// RUN: df-opt %s --split-input-file --dataflow-split-roles --remark-policy=all --remark-format=emitRemark --remarks-filter="dataflow" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// Loads that follow from the instruction and from elements of operands move to a load part; the rest stays.

// Tiles found through an index operand, of which another view is used; a tile held by the whole loop.
// CHECK-LABEL: dataflow.program @paged
dataflow.program @paged(%w: tensor<?x16x64xf16>, %pages: tensor<?x?x64xf16>, %table: tensor<?x?xi32>, %lengths: tensor<?xi32>, %y: tensor<?x16x16xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @rows(row = %n)
  dataflow.range @tokens of @rows length %lengths[row] tile 16 : tensor<?xi32>
  %parts = dataflow.map @piece tasks @rows over @tokens operands(%w, %pages, %table : tensor<?x16x64xf16>, tensor<?x?x64xf16>, tensor<?x?xi32>)
      : () -> !dataflow.channel<!dataflow.record<y: tensor<16x16xf32>>, pieces>
  %whole = dataflow.reduce @add(%parts)
      : (!dataflow.channel<!dataflow.record<y: tensor<16x16xf32>>, pieces>) -> !dataflow.channel<!dataflow.record<y: tensor<16x16xf32>>> identity {
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    dataflow.yield %zero : tensor<16x16xf32>
  }
  dataflow.finalize @store(%whole) tasks @rows outs(%y : tensor<?x16x16xf32>) : (!dataflow.channel<!dataflow.record<y: tensor<16x16xf32>>>) -> ()

  // The handler stays as it is.
  // CHECK: dataflow.handler @piece
  // CHECK: tensor.extract_slice
  dataflow.handler @piece(%row: index, %begin: index, %end: index, %w: tensor<?x16x64xf16>, %pages: tensor<?x?x64xf16>, %table: tensor<?x?xi32>) -> tensor<16x16xf32> {
    %c16 = arith.constant 16 : index
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %weights = tensor.extract_slice %w[%row, 0, 0] [1, 16, 64] [1, 1, 1] : tensor<?x16x64xf16> to tensor<16x64xf16>
    %r = scf.for %t = %begin to %end step %c16 iter_args(%acc = %zero) -> tensor<16x16xf32> {
      %column = arith.divui %t, %c16 : index
      %page = tensor.extract %table[%row, %column] : tensor<?x?xi32>
      %index = arith.index_cast %page : i32 to index
      %tile = tensor.extract_slice %pages[%index, 0, 0] [1, 16, 64] [1, 1, 1] : tensor<?x?x64xf16> to tensor<16x64xf16>
      %view = tensor.extract_slice %tile[0, 0] [16, 32] [1, 1] : tensor<16x64xf16> to tensor<16x32xf16>
      %half = tensor.extract_slice %weights[0, 0] [16, 32] [1, 1] : tensor<16x64xf16> to tensor<16x32xf16>
      %a = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
          ins(%weights, %tile : tensor<16x64xf16>, tensor<16x64xf16>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
      %b = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
          ins(%half, %view : tensor<16x32xf16>, tensor<16x32xf16>) outs(%a : tensor<16x16xf32>) -> tensor<16x16xf32>
      %c = arith.addf %a, %b : tensor<16x16xf32>
      scf.yield %c : tensor<16x16xf32>
    }
    dataflow.yield %r : tensor<16x16xf32>
  }
  dataflow.handler @add(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %c = arith.addf %a, %b : tensor<16x16xf32>
    dataflow.yield %c : tensor<16x16xf32>
  }
  dataflow.handler @store(%row: index, %v: tensor<16x16xf32>, %y: tensor<?x16x16xf32>) -> tensor<?x16x16xf32> {
    %r = tensor.insert_slice %v into %y[%row, 0, 0] [1, 16, 16] [1, 1, 1] : tensor<16x16xf32> into tensor<?x16x16xf32>
    dataflow.yield %r : tensor<?x16x16xf32>
  }
}
// CHECK: dataflow.kernel @kernel {
// CHECK-NEXT: dataflow.stream @w depth 2 of tensor<16x64xf16>{{$}}
// CHECK-NEXT: dataflow.stream @pages depth 8 of tensor<16x64xf16> evict_first
// CHECK-NEXT: dataflow.part @piece_load of @piece load(%[[ROW:.*]]: index, %[[B:.*]]: index, %[[E:.*]]: index, %[[W:.*]]: tensor<?x16x64xf16>, %[[PAGES:.*]]: tensor<?x?x64xf16>, %[[TABLE:.*]]: tensor<?x?xi32>) {
// CHECK-NEXT:   %[[C16:.*]] = arith.constant 16
// CHECK-NEXT:   dataflow.fill @w, %[[W]][%[[ROW]], 0, 0] [1, 16, 64] [1, 1, 1] : tensor<?x16x64xf16> to tensor<16x64xf16>
// CHECK-NEXT:   scf.for %[[T:.*]] = %[[B]] to %[[E]] step %[[C16]] {
// CHECK-NEXT:     %[[COLUMN:.*]] = arith.divui %[[T]], %[[C16]]
// CHECK-NEXT:     %[[PAGE:.*]] = tensor.extract %[[TABLE]][%[[ROW]], %[[COLUMN]]]
// CHECK-NEXT:     %[[INDEX:.*]] = arith.index_cast %[[PAGE]]
// CHECK-NEXT:     dataflow.fill @pages, %[[PAGES]][%[[INDEX]], 0, 0] [1, 16, 64] [1, 1, 1] : tensor<?x?x64xf16> to tensor<16x64xf16>
// CHECK-NEXT:   }
// CHECK-NEXT:   dataflow.yield
// CHECK-NEXT: }
// CHECK-NEXT: dataflow.part @piece_compute of @piece compute
// The addresses are gone.
// CHECK-NOT:    tensor.extract %
// CHECK:        %[[WEIGHTS:.*]] = dataflow.take @w
// CHECK-NEXT:   scf.for
// CHECK-NEXT:     %[[TILE:.*]] = dataflow.take @pages : tensor<16x64xf16>
// CHECK-NEXT:     %[[VIEW:.*]] = tensor.extract_slice %[[TILE]][0, 0] [16, 32]
// CHECK:          linalg.contract {{.*}} ins(%[[WEIGHTS]], %[[TILE]]
// CHECK-NEXT:     linalg.contract {{.*}} ins(%{{.*}}, %[[VIEW]]
// CHECK-NEXT:     dataflow.give @pages
// CHECK-NEXT:     arith.addf
// CHECK:        dataflow.give @w
// CHECK-NEXT:   dataflow.yield
// CHECK-NOT:  dataflow.part
// REMARK: [Passed] split-roles | Category:dataflow | Function=piece | Remark="loaded ahead through stream 'w': 2 stages of 2048 bytes"
// REMARK: [Passed] split-roles | Category:dataflow | Function=piece | Remark="loaded ahead through stream 'pages': 8 stages of 2048 bytes"
// REMARK: [Passed] split-roles | Category:dataflow | Function=paged | RingBytes=20480, Streams=2

// -----

// Tiles with fewer rows than a stage has: a stage is filled in part and the valid rows are taken from it; a pad, or a minimum,
// bounds their number. A stream has the loads that are not held together.
// CHECK-LABEL: dataflow.program @ragged
dataflow.program @ragged(%x: tensor<?x64xf32>, %y: tensor<16x64xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<16x64xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant 0.0 : f32
    %end = tensor.dim %x, %c0 : tensor<?x64xf32>
    %r = scf.for %t = %c0 to %end step %c16 iter_args(%acc = %y) -> tensor<16x64xf32> {
      %left = arith.subi %end, %t : index
      %rows = arith.minui %left, %c16 : index
      %missing = arith.subi %c16, %rows : index
      %part = tensor.extract_slice %x[%t, 0] [%rows, 64] [1, 1] : tensor<?x64xf32> to tensor<?x64xf32>
      %tile = tensor.pad %part low[0, 0] high[%missing, 0] {
      ^bb0(%i: index, %j: index):
        tensor.yield %zero : f32
      } : tensor<?x64xf32> to tensor<16x64xf32>
      %sum = linalg.add ins(%acc, %tile : tensor<16x64xf32>, tensor<16x64xf32>) outs(%acc : tensor<16x64xf32>) -> tensor<16x64xf32>
      %again = tensor.extract_slice %x[%t, 0] [%rows, 64] [1, 1] : tensor<?x64xf32> to tensor<?x64xf32>
      %first = tensor.extract %again[%c0, %c0] : tensor<?x64xf32>
      %next = tensor.insert %first into %sum[%c0, %c0] : tensor<16x64xf32>
      scf.yield %next : tensor<16x64xf32>
    }
    dataflow.yield %r : tensor<16x64xf32>
  }
}
// CHECK: dataflow.kernel @kernel {
// CHECK-NEXT: dataflow.stream @x depth 8 of tensor<16x64xf32> evict_first
// CHECK-NEXT: dataflow.part @h_load of @h load(%[[X:.*]]: tensor<?x64xf32>, %{{.*}}: tensor<16x64xf32>) {
// CHECK:        tensor.dim
// CHECK:        scf.for %[[T:.*]] = %{{.*}} {
// CHECK:          %[[ROWS:.*]] = arith.minui
// CHECK-NEXT:     dataflow.fill @x, %[[X]][%[[T]], 0] [%[[ROWS]], 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
// CHECK-NEXT:     dataflow.fill @x, %[[X]][%[[T]], 0] [%[[ROWS]], 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
// CHECK:      dataflow.part @h_compute of @h compute
// CHECK:          %[[ROWS:.*]] = arith.minui
// CHECK:          %[[TILE:.*]] = dataflow.take @x : tensor<16x64xf32>
// CHECK-NEXT:     %[[PART:.*]] = tensor.extract_slice %[[TILE]][0, 0] [%[[ROWS]], 64] [1, 1] : tensor<16x64xf32> to tensor<?x64xf32>
// CHECK-NEXT:     tensor.pad %[[PART]]
// CHECK:          linalg.add
// CHECK-NEXT:     dataflow.give @x
// CHECK-NEXT:     dataflow.take @x
// CHECK-NEXT:     tensor.extract_slice
// CHECK-NEXT:     tensor.extract
// CHECK-NEXT:     dataflow.give @x

// -----

// Branches that the load role can take too; numbers that a loop carries; two tiles at a time.
// CHECK-LABEL: dataflow.program @branches
dataflow.program @branches(%x: tensor<?x64xf32>, %mask: tensor<?xi1>, %y: tensor<16x64xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x, %mask : tensor<?x64xf32>, tensor<?xi1>) outs(%y : tensor<16x64xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %mask: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %r:3 = scf.for %t = %c0 to %c8 step %c1 iter_args(%acc = %y, %row = %c0, %trips = %c0) -> (tensor<16x64xf32>, index, index) {
      %live = tensor.extract %mask[%t] : tensor<?xi1>
      %new:2 = scf.if %live -> (tensor<16x64xf32>, index) {
        %a = tensor.extract_slice %x[%row, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
        %b = tensor.extract_slice %x[%t, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
        %s = linalg.add ins(%a, %b : tensor<16x64xf32>, tensor<16x64xf32>) outs(%acc : tensor<16x64xf32>) -> tensor<16x64xf32>
        %next = arith.addi %row, %c8 : index
        scf.yield %s, %next : tensor<16x64xf32>, index
      } else {
        scf.yield %acc, %row : tensor<16x64xf32>, index
      }
      %more = arith.addi %trips, %c1 : index
      scf.yield %new#0, %new#1, %more : tensor<16x64xf32>, index, index
    }
    dataflow.yield %r#0 : tensor<16x64xf32>
  }
}
// CHECK: dataflow.kernel @kernel {
// CHECK-NEXT: dataflow.stream @x depth 8 of tensor<16x64xf32> evict_first
// CHECK-NEXT: dataflow.stream @x_0 depth 8 of tensor<16x64xf32> evict_first
// CHECK:      dataflow.part @h_load
// CHECK:        scf.for %[[T:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[ROW:.*]] = %{{.*}}) -> (index) {
// CHECK-NEXT:     %[[LIVE:.*]] = tensor.extract
// CHECK-NEXT:     %[[NEW:.*]] = scf.if %[[LIVE]] -> (index) {
// CHECK-NEXT:       dataflow.fill @x, %{{.*}}[%[[ROW]], 0]
// CHECK-NEXT:       dataflow.fill @x_0, %{{.*}}[%[[T]], 0]
// CHECK-NEXT:       %[[NEXT:.*]] = arith.addi %[[ROW]]
// CHECK-NEXT:       scf.yield %[[NEXT]] : index
// CHECK-NEXT:     } else {
// CHECK-NEXT:       scf.yield %[[ROW]] : index
// CHECK-NEXT:     }
// CHECK-NEXT:     scf.yield %[[NEW]] : index
// CHECK:      dataflow.part @h_compute
// CHECK:          scf.if
// CHECK-NEXT:       dataflow.take @x :
// CHECK-NEXT:       dataflow.take @x_0 :
// CHECK-NEXT:       linalg.add
// CHECK-DAG:        dataflow.give @x{{$}}
// CHECK-DAG:        dataflow.give @x_0
// CHECK:          } else {

// -----

// What stays where it is, and why.
// CHECK-LABEL: dataflow.program @stays
dataflow.program @stays(%x: tensor<?x64xf32>, %odd: tensor<?x?xf32>, %mask: tensor<?xi1>, %y: tensor<16x64xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x, %odd, %mask : tensor<?x64xf32>, tensor<?x?xf32>, tensor<?xi1>) outs(%y : tensor<16x64xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %odd: tensor<?x?xf32>, %mask: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %n = tensor.dim %x, %c0 : tensor<?x64xf32>
    // REMARK-DAG: :[[#@LINE+1]]:{{.*}} Remark="the compute role loads this slice itself: a tile has 1008 bytes, less than 1024"
    %small = tensor.extract_slice %x[0, 0] [4, 63] [1, 1] : tensor<?x64xf32> to tensor<4x63xf32>
    // REMARK-DAG: :[[#@LINE+1]]:{{.*}} Remark="the compute role loads this slice itself: it has strides"
    %strided = tensor.extract_slice %x[0, 0] [16, 64] [2, 1] : tensor<?x64xf32> to tensor<16x64xf32>
    // REMARK-DAG: :[[#@LINE+1]]:{{.*}} Remark="the compute role loads this slice itself: its number of rows has no known bound"
    %open = tensor.extract_slice %x[0, 0] [%n, 64] [1, 1] : tensor<?x64xf32> to tensor<?x64xf32>
    // REMARK-DAG: :[[#@LINE+1]]:{{.*}} Remark="the compute role loads this slice itself: rows along dimension 0 are not a multiple of 16 bytes apart"
    %ragged = tensor.extract_slice %odd[0, 0] [16, 64] [1, 1] : tensor<?x?xf32> to tensor<16x64xf32>
    // REMARK-DAG: :[[#@LINE+1]]:{{.*}} Remark="the compute role loads this slice itself: its contiguous runs have 248 bytes, no multiple of 16"
    %narrow = tensor.extract_slice %x[0, 0] [16, 62] [1, 1] : tensor<?x64xf32> to tensor<16x62xf32>
    // REMARK-DAG: :[[#@LINE+1]]:{{.*}} Remark="the compute role loads this slice itself: its offset along dimension 1 is not known to be a multiple of 16 bytes"
    %shifted = tensor.extract_slice %x[0, %n] [16, 32] [1, 1] : tensor<?x64xf32> to tensor<16x32xf32>
    %big = linalg.add ins(%strided, %ragged : tensor<16x64xf32>, tensor<16x64xf32>) outs(%y : tensor<16x64xf32>) -> tensor<16x64xf32>
    %e0 = tensor.extract %small[%c0, %c0] : tensor<4x63xf32>
    %e1 = tensor.extract %open[%c0, %c0] : tensor<?x64xf32>
    %e2 = tensor.extract %narrow[%c0, %c0] : tensor<16x62xf32>
    %e3 = tensor.extract %shifted[%c0, %c0] : tensor<16x32xf32>
    %e4 = arith.addf %e0, %e1 : f32
    %e5 = arith.addf %e2, %e3 : f32
    %e6 = arith.addf %e4, %e5 : f32
    // An address, and a branch, that only the compute role knows.
    %large = linalg.fill ins(%e6 : f32) outs(%big : tensor<16x64xf32>) -> tensor<16x64xf32>
    %value = tensor.extract %large[%c0, %c0] : tensor<16x64xf32>
    %number = arith.fptosi %value : f32 to i32
    %row = arith.index_cast %number : i32 to index
    // REMARK-DAG: :[[#@LINE+1]]:{{.*}} Remark="the compute role loads this slice itself: it depends on 'linalg.fill'"
    %found = tensor.extract_slice %x[%row, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
    %bad = arith.cmpf ogt, %value, %e0 : f32
    %taken = scf.if %bad -> tensor<16x64xf32> {
      // REMARK-DAG: :[[#@LINE+1]]:{{.*}} Remark="the compute role loads this slice itself: it depends on 'linalg.fill'"
      %t = tensor.extract_slice %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      %s = linalg.add ins(%t, %found : tensor<16x64xf32>, tensor<16x64xf32>) outs(%large : tensor<16x64xf32>) -> tensor<16x64xf32>
      scf.yield %s : tensor<16x64xf32>
    } else {
      scf.yield %large : tensor<16x64xf32>
    }
    // A tile that leaves its block, and one behind a loop of unknown length.
    %r = scf.for %t = %c0 to %c8 step %c1 iter_args(%acc = %taken) -> tensor<16x64xf32> {
      // REMARK-DAG: :[[#@LINE+1]]:{{.*}} Remark="the compute role loads this slice itself: the tile is still used after its block"
      %tile = tensor.extract_slice %x[%t, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      scf.yield %tile : tensor<16x64xf32>
    }
    %w = scf.while (%a = %r) : (tensor<16x64xf32>) -> tensor<16x64xf32> {
      %go = tensor.extract %mask[%c0] : tensor<?xi1>
      scf.condition(%go) %a : tensor<16x64xf32>
    } do {
    ^bb0(%a: tensor<16x64xf32>):
      // REMARK-DAG: :[[#@LINE+1]]:{{.*}} Remark="the compute role loads this slice itself: it lies in 'scf.while'"
      %tile = tensor.extract_slice %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      %s = linalg.add ins(%tile, %a : tensor<16x64xf32>, tensor<16x64xf32>) outs(%a : tensor<16x64xf32>) -> tensor<16x64xf32>
      scf.yield %s : tensor<16x64xf32>
    }
    dataflow.yield %w : tensor<16x64xf32>
  }
}
// CHECK: dataflow.kernel @kernel {
// CHECK-NEXT: }

// -----

// Variants have parts of their own and share the streams; those of other kinds are left alone. A schedule stays last.
// CHECK-LABEL: dataflow.program @variants
dataflow.program @variants(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x : tensor<?x64xf32>) outs(%y : tensor<?x64xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>) -> tensor<?x64xf32> {
    %tile = tensor.extract_slice %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
    %r = tensor.insert_slice %tile into %y[0, 0] [16, 64] [1, 1] : tensor<16x64xf32> into tensor<?x64xf32>
    dataflow.yield %r : tensor<?x64xf32>
  }
  dataflow.handler @h_tiles1(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>) -> tensor<?x64xf32>
      attributes {variant = #dataflow.variant<tiles = 1>, variant_of = @h} {
    %tile = tensor.extract_slice %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
    %r = tensor.insert_slice %tile into %y[0, 0] [16, 64] [1, 1] : tensor<16x64xf32> into tensor<?x64xf32>
    dataflow.yield %r : tensor<?x64xf32>
  }
  dataflow.handler @h_sliced(%slice: index, %x: tensor<?x64xf32>, %y: tensor<?x64xf32>) -> tensor<?x64xf32>
      attributes {variant = #dataflow.variant<sliced>, variant_of = @h} {
    %tile = tensor.extract_slice %x[%slice, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
    %tile2 = linalg.add ins(%tile, %tile : tensor<16x64xf32>, tensor<16x64xf32>) outs(%tile : tensor<16x64xf32>) -> tensor<16x64xf32>
    %r = tensor.insert_slice %tile2 into %y[%slice, 0] [16, 64] [1, 1] : tensor<16x64xf32> into tensor<?x64xf32>
    dataflow.yield %r : tensor<?x64xf32>
  }
  dataflow.schedule @plan of @variants on #dataflow.topology<ctas = 1> static solver "hand" {
  }
}
// CHECK: dataflow.kernel @kernel {
// CHECK-NEXT: dataflow.stream @x depth 8 of tensor<16x64xf32> evict_first
// CHECK-NEXT: dataflow.part @h_load of @h load
// CHECK:      dataflow.part @h_compute
// CHECK:        dataflow.take @x
// CHECK-NEXT:   tensor.insert_slice
// CHECK-NEXT:   dataflow.give @x
// CHECK-NEXT:   dataflow.yield
// CHECK:      dataflow.part @h_sliced_load of @h_sliced load(%{{.*}}: index
// CHECK-NEXT:   dataflow.fill @x
// CHECK:      dataflow.part @h_sliced_compute
// CHECK:        linalg.add
// CHECK-NEXT:   dataflow.give @x
// CHECK-NOT:  dataflow.part
// CHECK:      dataflow.schedule @plan

// -----

// The sum of a tile and something else is a new tensor; the product with a constant may turn out to be the tile itself.
// CHECK-LABEL: dataflow.program @elementwise
dataflow.program @elementwise(%x: tensor<?x64xf32>, %z: tensor<?x64xf32>, %y: tensor<16x64xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @h tasks @one operands(%x, %z : tensor<?x64xf32>, tensor<?x64xf32>) outs(%y : tensor<16x64xf32>) : () -> ()
  dataflow.handler @h(%x: tensor<?x64xf32>, %z: tensor<?x64xf32>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %one = arith.constant dense<1.0> : tensor<16x64xf32>
    %r:2 = scf.for %t = %c0 to %c8 step %c1 iter_args(%acc = %y, %last = %y) -> (tensor<16x64xf32>, tensor<16x64xf32>) {
      %tile = tensor.extract_slice %x[%t, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      %sum = arith.addf %acc, %tile : tensor<16x64xf32>
      %other = tensor.extract_slice %z[%t, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      %scaled = arith.mulf %other, %one : tensor<16x64xf32>
      scf.yield %sum, %scaled : tensor<16x64xf32>, tensor<16x64xf32>
    }
    %s = arith.addf %r#0, %r#1 : tensor<16x64xf32>
    dataflow.yield %s : tensor<16x64xf32>
  }
}
// CHECK: dataflow.kernel @kernel {
// CHECK-NEXT: dataflow.stream @x depth
// CHECK-NEXT: dataflow.part
// CHECK: dataflow.take @x
// CHECK-NEXT: arith.addf
// CHECK-NEXT: dataflow.give @x
// CHECK-NEXT: tensor.extract_slice

// -----

// What folds to the tile shares its memory: the tile is held until the last use of that.
// CHECK-LABEL: dataflow.program @neutral
// CHECK: dataflow.part @h_compute
// CHECK:   dataflow.take @x
// CHECK:   arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK:   arith.addf %{{.*}} : tensor<16x64xf32>
// CHECK-NEXT: dataflow.give @x
// CHECK-NEXT: arith.addf
// With another factor it is a tensor of its own.
// CHECK: dataflow.part @g_compute
// CHECK:   dataflow.take @x
// CHECK:   arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK:   linalg.yield
// CHECK-NEXT: } -> tensor<16x64xf32>
// CHECK-NEXT: dataflow.give @x
dataflow.program @neutral(%x: tensor<?x16x64xf32>, %y: tensor<16x64xf32>, %z: tensor<16x64xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x16x64xf32>
  dataflow.tasks @rows(row = %n)
  dataflow.finalize @h tasks @rows operands(%x : tensor<?x16x64xf32>) outs(%y : tensor<16x64xf32>) : () -> ()
  dataflow.finalize @g tasks @rows operands(%x : tensor<?x16x64xf32>) outs(%z : tensor<16x64xf32>) : () -> ()
  dataflow.handler @h(%row: index, %x: tensor<?x16x64xf32>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    %factor = arith.constant 1.0 : f32
    %empty = tensor.empty() : tensor<16x64xf32>
    %t = tensor.extract_slice %x[%row, 0, 0] [1, 16, 64] [1, 1, 1] : tensor<?x16x64xf32> to tensor<16x64xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%t : tensor<16x64xf32>) outs(%empty : tensor<16x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %m = arith.mulf %in, %factor : f32
      linalg.yield %m : f32
    } -> tensor<16x64xf32>
    %c = arith.addf %y, %s : tensor<16x64xf32>
    %d = arith.addf %c, %c : tensor<16x64xf32>
    dataflow.yield %d : tensor<16x64xf32>
  }
  dataflow.handler @g(%row: index, %x: tensor<?x16x64xf32>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    %factor = arith.constant 2.0 : f32
    %empty = tensor.empty() : tensor<16x64xf32>
    %t = tensor.extract_slice %x[%row, 0, 0] [1, 16, 64] [1, 1, 1] : tensor<?x16x64xf32> to tensor<16x64xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%t : tensor<16x64xf32>) outs(%empty : tensor<16x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %m = arith.mulf %in, %factor : f32
      linalg.yield %m : f32
    } -> tensor<16x64xf32>
    %c = arith.addf %y, %s : tensor<16x64xf32>
    %d = arith.addf %c, %c : tensor<16x64xf32>
    dataflow.yield %d : tensor<16x64xf32>
  }
}

// -----

// Each stage reads every tile of %x once; but what one has read the other reads again, and it is to stay in the L2 cache. %z has one reader.
// CHECK-LABEL: dataflow.program @twice
dataflow.program @twice(%x: tensor<?x512xf32>, %z: tensor<?x1024xf32>, %y: tensor<?x512xf32>, %w: tensor<?x512xf32>, %v: tensor<?x1024xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x512xf32>
  dataflow.tasks @rows(row = %rows)
  dataflow.finalize @copy tasks @rows operands(%x : tensor<?x512xf32>) outs(%y : tensor<?x512xf32>) : () -> ()
  dataflow.finalize @double tasks @rows operands(%x, %z : tensor<?x512xf32>, tensor<?x1024xf32>) outs(%w, %v : tensor<?x512xf32>, tensor<?x1024xf32>) : () -> ()
  dataflow.handler @copy(%row: index, %x: tensor<?x512xf32>, %y: tensor<?x512xf32>) -> tensor<?x512xf32> {
    %tile = tensor.extract_slice %x[%row, 0] [1, 512] [1, 1] : tensor<?x512xf32> to tensor<512xf32>
    %r = tensor.insert_slice %tile into %y[%row, 0] [1, 512] [1, 1] : tensor<512xf32> into tensor<?x512xf32>
    dataflow.yield %r : tensor<?x512xf32>
  }
  dataflow.handler @double(%row: index, %x: tensor<?x512xf32>, %z: tensor<?x1024xf32>, %w: tensor<?x512xf32>, %v: tensor<?x1024xf32>)
      -> (tensor<?x512xf32>, tensor<?x1024xf32>) {
    %tile = tensor.extract_slice %x[%row, 0] [1, 512] [1, 1] : tensor<?x512xf32> to tensor<512xf32>
    %other = tensor.extract_slice %z[%row, 0] [1, 1024] [1, 1] : tensor<?x1024xf32> to tensor<1024xf32>
    %sum = arith.addf %tile, %tile : tensor<512xf32>
    %more = arith.addf %other, %other : tensor<1024xf32>
    %r = tensor.insert_slice %sum into %w[%row, 0] [1, 512] [1, 1] : tensor<512xf32> into tensor<?x512xf32>
    %s = tensor.insert_slice %more into %v[%row, 0] [1, 1024] [1, 1] : tensor<1024xf32> into tensor<?x1024xf32>
    dataflow.yield %r, %s : tensor<?x512xf32>, tensor<?x1024xf32>
  }
}
// CHECK: dataflow.stream @x depth {{[0-9]+}} of tensor<512xf32>{{$}}
// CHECK-NEXT: dataflow.stream @z depth {{[0-9]+}} of tensor<1024xf32> evict_first

// -----

// All tiles of a task read the same part of %b, and no other task does: it is done with when the next task begins. What %a has is read by every task.
// CHECK-LABEL: dataflow.program @task_reads
dataflow.program @task_reads(%a: tensor<?x512xf32>, %b: tensor<?x512xf32>, %y: tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %rows = tensor.dim %a, %c0 : tensor<?x512xf32>
  dataflow.tasks @blocks(block = %c4)
  dataflow.range @rows of @blocks length %rows tile 16
  dataflow.finalize @multiply tasks @blocks each @rows operands(%a, %b : tensor<?x512xf32>, tensor<?x512xf32>) outs(%y : tensor<?x?xf32>) : () -> ()
  dataflow.handler @multiply(%block: index, %begin: index, %end: index, %a: tensor<?x512xf32>, %b: tensor<?x512xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %first = arith.muli %block, %c16 : index
    %zeros = arith.constant dense<0.0> : tensor<16x16xf32>
    %sum = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zeros) -> tensor<16x16xf32> {
      %ta = tensor.extract_slice %a[%begin, %k] [16, 64] [1, 1] : tensor<?x512xf32> to tensor<16x64xf32>
      %tb = tensor.extract_slice %b[%first, %k] [16, 64] [1, 1] : tensor<?x512xf32> to tensor<16x64xf32>
      %next = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
          ins(%ta, %tb : tensor<16x64xf32>, tensor<16x64xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
      scf.yield %next : tensor<16x16xf32>
    }
    %r = tensor.insert_slice %sum into %y[%begin, %first] [16, 16] [1, 1] : tensor<16x16xf32> into tensor<?x?xf32>
    dataflow.yield %r : tensor<?x?xf32>
  }
}
// CHECK: dataflow.stream @a depth {{[0-9]+}} of tensor<16x64xf32>{{$}}
// CHECK-NEXT: dataflow.stream @b depth {{[0-9]+}} of tensor<16x64xf32> evict_first
