// RUN: df-opt %s --split-input-file --verify-diagnostics --dataflow-verify-program
// One case for each of the checks P1 to P10.

// P1: a parameter is left.
// expected-error @+1 {{P1: still has the parameter 'width'; run dataflow-specialize-program}}
dataflow.program @p1_params(%x: tensor<?x?xf32>, %lengths: tensor<?xi32>, %y: tensor<?xf32>) params {width = 4 : index} {
}

// -----

// P1: a use of a parameter is left.
// expected-error @+1 {{P1: still has the parameter 'width'}}
dataflow.program @p1_use(%x: tensor<?x?xf32>, %lengths: tensor<?xi32>, %y: tensor<?xf32>) params {width = 4 : index} {
  // expected-error @+1 {{P1: parameter 'width' is not bound}}
  %w = dataflow.param "width" : index
}

// -----

// P1: a named tile is left.
// expected-error @+1 {{P1: still has the parameter 'width'}}
dataflow.program @p1_tile(%x: tensor<?x?xf32>, %lengths: tensor<?xi32>, %y: tensor<?xf32>) params {width = 4 : index} {
  %c4 = arith.constant 4 : index
  dataflow.tasks @rows(row = %c4)
  // expected-error @+1 {{P1: tile 'width' is not bound}}
  dataflow.range @r of @rows length %lengths[row] tile "width" : tensor<?xi32>
}

// -----

// P2: a record whose shape is unknown.
dataflow.program @p2_dynamic(%x: tensor<?x?xf32>, %lengths: tensor<?xi32>, %y: tensor<?xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @rows(row = %c4)
  // expected-error @+1 {{stage "make" field 'v': P2: dimension 1 of 'tensor<2x?xf32>' is not static}}
  %a = dataflow.map @make tasks @rows operands(%x : tensor<?x?xf32>) : () -> !dataflow.channel<!dataflow.record<v: tensor<2x?xf32>>>
  dataflow.finalize @store(%a) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: tensor<2x?xf32>>>) -> ()
  dataflow.handler @make(%row: index, %x: tensor<?x?xf32>) -> tensor<2x?xf32> {
    %v = tensor.empty(%row) : tensor<2x?xf32>
    dataflow.yield %v : tensor<2x?xf32>
  }
  dataflow.handler @store(%row: index, %v: tensor<2x?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}

// -----

// P2: a record without elements.
dataflow.program @p2_empty(%x: tensor<?x?xf32>, %lengths: tensor<?xi32>, %y: tensor<?xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @rows(row = %c4)
  // expected-error @+1 {{stage "make" field 'v': P2: dimension 0 of 'tensor<0xf32>' is at least 1, but is 0}}
  %a = dataflow.map @make tasks @rows operands(%x : tensor<?x?xf32>) : () -> !dataflow.channel<!dataflow.record<v: tensor<0xf32>>>
  dataflow.finalize @store(%a) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: tensor<0xf32>>>) -> ()
  dataflow.handler @make(%row: index, %x: tensor<?x?xf32>) -> tensor<0xf32> {
    %v = tensor.empty() : tensor<0xf32>
    dataflow.yield %v : tensor<0xf32>
  }
  dataflow.handler @store(%row: index, %v: tensor<0xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}

// -----

// P6: an element type that a plan cannot name.
dataflow.program @p6_record(%x: tensor<?x?xf32>, %lengths: tensor<?xi32>, %y: tensor<?xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @rows(row = %c4)
  // expected-error @+1 {{stage "make" field 'v': P6: a plan cannot name the element type 'i7'}}
  %a = dataflow.map @make tasks @rows operands(%x : tensor<?x?xf32>) : () -> !dataflow.channel<!dataflow.record<v: i7>>
  dataflow.finalize @store(%a) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: i7>>) -> ()
  dataflow.handler @make(%row: index, %x: tensor<?x?xf32>) -> i7 {
    %v = arith.constant 1 : i7
    dataflow.yield %v : i7
  }
  dataflow.handler @store(%row: index, %v: i7, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}

// -----

// P6: the same in an argument.
// expected-error @+1 {{argument 'x' P6: a plan cannot name the element type 'f8E4M3FNUZ'}}
dataflow.program @p6_argument(%x: tensor<?xf8E4M3FNUZ>) {
}

