// Who a thread is, where memory begins, and the barrier of the compute threads.
//
// Facts that the conversion defines, one function each, which return a constant:
//   dfk_threads           compute threads of a CTA
//   dfk_reserved          bytes of shared memory in front of the slot arena
//   dfk_control_at        where the control block lies in shared memory (see Plan.mlir)
//   dfk_barriers_at       where the plan's barriers lie
//   dfk_private_at        where the memory lies that handlers and folds use
//   dfk_scratch_bytes     fixed part of the scratch of a CTA in global memory
//   dfk_is_ticket         the kernel draws tickets
//   dfk_is_async          the kernel has transports that the copy engine carries out
//   dfk_is_watched        waits are bounded
//   dfk_is_traced         times of instructions are recorded
//   dfk_has_streams       handlers have parts, and the load warp has work
//   dfk_streams           how many streams there are
// and functions that it generates:
//   dfk_dispatch          runs the handlers of an instruction
//   dfk_dispatch_load     runs their load parts
//   dfk_begin_rings       initialises the barriers of all rings
//   dfk_stream_of         which stream has these full barriers

// All shared memory is dynamic: reserved bytes, then the slot arena.
llvm.mlir.global external @dsmem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

llvm.func internal @dfk_shared(%offset: i32) -> !llvm.ptr<3> {
  %base = llvm.mlir.addressof @dsmem : !llvm.ptr<3>
  %at = llvm.getelementptr %base[%offset] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  llvm.return %at : !llvm.ptr<3>
}

llvm.func internal @dfk_private() -> !llvm.ptr {
  %at = llvm.call @dfk_private_at() : () -> i32
  %place = llvm.call @dfk_shared(%at) : (i32) -> !llvm.ptr<3>
  %generic = llvm.addrspacecast %place : !llvm.ptr<3> to !llvm.ptr
  llvm.return %generic : !llvm.ptr
}

llvm.func internal @dfk_thread() -> i32 {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  llvm.return %tid : i32
}

// Number of this warp in the CTA, known to be the same in all its lanes.
llvm.func internal @dfk_warp() -> i32 {
  %c5 = arith.constant 5 : i32
  %all = arith.constant -1 : i32
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %mine = arith.shrui %tid, %c5 : i32
  %warp = nvvm.redux.sync or %mine, %all : i32 -> i32
  llvm.return %warp : i32
}

llvm.func internal @dfk_lane() -> i32 {
  %c31 = arith.constant 31 : i32
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %lane = arith.andi %tid, %c31 : i32
  llvm.return %lane : i32
}

// Whether this lane arrives at a barrier when its warp has met. One arrival is enough for all lanes, but tools that look for
// races know only of the arriving thread that its accesses are over: in watched kernels all lanes arrive, and the barrier expects
// as many.
llvm.func internal @dfk_arrives(%lane: i32) -> i1 {
  %c0 = arith.constant 0 : i32
  %is0 = arith.cmpi eq, %lane, %c0 : i32
  %watched = llvm.call @dfk_is_watched() : () -> i1
  %arrives = arith.ori %is0, %watched : i1
  llvm.return %arrives : i1
}

llvm.func internal @dfk_sync_warp() {
  %all = arith.constant -1 : i32
  nvvm.bar.warp.sync %all : i32
  llvm.return
}

// Barrier 1 belongs to the compute threads.
llvm.func internal @dfk_sync() {
  %c1 = arith.constant 1 : i32
  %threads = llvm.call @dfk_threads() : () -> i32
  nvvm.barrier id = %c1 number_of_threads = %threads
  llvm.return
}

llvm.func internal @dfk_clock() -> i64 {
  %now = llvm.inline_asm has_side_effects "mov.u64 $0, %clock64;", "=l,~{memory}" : () -> i64
  llvm.return %now : i64
}

// The pointer at this place of the parameter (KernelABI.h: dfrt_kernel_parameters).
llvm.func internal @dfk_parameter(%p: !llvm.ptr, %offset: i32) -> !llvm.ptr<1> {
  %at = llvm.getelementptr %p[%offset] : (!llvm.ptr, i32) -> !llvm.ptr, i8
  %value = llvm.load %at : !llvm.ptr -> !llvm.ptr<1>
  llvm.return %value : !llvm.ptr<1>
}

// The scratch of this CTA in global memory.
llvm.func internal @dfk_scratch(%p: !llvm.ptr) -> !llvm.ptr {
  %c40 = arith.constant 40 : i32
  %c48 = arith.constant 48 : i32
  %scratch = llvm.call @dfk_parameter(%p, %c40) : (!llvm.ptr, i32) -> !llvm.ptr<1>
  %at = llvm.getelementptr %p[%c48] : (!llvm.ptr, i32) -> !llvm.ptr, i8
  %stride = llvm.load %at : !llvm.ptr -> i64
  %cta = nvvm.read.ptx.sreg.ctaid.x : i32
  %cta64 = arith.extui %cta : i32 to i64
  %offset = arith.muli %cta64, %stride : i64
  %mine = llvm.getelementptr %scratch[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %generic = llvm.addrspacecast %mine : !llvm.ptr<1> to !llvm.ptr
  llvm.return %generic : !llvm.ptr
}

// Where collected records are stacked: behind the fixed part of the scratch.
llvm.func internal @dfk_stacks(%p: !llvm.ptr) -> !llvm.ptr {
  %scratch = llvm.call @dfk_scratch(%p) : (!llvm.ptr) -> !llvm.ptr
  %bytes = llvm.call @dfk_scratch_bytes() : () -> i64
  %stacks = llvm.getelementptr %scratch[%bytes] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  llvm.return %stacks : !llvm.ptr
}
