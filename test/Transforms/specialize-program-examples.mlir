// RUN: df-opt %S/../../examples/mla-decode/mla_decode.mlir --dataflow-specialize-program="params=heads=16,element=bf16,page=32" --dataflow-verify-program | FileCheck %s -DH=16 -DA=16 -DT=32 -DE=bf16
// RUN: df-opt %S/../../examples/mla-decode/mla_decode.mlir --dataflow-specialize-program --dataflow-verify-program | FileCheck %s -DH=32 -DA=32 -DT=64 -DE=f16
// RUN: df-opt %S/../../examples/mla-decode/mla_decode.mlir --dataflow-specialize-program="params=heads=64,element=f32" --dataflow-verify-program | FileCheck %s -DH=64 -DA=64 -DT=64 -DE=f32
// RUN: df-opt %S/../../examples/mla-decode/mla_decode.mlir --dataflow-specialize-program="params=heads=128,element=bf16" --dataflow-verify-program | FileCheck %s -DH=64 -DA=128 -DT=64 -DE=bf16
// RUN: df-opt %S/../../examples/mla-decode/mla_decode.mlir --dataflow-specialize-program="params=heads=1,element=f8E4M3FN,page=32" --dataflow-verify-program | FileCheck %s -DH=1 -DA=1 -DT=32 -DE=f8E4M3FN
// RUN: df-opt %S/../../examples/mla-decode/mla_decode_dense.mlir --dataflow-specialize-program="params=heads=16,element=bf16,tile=32" --dataflow-verify-program | FileCheck %s -DH=16 -DA=16 -DT=32 -DE=bf16
// RUN: df-opt %S/../../examples/mla-decode/mla_decode_dense.mlir --dataflow-specialize-program --dataflow-verify-program | FileCheck %s -DH=32 -DA=32 -DT=64 -DE=f16
// RUN: df-opt %S/../../examples/mla-decode/mla_decode_dense.mlir --dataflow-specialize-program="params=heads=64,element=f32" --dataflow-verify-program | FileCheck %s -DH=64 -DA=64 -DT=64 -DE=f32
// RUN: df-opt %S/../../examples/mla-decode/mla_decode_dense.mlir --dataflow-specialize-program="params=heads=128,element=bf16" --dataflow-verify-program | FileCheck %s -DH=128 -DA=128 -DT=64 -DE=bf16
// RUN: df-opt %S/../../examples/hello/ragged_sum.mlir --dataflow-specialize-program --dataflow-verify-program | FileCheck %s --check-prefix=HELLO
// Each example serves all sizes: no dynamic shape is left but for launch shapes and the last, partial tile. Heads (A) beyond 64 are
// several blocks of equal size (H).

// CHECK: dataflow.range @tokens of @requests length %{{.*}}[request] tile [[T]] :
// CHECK: dataflow.map @attend
// CHECK-SAME: !dataflow.channel<!dataflow.record<max: tensor<[[H]]xf32>, sum: tensor<[[H]]xf32>, acc: tensor<[[H]]x512xf32>>, pieces>
// CHECK: dataflow.handler @attend
// CHECK: scf.for {{.*}} -> (tensor<[[H]]xf32>, tensor<[[H]]xf32>, tensor<[[H]]x512xf32>)
// CHECK-NOT: tensor.cast
// CHECK: linalg.contract {{.*}} ins({{.*}} : tensor<[[H]]x{{[0-9]+}}x[[E]]>, tensor<[[T]]x{{[0-9]+}}x[[E]]>) outs({{.*}} : tensor<[[H]]x[[T]]xf32>)
// CHECK-NOT: tensor.cast
// CHECK: linalg.contract {{.*}} ins({{.*}} : tensor<[[H]]x[[T]]x[[E]]>, tensor<[[T]]x512x[[E]]>) outs({{.*}} : tensor<[[H]]x512xf32>)
// CHECK-NOT: tensor.cast
// CHECK: tensor.insert_slice {{.*}} [1, [[H]], 512] [1, 1, 1] : tensor<[[H]]x512x[[E]]> into tensor<?x[[A]]x512x[[E]]>

// HELLO: dataflow.map @sum_piece