// -----

// P7: a record that is too large.
dataflow.program @p7_large(%x: tensor<?x?xf32>, %lengths: tensor<?xi32>, %y: tensor<?xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @rows(row = %c4)
  // expected-error @+1 {{stage "make" P7: a record has at most 2147483647 bytes, but this one has 17179869184}}
  %a = dataflow.map @make tasks @rows operands(%x : tensor<?x?xf32>) : () -> !dataflow.channel<!dataflow.record<v: tensor<65536x65536xf32>>>
  dataflow.finalize @store(%a) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: tensor<65536x65536xf32>>>) -> ()
  dataflow.handler @make(%row: index, %x: tensor<?x?xf32>) -> tensor<65536x65536xf32> {
    %v = tensor.empty() : tensor<65536x65536xf32>
    dataflow.yield %v : tensor<65536x65536xf32>
  }
  dataflow.handler @store(%row: index, %v: tensor<65536x65536xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}

// -----

// P7: a record whose size cannot be counted.
dataflow.program @p7_overflow(%x: tensor<?x?xf32>, %lengths: tensor<?xi32>, %y: tensor<?xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @rows(row = %c4)
  // expected-error @+1 {{stage "make" P7: }}
  %a = dataflow.map @make tasks @rows operands(%x : tensor<?x?xf32>) : () -> !dataflow.channel<!dataflow.record<v: tensor<4294967296x4294967296xf32>>>
  dataflow.finalize @store(%a) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: tensor<4294967296x4294967296xf32>>>) -> ()
  dataflow.handler @make(%row: index, %x: tensor<?x?xf32>) -> tensor<4294967296x4294967296xf32> {
    %v = tensor.empty() : tensor<4294967296x4294967296xf32>
    dataflow.yield %v : tensor<4294967296x4294967296xf32>
  }
  dataflow.handler @store(%row: index, %v: tensor<4294967296x4294967296xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}

// -----

// P3: an extent that is computed.
dataflow.program @p3_computed(%x: tensor<?x?xf32>, %lengths: tensor<?xi32>, %y: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  // expected-note @+1 {{it is computed here}}
  %m = arith.addi %n, %n : index
  // expected-error @+1 {{P3: extent of axis 'row' is neither a constant nor a dimension of an argument of the program}}
  dataflow.tasks @rows(row = %m)
}

// -----

// P3: a negative extent.
dataflow.program @p3_negative(%x: tensor<?x?xf32>, %lengths: tensor<?xi32>, %y: tensor<?xf32>) {
  %c = arith.constant -2 : index
  // expected-error @+1 {{P3: extent of axis 'row' is at least 0, but is -2}}
  dataflow.tasks @rows(row = %c)
}

// -----

// P4: a length and an offset that are computed.
dataflow.program @p4_computed(%x: tensor<?x?xf32>, %lengths: tensor<?xi32>, %y: tensor<?xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @rows(row = %c4)
  // expected-note @+1 {{it is computed here}}
  %m = index.add %c4, %c4
  // expected-error @+2 {{P4: length is neither a constant nor a dimension of an argument of the program}}
  // expected-error @+1 {{P4: offset is neither a constant nor a dimension of an argument of the program}}
  dataflow.range @r of @rows length %m offset %m tile 4
}

// -----

// P4: a negative length.
dataflow.program @p4_negative(%x: tensor<?x?xf32>, %lengths: tensor<?xi32>, %y: tensor<?xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @rows(row = %c4)
  %c = arith.constant -1 : index
  // expected-error @+1 {{P4: length is at least 0, but is -1}}
  dataflow.range @r of @rows length %c tile 4
}

// -----

