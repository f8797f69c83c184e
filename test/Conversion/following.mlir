// RUN: df-opt %s --dataflow-assign-layouts --convert-dataflow-to-nvvm="specializations=static" | FileCheck %s
// A finalize behind a map in its function: the plan is asked once, behind the map's work, and the record is stored only where nobody follows.

!part = !dataflow.record<rows: tensor<64x64xf32>>

// CHECK: remarks = ["no streams: handlers load what they use", "fragments: 'take$0' and 'put' behind it, 'put$0'"
// An instruction runs without its handler if its work is done.
// CHECK: llvm.func internal @dfk_execute
// CHECK: %[[DONE:.*]] = llvm.call @dfk_begin_instruction
// CHECK: %[[LEFT:.*]] = arith.xori %[[DONE]], %{{.*}}
// CHECK: scf.if %[[LEFT]] {
// CHECK:   llvm.call @dfk_dispatch
// CHECK: }
// CHECK: scf.if %[[LEFT]] {
// CHECK:   llvm.call @dfk_send_all
// CHECK: llvm.func internal @take$0$compute$body(
// CHECK-COUNT-8: llvm.load {{.*}} : !llvm.ptr -> vector<4xf32>
// CHECK: %[[FOLLOWS:.*]] = llvm.call @dfk_is_followed(%{{.*}}, %{{.*}}, %{{.*}})
// CHECK-NOT: llvm.store
// CHECK: llvm.cond_br
// CHECK: llvm.fmul
// CHECK-COUNT-8: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr
// CHECK-NOT: llvm.store
// CHECK: %[[KEPT:.*]] = llvm.icmp "eq" %[[FOLLOWS]], %{{.*}} : i1
// CHECK: llvm.cond_br %[[KEPT]]
// CHECK-COUNT-8: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr
// CHECK-NOT: llvm.store
// CHECK: llvm.return
// Who calls it passes the tensors of the finalize.
// CHECK: llvm.call @take$0$compute(
dataflow.program @scaled(%x: tensor<?x64x64xf32>, %scale: tensor<?xf32>, %y: tensor<?x64x64xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64x64xf32>
  dataflow.tasks @jobs(job = %n)
  %rows = dataflow.map @take tasks @jobs operands(%x : tensor<?x64x64xf32>) : () -> !dataflow.channel<!part>
  dataflow.finalize @put(%rows) tasks @jobs operands(%scale : tensor<?xf32>) outs(%y : tensor<?x64x64xf32>) : (!dataflow.channel<!part>) -> ()
  dataflow.handler @take(%job: index, %x: tensor<?x64x64xf32>) -> tensor<64x64xf32> {
    %rows = tensor.extract_slice %x[%job, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<?x64x64xf32> to tensor<64x64xf32>
    %twice = arith.addf %rows, %rows : tensor<64x64xf32>
    dataflow.yield %twice : tensor<64x64xf32>
  }
  dataflow.handler @put(%job: index, %scale: tensor<?xf32>, %rows: tensor<64x64xf32>, %y: tensor<?x64x64xf32>) -> tensor<?x64x64xf32> {
    %s = tensor.extract %scale[%job] : tensor<?xf32>
    %by = tensor.splat %s : tensor<64x64xf32>
    %scaled = arith.mulf %rows, %by : tensor<64x64xf32>
    %r = tensor.insert_slice %scaled into %y[%job, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<64x64xf32> into tensor<?x64x64xf32>
    dataflow.yield %r : tensor<?x64x64xf32>
  }
}
