// RUN: df-opt %source/examples/hello/ragged_sum.mlir --dataflow-plan="values=lengths=1000,300,0,5000 ctas=4 cluster-size=2" \
// RUN:   | FileCheck %s --check-prefix=HELLO
// RUN: df-opt %source/examples/hello/ragged_sum.mlir --dataflow-plan="values=lengths=1000,300,0,5000 ctas=4" \
// RUN:   --mlir-print-ir-after-all -o /dev/null 2>&1 | FileCheck %s --check-prefix=STEPS
// RUN: df-opt %source/examples/mla-decode/mla_decode.mlir \
// RUN:   --dataflow-plan="params=heads=16,element=bf16 values=lengths=1000,300,64,0 ctas=8 transport=global" \
// RUN:   | FileCheck %s --check-prefix=DECODE
// RUN: df-opt %source/examples/mla-decode/mla_decode.mlir --dataflow-prepare="params=heads=16" | FileCheck %s --check-prefix=PREPARE
// RUN: df-opt %source/examples/hello/ragged_sum.mlir --dataflow-plan="values=lengths=700,300,2 ctas=4 solver=tickets" \
// RUN:   | FileCheck %s --check-prefix=TICKET
// RUN: not df-opt %source/examples/hello/ragged_sum.mlir --dataflow-plan="values=lengths=1" 2>&1 | FileCheck %s --check-prefix=TOPOLOGY
// RUN: not df-opt %source/examples/hello/ragged_sum.mlir --dataflow-plan="values=lengths=1 reserved-bytes=300000" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=RESERVED
// The whole way from an authored program to a verified schedule, with every step in readable IR.

// HELLO: dataflow.program @ragged_sum
// HELLO: dataflow.schedule @plan of @ragged_sum on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "stream"
// HELLO: dataflow.slot @s0 of "sum_piece" in shared cta 0
// HELLO: dataflow.queue cta 0 {
// HELLO-NEXT: dataflow.instruction "sum_piece"
// The empty row is one piece without tiles.
// HELLO-DAG: dataflow.instruction "sum_piece" task 2 tiles [0, 0]
// HELLO-DAG: dataflow.instruction "add" task 3 {{.*}}wait
// HELLO-DAG: dataflow.instruction "store" task 3

// STEPS: IR Dump After {{.*}}(dataflow-specialize-program)
// STEPS: IR Dump After {{.*}}(dataflow-verify-program)
// STEPS: IR Dump After {{.*}}(dataflow-specialize-handlers)
// STEPS: IR Dump After {{.*}}(dataflow-bind-inputs)
// STEPS: dataflow.inputs = {lengths = dense<[1000, 300, 0, 5000]>
// STEPS: IR Dump After {{.*}}(dataflow-attach-topology)
// STEPS: dataflow.topology = #dataflow.topology<ctas = 4>
// STEPS: IR Dump After {{.*}}(dataflow-schedule-program)
// STEPS: dataflow.slot @s0 of "sum_piece" cta 0
// STEPS: IR Dump After {{.*}}(dataflow-select-transport)
// STEPS: dataflow.transfer
// STEPS: IR Dump After {{.*}}(dataflow-plan-slots)
// STEPS: dataflow.slot @s0 of "sum_piece" in shared cta 0
// STEPS: IR Dump After {{.*}}(dataflow-insert-releases)
// STEPS: IR Dump After {{.*}}(dataflow-verify-schedule)

// DECODE: tensor<16x512xf32>
// DECODE: dataflow.schedule @plan of @mla_decode
// The first request is split; each of its CTAs finishes a share of the slices.
// DECODE: dataflow.instruction "merge" variant 1 task 0 slices [0, {{[0-9]+}}] ins
// DECODE-NOT: cluster_shared
// DECODE: via #dataflow.global

// PREPARE-NOT: dataflow.param
// PREPARE: dataflow.handler @attend_tiles1
// PREPARE-NOT: dataflow.schedule

// TICKET: ticket solver "tickets"
// TICKET: dataflow.queue ticket
// TICKET: draw

// TOPOLOGY: error: program @ragged_sum: has no 'dataflow.topology'; run dataflow-attach-topology first

// RESERVED: topology reserves 300000 bytes of 232448 bytes of shared memory
