// RUN: df-opt %s --dataflow-plan="ctas=4 buckets=" | FileCheck %s
// RUN: df-opt %s --dataflow-plan="ctas=4 buckets= solver=tickets" | FileCheck %s --check-prefix=TICKET
// RUN: df-opt %s --dataflow-plan="ctas=4 cluster-size=4 buckets= combine=fold" -o %t.mlir
// RUN: df-translate --dataflow-to-plan %t.mlir -o %t.plan
// RUN: df-translate --plan-to-dataflow %t.plan | df-translate --dataflow-to-plan -o %t.again.plan
// RUN: cmp %t.plan %t.again.plan
// Rows that go from one domain to the tasks of another: operands name slots and rows, in ascending order of the source.

// CHECK: dataflow.schedule @plan
// CHECK: dataflow.slot @s0 of "expand"
// CHECK-NOT: "send"
// Rows 1 and 2 of group 1 go to token 0 and are added where they are, then after row 0 of group 0.
// CHECK: dataflow.instruction "add" task 0 ins [@s[[SOURCE:[0-9]+]] row 0, @s{{[0-9]+}} wait]
// CHECK: dataflow.instruction "add" task 1 ins [@s[[SOURCE]] row 1, @s{{[0-9]+}} row 0 wait]
// CHECK: dataflow.instruction "add" task 0 ins [@s[[OTHER:[0-9]+]] row 1, @s[[OTHER]] row 2]
// Nothing is sent to token 2: an identity.
// CHECK: dataflow.instruction "add" task 2 outs

// TICKET: dataflow.queue ticket
// TICKET: dataflow.instruction "add" task 2 outs

dataflow.program @combine(%x: tensor<?x4x8xf32>, %target: tensor<?x4xi32>, %y: tensor<?x8xf32>)
    attributes {dataflow.inputs = {target = dense<[[0, 1, 3, -1], [1, 0, 0, 3]]> : tensor<2x4xi64>, y = array<i64: 4, 8>}} {
  %c0 = arith.constant 0 : index
  %groups = tensor.dim %target, %c0 : tensor<?x4xi32>
  %tokens = tensor.dim %y, %c0 : tensor<?x8xf32>
  dataflow.tasks @groups(group = %groups)
  dataflow.tasks @tokens(token = %tokens)
  %rows = dataflow.map @expand tasks @groups operands(%x : tensor<?x4x8xf32>)
      : () -> !dataflow.channel<!dataflow.record<v: tensor<4x8xf32>>>
  %sent = dataflow.reshard "send" rekey (%rows) to @tokens by %target[group] key token rows
      : (!dataflow.channel<!dataflow.record<v: tensor<4x8xf32>>>, tensor<?x4xi32>)
      -> !dataflow.channel<!dataflow.record<v: tensor<8xf32>>, keyed>
  %sum = dataflow.reduce @add(%sent)
      : (!dataflow.channel<!dataflow.record<v: tensor<8xf32>>, keyed>) -> !dataflow.channel<!dataflow.record<v: tensor<8xf32>>> identity {
    %zero = arith.constant dense<0.0> : tensor<8xf32>
    dataflow.yield %zero : tensor<8xf32>
  }
  dataflow.finalize @store(%sum) tasks @tokens outs(%y : tensor<?x8xf32>)
      : (!dataflow.channel<!dataflow.record<v: tensor<8xf32>>>) -> ()
  dataflow.handler @expand(%group: index, %x: tensor<?x4x8xf32>) -> tensor<4x8xf32> {
    %v = tensor.extract_slice %x[%group, 0, 0] [1, 4, 8] [1, 1, 1] : tensor<?x4x8xf32> to tensor<4x8xf32>
    dataflow.yield %v : tensor<4x8xf32>
  }
  dataflow.handler @add(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
    %c = arith.addf %a, %b : tensor<8xf32>
    dataflow.yield %c : tensor<8xf32>
  }
  dataflow.handler @store(%token: index, %v: tensor<8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %r = tensor.insert_slice %v into %y[%token, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<?x8xf32>
    dataflow.yield %r : tensor<?x8xf32>
  }
}
