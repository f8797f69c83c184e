// RUN: df-opt %source/examples/fused-moe/fused_moe_core.mlir --dataflow-plan="params=hidden=512,width=256,rows=16 values=expert[5];first[5];valid=16,3,9,16,1;weight[5x16];x[90x512];gate_up[4x2x256x512];down[4x512x256];y[74x512] ctas=132" | FileCheck %s
// RUN: df-opt %source/examples/fused-moe/fused_moe_core.mlir --dataflow-plan="params=hidden=512,width=256,rows=16 values=expert[5];first[5];valid=16,3,9,16,1;weight[5x16];x[90x512];gate_up[4x2x256x512];down[4x512x256];y[74x512] ctas=120 cluster-size=8" | FileCheck %s
// RUN: df-opt %source/examples/fused-moe/fused_moe_core.mlir --dataflow-plan="params=hidden=512,width=256,rows=16 values=expert[5];first[5];valid=16,3,9,16,1;weight[5x16];x[90x512];gate_up[4x2x256x512];down[4x512x256];y[74x512] ctas=112 cluster-size=16" | FileCheck %s
// RUN: df-opt %source/examples/fused-moe/fused_moe_core.mlir --dataflow-plan="params=hidden=512,width=256,rows=16 values=expert[5];first[5];valid=16,3,9,16,1;weight[5x16];x[90x512];gate_up[4x2x256x512];down[4x512x256];y[74x512] ctas=78" | FileCheck %s
// RUN: df-opt %source/examples/fused-moe/fused_moe_core.mlir --dataflow-plan="params=hidden=512,width=256,rows=16 values=expert[5];first[5];valid=16,3,9,16,1;weight[5x16];x[90x512];gate_up[4x2x256x512];down[4x512x256];y[74x512] ctas=148 solver=tickets" | FileCheck %s
// RUN: df-opt %source/examples/fused-moe/fused_moe.mlir --dataflow-plan="params=hidden=64,width=64,rows=4,group=32 values=expert[3];valid=4,4,2;token[3x4];weight[3x4];place[5x2];x[5x64];x_scale[5x2];gate_up[4x2x64x64];gate_up_scale[4x2x2x2];down[4x64x64];down_scale[4x2x2];y[5x1x2x32] ctas=4" | FileCheck %s --check-prefix=FULL
// RUN: df-opt %source/examples/fused-moe/fused_moe.mlir --dataflow-plan="params=hidden=64,width=64,rows=4,group=32 values=expert[3];valid=4,4,2;token[3x4];weight[3x4];place[5x2];x[5x64];x_scale[5x2];gate_up[4x2x64x64];gate_up_scale[4x2x2x2];down[4x64x64];down_scale[4x2x2];y[5x1x2x32] ctas=120 cluster-size=8" | FileCheck %s --check-prefix=FULL
// RUN: df-opt %source/examples/fused-moe/fused_moe.mlir --dataflow-plan="params=hidden=64,width=64,rows=4,group=32 values=expert[3];valid=4,4,2;token[3x4];weight[3x4];place[5x2];x[5x64];x_scale[5x2];gate_up[4x2x64x64];gate_up_scale[4x2x2x2];down[4x64x64];down_scale[4x2x2];y[5x1x2x32] ctas=3 solver=tickets" | FileCheck %s --check-prefix=FULL
// RUN: df-opt %source/examples/fused-moe/fused_moe_core.mlir --dataflow-plan="params=hidden=512,width=256,rows=64 values=expert[5];first[5];valid=5,16,17,40,64;weight[5x64];x[206x512];gate_up[4x2x256x512];down[4x512x256];y[142x512] ctas=132" | FileCheck %s --check-prefix=ROWS
// Plans of two products with an exchange between them pass the verifier on devices of every kind: a tile of the second product reads
// both tiles of its block's first one.

// CHECK: dataflow.schedule @plan of @fused_moe_core
// CHECK: dataflow.instruction "up" task
// CHECK: dataflow.instruction "down" task {{[0-9]+}} tiles {{.*}} ins [@s{{[0-9]+}}{{.*}}, @s{{[0-9]+}}

// A tile of the sum reads the columns of all three blocks; which rows of them it adds up the plan does not know.
// FULL: dataflow.schedule @plan of @fused_moe
// FULL: dataflow.instruction "sum" task 0 ins [@s{{[0-9]+}}{{[^,]*}}, @s{{[0-9]+}}{{[^,]*}}, @s{{[0-9]+}}{{[^,]*}}]

// Blocks run the handlers for as few rows as they have.
// ROWS-DAG: dataflow.instruction "up" variant 1 task 0 tiles
// ROWS-DAG: dataflow.instruction "up" variant 1 task 2 tiles
// ROWS-DAG: dataflow.instruction "up" task 3 tiles
// ROWS-DAG: dataflow.instruction "down" variant 1 task 0 tiles
// ROWS-DAG: dataflow.instruction "down" task 4 tiles
