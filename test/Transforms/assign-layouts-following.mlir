// RUN: df-opt %s --split-input-file --dataflow-assign-layouts --dataflow-verify-kernel | FileCheck %s
// RUN: df-opt %s --split-input-file --dataflow-assign-layouts --remark-policy=all --remark-format=emitRemark --remarks-filter="dataflow" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: df-opt %s --split-input-file --dataflow-assign-layouts="follow=false" --dataflow-verify-kernel | FileCheck %s --check-prefix=OFF
// A finalize that alone reads the record of a map stands in a branch behind the body of the map.

// OFF-NOT: following

!part = !dataflow.record<rows: tensor<64x64xf32>>

// REMARK: remark: [Passed] assign-layouts | Category:dataflow | Function=take | Remark="'put' follows in registers where it is the next instruction"
// CHECK-LABEL: dataflow.program @behind_reduce
// CHECK: dataflow.part @take_compute of @take compute(%[[JOB:.*]]: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: tensor<?x64x64xf32>, %[[SCALE:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?x64x64xf32>, %[[FOLLOWS:.*]]: i1) -> (tensor<64x64xf32>, tensor<?x64x64xf32>)
// CHECK-SAME: attributes {following = @put, fragments}
// CHECK:   %[[TILE:.*]] = arith.addf %{{.*}} : tensor<64x64xf32, #[[ROWS:.*]]>
// CHECK:   %[[OUT:.*]] = scf.if %[[FOLLOWS]] -> (tensor<?x64x64xf32>) {
// CHECK:     tensor.extract %[[SCALE]][%[[JOB]]]
// CHECK:     %[[SCALED:.*]] = arith.mulf %[[TILE]], %{{.*}} : tensor<64x64xf32, #[[ROWS]]>
// CHECK:     %[[MEMORY:.*]] = dataflow.convert_layout %[[SCALED]]
// CHECK:     %[[NEW:.*]] = tensor.insert_slice %[[MEMORY]] into %[[Y]][%[[JOB]], 0, 0]
// CHECK:     scf.yield %[[NEW]]
// CHECK:   } else {
// CHECK:     scf.yield %[[Y]]
// CHECK:   }
// CHECK:   dataflow.yield %[[TILE]], %[[OUT]]
// The finalize alone, and the reduce, stay as they are.
// CHECK-NOT: following
// CHECK: dataflow.part @put_compute
dataflow.program @behind_reduce(%x: tensor<?x64x64xf32>, %lengths: tensor<?xi32>, %scale: tensor<?xf32>, %y: tensor<?x64x64xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @jobs(job = %n)
  dataflow.range @tiles of @jobs length %lengths[job] tile 1 : tensor<?xi32>
  %parts = dataflow.map @take tasks @jobs over @tiles operands(%x : tensor<?x64x64xf32>) : () -> !dataflow.channel<!part, pieces>
  %whole = dataflow.reduce @two(%parts) : (!dataflow.channel<!part, pieces>) -> !dataflow.channel<!part> identity {
    %zero = arith.constant 0.0 : f32
    %rows = tensor.splat %zero : tensor<64x64xf32>
    dataflow.yield %rows : tensor<64x64xf32>
  }
  dataflow.finalize @put(%whole) tasks @jobs operands(%scale : tensor<?xf32>) outs(%y : tensor<?x64x64xf32>) : (!dataflow.channel<!part>) -> ()
  dataflow.handler @take(%job: index, %begin: index, %end: index, %x: tensor<?x64x64xf32>) -> tensor<64x64xf32> {
    %rows = tensor.extract_slice %x[%begin, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<?x64x64xf32> to tensor<64x64xf32>
    %twice = arith.addf %rows, %rows : tensor<64x64xf32>
    dataflow.yield %twice : tensor<64x64xf32>
  }
  dataflow.handler @two(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %c = arith.addf %a, %b : tensor<64x64xf32>
    dataflow.yield %c : tensor<64x64xf32>
  }
  dataflow.handler @put(%job: index, %scale: tensor<?xf32>, %rows: tensor<64x64xf32>, %y: tensor<?x64x64xf32>) -> tensor<?x64x64xf32> {
    %s = tensor.extract %scale[%job] : tensor<?xf32>
    %by = tensor.splat %s : tensor<64x64xf32>
    %scaled = arith.mulf %rows, %by : tensor<64x64xf32>
    %r = tensor.insert_slice %scaled into %y[%job, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<64x64xf32> into tensor<?x64x64xf32>
    dataflow.yield %r : tensor<?x64x64xf32>
  }
}

// -----

!part = !dataflow.record<rows: tensor<64x64xf32>>

// The record has a second reader.
// REMARK: [Missed] assign-layouts | Category:dataflow | Function=take | Remark="no finalize follows in registers: the records of 'take' have 2 readers"
// CHECK-LABEL: dataflow.program @two_readers
// CHECK-NOT: following
dataflow.program @two_readers(%x: tensor<?x64x64xf32>, %y: tensor<?x64x64xf32>, %z: tensor<?x64x64xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64x64xf32>
  dataflow.tasks @jobs(job = %n)
  %rows = dataflow.map @take tasks @jobs operands(%x : tensor<?x64x64xf32>) : () -> !dataflow.channel<!part>
  dataflow.finalize @put(%rows) tasks @jobs outs(%y : tensor<?x64x64xf32>) : (!dataflow.channel<!part>) -> ()
  dataflow.finalize @also(%rows) tasks @jobs outs(%z : tensor<?x64x64xf32>) : (!dataflow.channel<!part>) -> ()
  dataflow.handler @take(%job: index, %x: tensor<?x64x64xf32>) -> tensor<64x64xf32> {
    %rows = tensor.extract_slice %x[%job, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<?x64x64xf32> to tensor<64x64xf32>
    %twice = arith.addf %rows, %rows : tensor<64x64xf32>
    dataflow.yield %twice : tensor<64x64xf32>
  }
  dataflow.handler @put(%job: index, %rows: tensor<64x64xf32>, %y: tensor<?x64x64xf32>) -> tensor<?x64x64xf32> {
    %r = tensor.insert_slice %rows into %y[%job, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<64x64xf32> into tensor<?x64x64xf32>
    dataflow.yield %r : tensor<?x64x64xf32>
  }
  dataflow.handler @also(%job: index, %rows: tensor<64x64xf32>, %y: tensor<?x64x64xf32>) -> tensor<?x64x64xf32> {
    %r = tensor.insert_slice %rows into %y[%job, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<64x64xf32> into tensor<?x64x64xf32>
    dataflow.yield %r : tensor<?x64x64xf32>
  }
}

// -----

!part = !dataflow.record<rows: tensor<64x64xf32>>

// The fragment path takes the map alone only.
// REMARK: [Missed] assign-layouts | Category:dataflow | Function=take | Remark="'put' does not follow in registers: it takes one element of a tile out of registers"
// CHECK-LABEL: dataflow.program @portable
// CHECK: dataflow.part @take_compute of @take compute
// CHECK-SAME: attributes {fragments}
// CHECK-NOT: following
dataflow.program @portable(%x: tensor<?x64x64xf32>, %y: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64x64xf32>
  dataflow.tasks @jobs(job = %n)
  %rows = dataflow.map @take tasks @jobs operands(%x : tensor<?x64x64xf32>) : () -> !dataflow.channel<!part>
  dataflow.finalize @put(%rows) tasks @jobs outs(%y : tensor<?xf32>) : (!dataflow.channel<!part>) -> ()
  dataflow.handler @take(%job: index, %x: tensor<?x64x64xf32>) -> tensor<64x64xf32> {
    %rows = tensor.extract_slice %x[%job, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<?x64x64xf32> to tensor<64x64xf32>
    %twice = arith.addf %rows, %rows : tensor<64x64xf32>
    dataflow.yield %twice : tensor<64x64xf32>
  }
  dataflow.handler @put(%job: index, %rows: tensor<64x64xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    %c1 = arith.constant 1 : index
    %e = tensor.extract %rows[%c1, %c1] : tensor<64x64xf32>
    %r = tensor.insert %e into %y[%job] : tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
}
