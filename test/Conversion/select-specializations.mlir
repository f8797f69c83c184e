// RUN: df-opt %s --dataflow-select-specializations --split-input-file | FileCheck %s
// RUN: df-opt %s --dataflow-select-specializations=only=ticket,static --split-input-file | FileCheck %s --check-prefix=ONLY
// RUN: not df-opt %s --dataflow-select-specializations=only=dynamic --split-input-file 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: df-opt %s --dataflow-select-specializations --convert-dataflow-to-nvvm --split-input-file | FileCheck %s --check-prefix=KERNEL

// ONLY: dataflow.specializations = ["ticket", "static"]
// NONE: error: no kernel specialisation 'dynamic', expected static, static_global or ticket

// Nothing is asked for: all plans are possible.
// CHECK: dataflow.program @free
// CHECK-SAME: dataflow.specializations = ["static", "ticket"]
// KERNEL: gpu.module @free_static
// KERNEL: gpu.module @free_ticket
dataflow.program @free(%x: tensor<?xf32>, %y: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  dataflow.tasks @rows(row = %n)
  %r = dataflow.map @read tasks @rows operands(%x : tensor<?xf32>) : () -> !dataflow.channel<!dataflow.record<v: f32>>
  dataflow.finalize @write(%r) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  dataflow.handler @read(%row: index, %x: tensor<?xf32>) -> f32 {
    %v = tensor.extract %x[%row] : tensor<?xf32>
    dataflow.yield %v : f32
  }
  dataflow.handler @write(%row: index, %v: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    %r = tensor.insert %v into %y[%row] : tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
}

// -----

// Records in global memory need no kernel with barriers of the plan.
// CHECK: dataflow.program @in_global
// CHECK-SAME: dataflow.specializations = ["static_global", "ticket"]
// KERNEL: gpu.module @in_global_static_global
// KERNEL-SAME: transports = 10 : i64
dataflow.program @in_global(%x: tensor<?xf32>, %y: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  dataflow.tasks @rows(row = %n)
  %r = dataflow.map @read tasks @rows operands(%x : tensor<?xf32>) requests [#dataflow.memory<global>]
      : () -> !dataflow.channel<!dataflow.record<v: f32>>
  dataflow.finalize @write(%r) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  dataflow.handler @read(%row: index, %x: tensor<?xf32>) -> f32 {
    %v = tensor.extract %x[%row] : tensor<?xf32>
    dataflow.yield %v : f32
  }
  dataflow.handler @write(%row: index, %v: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    %r = tensor.insert %v into %y[%row] : tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
}

// -----

// A transport into shared memory is asked for, which tickets do not have.
// CHECK: dataflow.program @by_cluster
// CHECK-SAME: dataflow.specializations = ["static"]
// KERNEL: gpu.module @by_cluster_static
// KERNEL-NOT: gpu.module
dataflow.program @by_cluster(%x: tensor<?xf32>, %y: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  dataflow.tasks @rows(row = %n)
  %r = dataflow.map @read tasks @rows operands(%x : tensor<?xf32>) : () -> !dataflow.channel<!dataflow.record<v: f32>>
  %m = dataflow.reshard "moved" move(%r) requests [#dataflow.reshard_transport<via = #dataflow.cluster_shared>]
      : (!dataflow.channel<!dataflow.record<v: f32>>) -> !dataflow.channel<!dataflow.record<v: f32>>
  dataflow.finalize @write(%m) tasks @rows outs(%y : tensor<?xf32>) : (!dataflow.channel<!dataflow.record<v: f32>>) -> ()
  dataflow.handler @read(%row: index, %x: tensor<?xf32>) -> f32 {
    %v = tensor.extract %x[%row] : tensor<?xf32>
    dataflow.yield %v : f32
  }
  dataflow.handler @write(%row: index, %v: f32, %y: tensor<?xf32>) -> tensor<?xf32> {
    %r = tensor.insert %v into %y[%row] : tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
}
