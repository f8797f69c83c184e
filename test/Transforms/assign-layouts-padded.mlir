// RUN: df-opt %S/../../examples/gqa-decode/gqa_decode.mlir --dataflow-prepare="params=group=3,dim=64" --dataflow-split-roles --dataflow-assign-layouts --dataflow-verify-kernel | FileCheck %s
// RUN: df-opt %S/../../examples/gqa-decode/gqa_decode.mlir --dataflow-prepare="params=group=16,draft=4" --dataflow-split-roles --dataflow-assign-layouts --dataflow-verify-kernel | FileCheck %s --check-prefix=WHOLE
// A number of rows that is known and no multiple of 8 is padded in its stage; slices of generic operations are computed from slices.

// Three rows come to a stage of eight.
// CHECK: dataflow.stream @q depth {{.*}} of tensor<8x64xf16> layout
// CHECK: dataflow.part @attend_load
// CHECK: %[[THREE:.*]] = arith.constant 3 : index
// CHECK: dataflow.fill @q{{.*}} [1, 1, %[[THREE]], 64]
// CHECK: dataflow.part @attend_compute
// CHECK-SAME: attributes {fragments}
// CHECK: %[[STAGE:.*]] = dataflow.take @q : tensor<8x64xf16, #dataflow.shared<swizzle = 128
// CHECK: %[[ROWS:.*]] = tensor.extract_slice %[[STAGE]]{{.*}} to tensor<?x64xf16
// CHECK: %[[PADDED:.*]] = tensor.pad %[[ROWS]]
// CHECK: dataflow.dot {{.*}}, %[[PADDED]] contract 1

// Nothing is padded where the rows are whole; the reciprocals of a slice of rows are those of the rows.
// WHOLE: dataflow.part @attend_compute
// WHOLE-NOT: tensor.pad
// WHOLE: dataflow.part @merge_compute
// WHOLE: dataflow.part @normalize_sliced_compute
// WHOLE-SAME: attributes {fragments, warp}
// WHOLE: arith.divf {{.*}} : f32
