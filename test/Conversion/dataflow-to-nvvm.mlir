// RUN: df-opt %source/examples/hello/ragged_sum.mlir --dataflow-compile | FileCheck %s
// RUN: df-opt %source/examples/hello/ragged_sum.mlir --dataflow-compile="specializations=ticket watchdog" | FileCheck %s --check-prefix=TICKET
// RUN: df-opt %source/examples/hello/ragged_sum.mlir --dataflow-prepare \
// RUN:   --convert-dataflow-to-nvvm="specializations=static threads=128 max-barriers=16" | FileCheck %s --check-prefix=SMALL
// RUN: df-opt %source/examples/mla-decode/mla_decode.mlir --dataflow-prepare \
// RUN:   --convert-dataflow-to-nvvm="specializations=static private-bytes=1024" -o /dev/null 2>&1 | FileCheck %s --check-prefix=GLOBAL
// RUN: df-opt %source/examples/mla-decode/mla_decode.mlir --dataflow-compile="specializations=static streams=true fragments=false" | FileCheck %s --check-prefix=STREAMS
// RUN: df-opt %source/examples/mla-decode/mla_decode.mlir --dataflow-compile="specializations=static streams=true" | FileCheck %s --check-prefix=FRAGMENTS
// RUN: df-opt %source/examples/mla-decode/mla_decode.mlir --dataflow-prepare --dataflow-split-roles="variants=generic,tiles,exact,sliced" \
// RUN:   --dataflow-assign-layouts --convert-dataflow-to-nvvm="specializations=static" | FileCheck %s --check-prefix=TILES
// A kernel for each specialisation stands behind the program, with what a launch must know of it.

// CHECK: dataflow.program @ragged_sum
// CHECK: gpu.module @ragged_sum_static [#nvvm.target<chip = "sm_90a"
// CHECK-SAME: dataflow.kernel = {argument_alignment = array<i64: 4, 4, 4>, barrier_bytes = {{[0-9]+}} : i64, disciplines = 1 : i64, exchange_bytes = 0 : i64, handler_bytes = {{[0-9]+}} : i64, max_barriers = 512 : i64, max_cluster = 16 : i64
// CHECK-SAME: parameter_bytes = 384 : i64, program = "ragged_sum", remarks = ["no streams: handlers load what they use", "no fragments: tiles lie in memory"]
// CHECK-SAME: symbol = "ragged_sum_static", threads = 384 : i64, timeline = false, transports = 30 : i64, watchdog = false}
// Each function of the library is there once, and only if it is needed; handlers and stages follow.
// CHECK: llvm.mlir.global external @dsmem()
// CHECK-NOT: @dfk_take(
// CHECK: llvm.func internal @dfk_dispatch(%{{.*}}: !llvm.ptr, %{{.*}}: i32, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i32, %{{.*}}: i32) attributes {always_inline, convergent}
// CHECK: scf.index_switch
// CHECK: case 0 {
// CHECK: llvm.call @dfk_stage_0_0
// CHECK: llvm.func @ragged_sum_static(%{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<384 x i8>, nvvm.grid_constant})
// CHECK-SAME: nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384, 1, 1>
// CHECK: llvm.call @dfk_kernel(
// CHECK: gpu.module @ragged_sum_ticket
// CHECK-SAME: disciplines = 2 : i64
// CHECK-SAME: transports = 10 : i64

// TICKET-NOT: gpu.module @ragged_sum_static
// TICKET: gpu.module @ragged_sum_ticket
// TICKET-SAME: watchdog = true

// SMALL: max_barriers = 16 : i64
// SMALL-SAME: reserved_bytes = 640 : i64
// SMALL-SAME: threads = 256 : i64

// GLOBAL: remark: kernel 'mla_decode_static': scratch of {{[0-9]+}} bytes a CTA lies in global memory; handlers and folds have 1024 bytes of shared memory

// Parts stand for handlers that have them; what streams are filled from has to be aligned.
// STREAMS: gpu.module @mla_decode_static
// STREAMS-SAME: argument_alignment = array<i64: 16, 16, 4, 4, 2, 4>
// STREAMS-SAME: remarks = ["2 streams: q (2 x 36864 bytes) pages (2 x 73728 bytes); tiles are fetched ahead for 'attend$0'", "no fragments: tiles lie in memory"
// STREAMS: llvm.func internal @dfk_dispatch_load
// STREAMS: llvm.call @dfk_load_stage_0_0
// STREAMS: llvm.func internal @dfk_begin_rings
// STREAMS: llvm.call @dfk_init

// Tensor maps and loads of 16 bytes ask for aligned arguments; the parts that are laid out are named.
// FRAGMENTS: gpu.module @mla_decode_static
// FRAGMENTS-SAME: argument_alignment = array<i64: 16, 16, 16, 4, 16, 16>
// FRAGMENTS-SAME: maps = [{argument = 0 : i64
// FRAGMENTS-SAME: remarks = ["2 streams: q (2 x 36864 bytes, tensor map) pages (2 x 73728 bytes, tensor map); tiles are fetched ahead for 'attend$0'", "fragments: 'attend$0' and 'normalize' behind it ({{[0-9]+}} bytes between warps), 'merge$0', 'merge$1', 'normalize$0', 'normalize$1'"

// Variants for tile counts run the generic code, unless the kernel has parts of them.
// FRAGMENTS: llvm.func internal @dfk_dispatch(
// FRAGMENTS-NOT: @dfk_stage_0_1
// TILES: tiles are fetched ahead for 'attend$0' 'attend$1' 'attend$2' 'attend$3'"
// TILES: llvm.func internal @dfk_dispatch(
// TILES: llvm.call @dfk_stage_0_1
// TILES: llvm.call @dfk_stage_0_3