// P5: ops that no code is generated for.
dataflow.program @p5_body(%x: tensor<?x?xf32>, %lengths: tensor<?xi32>, %y: tensor<?xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @rows(row = %c4)
  dataflow.range @r of @rows length %lengths[row] tile 4 : tensor<?xi32>
  %a = dataflow.map @make tasks @rows over @r : () -> !dataflow.channel<!dataflow.record<v: f32>, pieces>
  %b = dataflow.reduce @add(%a) : (!dataflow.channel<!dataflow.record<v: f32>, pieces>) -> !dataflow.channel<!dataflow.record<v: f32>> identity {
    // expected-error @+1 {{'ub.poison' op P5: is not an op that code is generated for}}
    %p = ub.poison : f32
    dataflow.yield %p : f32
  }
  dataflow.finalize @store(%b) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  dataflow.handler @make(%row: index, %begin: index, %end: index) -> f32 {
    // expected-error @+1 {{'vector.step' op P5: is not an op that code is generated for}}
    %v = vector.step : vector<4xindex>
    %zero = arith.constant 0.0 : f32
    dataflow.yield %zero : f32
  }
  dataflow.handler @add(%a: f32, %b: f32) -> f32 {
    dataflow.yield %a : f32
  }
  dataflow.handler @store(%row: index, %v: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}

// -----

// P8: two readers of a resident record.
dataflow.program @p8_readers(%y: tensor<?xf32>, %z: tensor<?xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @rows(row = %c4)
  // expected-error @+1 {{P8: the resident records of stage "make" are read by at most one stage, but by 2}}
  %a = dataflow.map @make tasks @rows requests [#dataflow.handoff<resident>] : () -> !dataflow.channel<!dataflow.record<v: f32>>
  dataflow.finalize @store as "one" (%a) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  dataflow.finalize @store as "two" (%a) tasks @rows outs(%z : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  dataflow.handler @make(%row: index) -> f32 {
    %v = arith.constant 1.0 : f32
    dataflow.yield %v : f32
  }
  dataflow.handler @store(%row: index, %v: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}

// -----

// P8: a resident record that other tasks read.
dataflow.program @p8_domain(%y: tensor<?xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @rows(row = %c4)
  dataflow.tasks @pairs(row = %c4, column = %c4)
  %a = dataflow.map @make tasks @rows requests [#dataflow.handoff<resident>] : () -> !dataflow.channel<!dataflow.record<v: f32>>
  // expected-error @+1 {{P8: stage "wide" and its producer "make" disagree: resident records are read by tasks of the same domain, but the domains are @rows and @pairs}}
  dataflow.finalize @wide(%a) tasks @pairs outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  dataflow.handler @wide(%row: index, %column: index, %v: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
  dataflow.handler @make(%row: index) -> f32 {
    %v = arith.constant 1.0 : f32
    dataflow.yield %v : f32
  }
  dataflow.handler @store(%row: index, %v: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}

// -----

// P8: a resident record that is sent away.
dataflow.program @p8_rekey(%index: tensor<?xi32>, %y: tensor<?xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @rows(row = %c4)
  dataflow.tasks @others(other = %c4)
  %a = dataflow.map @make tasks @rows requests [#dataflow.handoff<resident>] : () -> !dataflow.channel<!dataflow.record<v: f32>>
  // expected-error @+1 {{P8: stage "send" and its producer "make" disagree: resident records cannot be sent to other tasks}}
  %b = dataflow.reshard "send" rekey (%a) to @others by %index[row] key other : (!dataflow.channel<!dataflow.record<v: f32>>, tensor<?xi32>) -> !dataflow.channel<!dataflow.record<v: f32>, keyed>
  %c = dataflow.reduce @add(%b) : (!dataflow.channel<!dataflow.record<v: f32>, keyed>) -> !dataflow.channel<!dataflow.record<v: f32>> identity {
    %zero = arith.constant 0.0 : f32
    dataflow.yield %zero : f32
  }
  dataflow.finalize @store(%c) tasks @others outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  dataflow.handler @add(%a: f32, %b: f32) -> f32 {
    dataflow.yield %a : f32
  }
  dataflow.handler @make(%row: index) -> f32 {
    %v = arith.constant 1.0 : f32
    dataflow.yield %v : f32
  }
  dataflow.handler @store(%row: index, %v: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}

// -----

// P8: producer and consumer want the record in different memories.
dataflow.program @p8_space(%y: tensor<?xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @rows(row = %c4)
  %a = dataflow.map @make tasks @rows requests [#dataflow.memory<global>] : () -> !dataflow.channel<!dataflow.record<v: f32>>
  // expected-error @+1 {{P8: stage "store" and its producer "make" disagree: the records are asked for in global memory by the one and in shared memory by the other}}
  dataflow.finalize @store(%a) tasks @rows outs(%y : tensor<?xf32>) requests [#dataflow.physical_form<inputs = [shared]>] : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  dataflow.handler @make(%row: index) -> f32 {
    %v = arith.constant 1.0 : f32
    dataflow.yield %v : f32
  }
  dataflow.handler @store(%row: index, %v: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}

// -----

// P8: a transport between shared memories for a record in global memory.
dataflow.program @p8_shared(%y: tensor<?xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @rows(row = %c4)
  %a = dataflow.map @make tasks @rows requests [#dataflow.memory<global>] : () -> !dataflow.channel<!dataflow.record<v: f32>>
  // expected-error @+1 {{P8: stage "move" and its producer "make" disagree: cluster_shared moves records in shared memory, but they are asked for in global memory}}
  %b = dataflow.reshard "move" move (%a) requests [#dataflow.reshard_transport<via = #dataflow.cluster_shared>] : (!dataflow.channel<!dataflow.record<v: f32>>) -> !dataflow.channel<!dataflow.record<v: f32>>
  dataflow.finalize @store(%b) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  dataflow.handler @make(%row: index) -> f32 {
    %v = arith.constant 1.0 : f32
    dataflow.yield %v : f32
  }
  dataflow.handler @store(%row: index, %v: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}

// -----

// P8: a transport from global memory for a record in shared memory.
dataflow.program @p8_global(%y: tensor<?xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @rows(row = %c4)
  %a = dataflow.map @make tasks @rows requests [#dataflow.memory<shared>] : () -> !dataflow.channel<!dataflow.record<v: f32>>
  // expected-error @+1 {{P8: stage "move" and its producer "make" disagree: multicast moves records in global memory, but they are asked for in shared memory}}
  %b = dataflow.reshard "move" move (%a) requests [#dataflow.reshard_transport<via = #dataflow.multicast>] : (!dataflow.channel<!dataflow.record<v: f32>>) -> !dataflow.channel<!dataflow.record<v: f32>>
  dataflow.finalize @store(%b) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  dataflow.handler @make(%row: index) -> f32 {
    %v = arith.constant 1.0 : f32
    dataflow.yield %v : f32
  }
  dataflow.handler @store(%row: index, %v: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}

// -----

// P9: two writers of one tensor.
dataflow.program @p9_writers(%y: tensor<?xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @rows(row = %c4)
  %a = dataflow.map @make tasks @rows : () -> !dataflow.channel<!dataflow.record<v: f32>>
  // expected-note @+1 {{written here}}
  dataflow.finalize @store as "one" (%a) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  // expected-error @+1 {{P9: writes the tensor that stage "one" writes}}
  dataflow.finalize @store as "two" (%a) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  dataflow.handler @make(%row: index) -> f32 {
    %v = arith.constant 1.0 : f32
    dataflow.yield %v : f32
  }
  dataflow.handler @store(%row: index, %v: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}

// -----

// P9: a reader of a tensor that is written.
dataflow.program @p9_reader(%y: tensor<?xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @rows(row = %c4)
  // expected-error @+1 {{P9: reads the tensor that stage "store" writes}}
  %a = dataflow.map @read tasks @rows operands(%y : tensor<?xf32>) : () -> !dataflow.channel<!dataflow.record<v: f32>>
  // expected-note @+1 {{written here}}
  dataflow.finalize @store(%a) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  dataflow.handler @read(%row: index, %y: tensor<?xf32>) -> f32 {
    %v = tensor.extract %y[%row] : tensor<?xf32>
    dataflow.yield %v : f32
  }
  dataflow.handler @make(%row: index) -> f32 {
    %v = arith.constant 1.0 : f32
    dataflow.yield %v : f32
  }
  dataflow.handler @store(%row: index, %v: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}

// -----

// P10: records that nothing reads.
dataflow.program @p10_unread(%y: tensor<?xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @rows(row = %c4)
  // expected-error @+1 {{P10: the records of stage "make" are read by no stage}}
  %a = dataflow.map @make tasks @rows : () -> !dataflow.channel<!dataflow.record<v: f32>>
  dataflow.handler @make(%row: index) -> f32 {
    %v = arith.constant 1.0 : f32
    dataflow.yield %v : f32
  }
  dataflow.handler @store(%row: index, %v: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    dataflow.yield %y : tensor<?xf32>
  }
}
