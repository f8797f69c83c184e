// Streams: rings of stages in shared memory, filled by the load warp and taken by the compute threads. A counter says how many
// tiles a role has taken or filled in this launch; stage and phase follow from it. Places are in bytes from the start of
// shared memory. Barriers of a ring: `depth` full ones (one arrival, and the bytes), then `depth` empty ones (one arrival a
// compute warp; in kernels with watchdog, a compute thread).

// What a role waits for: DFRT_WAIT_RING, stream * 256 + stage.
llvm.func internal @dfk_await_ring(%barriers: i32, %first: i32, %stage: i32, %phase: i32, %role: i32) {
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %c8 = arith.constant 8 : i32
  %none = arith.constant -1 : i32
  %offset = arith.shli %stage, %c3 : i32
  %at = arith.addi %barriers, %offset : i32
  %barrier = llvm.call @dfk_shared(%at) : (i32) -> !llvm.ptr<3>
  %stream = llvm.call @dfk_stream_of(%first) : (i32) -> i32
  %high = arith.shli %stream, %c8 : i32
  %object = arith.ori %high, %stage : i32
  %since = llvm.call @dfk_time() : () -> i64
  llvm.call @dfk_await_own(%barrier, %phase, %role, %c5, %none, %object) : (!llvm.ptr<3>, i32, i32, i32, i32, i32) -> ()
  llvm.call @dfk_note_wait(%since) : (i64) -> ()
  llvm.return
}

llvm.func internal @dfk_init(%at: i32, %arrivals: i32) {
  %barrier = llvm.call @dfk_shared(%at) : (i32) -> !llvm.ptr<3>
  nvvm.mbarrier.init %barrier, %arrivals : !llvm.ptr<3>, i32
  llvm.return
}

// The compute threads: waits for the next stage to be full. Its address in shared memory.
llvm.func internal @dfk_take_shared(%full: i32, %base: i32, %depth: i32, %stage_bytes: i32, %counter: !llvm.ptr) -> !llvm.ptr<3> {
  %c1 = arith.constant 1 : i32
  %count = llvm.load %counter : !llvm.ptr -> i32
  %stage = arith.remui %count, %depth : i32
  %phase = arith.divui %count, %depth : i32
  llvm.call @dfk_await_ring(%full, %full, %stage, %phase, %c1) : (i32, i32, i32, i32, i32) -> ()
  %offset = arith.muli %stage, %stage_bytes : i32
  %at = arith.addi %base, %offset : i32
  %tile = llvm.call @dfk_shared(%at) : (i32) -> !llvm.ptr<3>
  llvm.return %tile : !llvm.ptr<3>
}

llvm.func internal @dfk_take(%full: i32, %empty: i32, %base: i32, %depth: i32, %stage_bytes: i32, %counter: !llvm.ptr) -> !llvm.ptr {
  %tile = llvm.call @dfk_take_shared(%full, %base, %depth, %stage_bytes, %counter) : (i32, i32, i32, i32, !llvm.ptr) -> !llvm.ptr<3>
  %generic = llvm.addrspacecast %tile : !llvm.ptr<3> to !llvm.ptr
  llvm.return %generic : !llvm.ptr
}

// The same for a stream with a layout.
llvm.func internal @dfk_take_at(%full: i32, %empty: i32, %base: i32, %depth: i32, %stage_bytes: i32, %counter: !llvm.ptr) -> i32 {
  %tile = llvm.call @dfk_take_shared(%full, %base, %depth, %stage_bytes, %counter) : (i32, i32, i32, i32, !llvm.ptr) -> !llvm.ptr<3>
  %at = llvm.ptrtoint %tile : !llvm.ptr<3> to i32
  llvm.return %at : i32
}

// The compute threads: hands the stage back. Each warp does so when its own reads are over; it need not have met the others.
llvm.func internal @dfk_give(%empty: i32, %depth: i32, %counter: !llvm.ptr) {
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %count = llvm.load %counter : !llvm.ptr -> i32
  %stage = arith.remui %count, %depth : i32
  %offset = arith.shli %stage, %c3 : i32
  %at = arith.addi %empty, %offset : i32
  %barrier = llvm.call @dfk_shared(%at) : (i32) -> !llvm.ptr<3>
  llvm.call @dfk_sync_warp() : () -> ()
  %lane = llvm.call @dfk_lane() : () -> i32
  %arrives = llvm.call @dfk_arrives(%lane) : (i32) -> i1
  scf.if %arrives {
    nvvm.mbarrier.arrive %barrier : !llvm.ptr<3> -> i64
  }
  llvm.call @dfk_sync_warp() : () -> ()
  %next = arith.addi %count, %c1 : i32
  llvm.store %next, %counter : i32, !llvm.ptr
  llvm.return
}

// The load warp: waits for the next stage to be free and says how many bytes will arrive. The stage's place.
llvm.func internal @dfk_fill_begin(%full: i32, %empty: i32, %base: i32, %depth: i32, %stage_bytes: i32, %counter: !llvm.ptr,
                                   %bytes: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %count = llvm.load %counter : !llvm.ptr -> i32
  %stage = arith.remui %count, %depth : i32
  %use = arith.divui %count, %depth : i32
  // The first use finds the stage free.
  %before = arith.subi %use, %c1 : i32
  llvm.call @dfk_await_ring(%empty, %full, %stage, %before, %c0) : (i32, i32, i32, i32, i32) -> ()
  %offset = arith.shli %stage, %c3 : i32
  %at = arith.addi %full, %offset : i32
  %barrier = llvm.call @dfk_shared(%at) : (i32) -> !llvm.ptr<3>
  %lane = llvm.call @dfk_lane() : () -> i32
  %is0 = arith.cmpi eq, %lane, %c0 : i32
  scf.if %is0 {
    nvvm.mbarrier.arrive.expect_tx %barrier, %bytes : !llvm.ptr<3>, i32
  }
  llvm.call @dfk_sync_warp() : () -> ()
  %skip = arith.muli %stage, %stage_bytes : i32
  %place = arith.addi %base, %skip : i32
  llvm.return %place : i32
}

// What the L2 cache does with data that are read once, and with others.
llvm.func internal @dfk_policy_evict_first() -> i64 {
  %policy = llvm.inline_asm "createpolicy.fractional.L2::evict_first.b64 $0, 1.0;", "=l" : () -> i64
  llvm.return %policy : i64
}

llvm.func internal @dfk_policy_keep() -> i64 {
  %policy = llvm.inline_asm "createpolicy.fractional.L2::evict_normal.b64 $0, 1.0;", "=l" : () -> i64
  llvm.return %policy : i64
}

// The full barrier of the stage that is being filled.
llvm.func internal @dfk_filling(%full: i32, %depth: i32, %counter: !llvm.ptr) -> !llvm.ptr<3> {
  %c3 = arith.constant 3 : i32
  %count = llvm.load %counter : !llvm.ptr -> i32
  %stage = arith.remui %count, %depth : i32
  %offset = arith.shli %stage, %c3 : i32
  %at = arith.addi %full, %offset : i32
  %barrier = llvm.call @dfk_shared(%at) : (i32) -> !llvm.ptr<3>
  llvm.return %barrier : !llvm.ptr<3>
}

// Called by the whole load warp; the lane that is named has a copy to issue. Both sides are aligned to 16 bytes.
llvm.func internal @dfk_fill_run(%full: i32, %depth: i32, %counter: !llvm.ptr, %to: i32, %from: !llvm.ptr, %bytes: i32, %issuer: i32) {
  %lane = llvm.call @dfk_lane() : () -> i32
  %issues = arith.cmpi eq, %lane, %issuer : i32
  scf.if %issues {
    %policy = llvm.call @dfk_policy_evict_first() : () -> i64
    %barrier = llvm.call @dfk_filling(%full, %depth, %counter) : (i32, i32, !llvm.ptr) -> !llvm.ptr<3>
    %place = llvm.call @dfk_shared(%to) : (i32) -> !llvm.ptr<3>
    %cluster = llvm.addrspacecast %place : !llvm.ptr<3> to !llvm.ptr<7>
    %global = llvm.addrspacecast %from : !llvm.ptr to !llvm.ptr<1>
    nvvm.cp.async.bulk.shared.cluster.global %cluster, %global, %barrier, %bytes l2_cache_hint = %policy : !llvm.ptr<7>, !llvm.ptr<1>
  }
  llvm.return
}

// The same for data that are read again.
llvm.func internal @dfk_fill_run_keep(%full: i32, %depth: i32, %counter: !llvm.ptr, %to: i32, %from: !llvm.ptr, %bytes: i32, %issuer: i32) {
  %lane = llvm.call @dfk_lane() : () -> i32
  %issues = arith.cmpi eq, %lane, %issuer : i32
  scf.if %issues {
    %barrier = llvm.call @dfk_filling(%full, %depth, %counter) : (i32, i32, !llvm.ptr) -> !llvm.ptr<3>
    %place = llvm.call @dfk_shared(%to) : (i32) -> !llvm.ptr<3>
    %cluster = llvm.addrspacecast %place : !llvm.ptr<3> to !llvm.ptr<7>
    %global = llvm.addrspacecast %from : !llvm.ptr to !llvm.ptr<1>
    nvvm.cp.async.bulk.shared.cluster.global %cluster, %global, %barrier, %bytes : !llvm.ptr<7>, !llvm.ptr<1>
  }
  llvm.return
}

// Called by the whole load warp, of which lane 0 copies the box at these coordinates of a tensor map.
llvm.func internal @dfk_fill_tensor_1(%full: i32, %depth: i32, %counter: !llvm.ptr, %to: i32, %map: !llvm.ptr, %policy: i64,
                                      %x0: i32) {
  %c0 = arith.constant 0 : i32
  %lane = llvm.call @dfk_lane() : () -> i32
  %is0 = arith.cmpi eq, %lane, %c0 : i32
  scf.if %is0 {
    %barrier = llvm.call @dfk_filling(%full, %depth, %counter) : (i32, i32, !llvm.ptr) -> !llvm.ptr<3>
    %place = llvm.call @dfk_shared(%to) : (i32) -> !llvm.ptr<3>
    %cluster = llvm.addrspacecast %place : !llvm.ptr<3> to !llvm.ptr<7>
    nvvm.cp.async.bulk.tensor.shared.cluster.global %cluster, %map, %barrier, box[%x0] l2_cache_hint = %policy : !llvm.ptr<7>, !llvm.ptr
  }
  llvm.return
}

llvm.func internal @dfk_fill_tensor_2(%full: i32, %depth: i32, %counter: !llvm.ptr, %to: i32, %map: !llvm.ptr, %policy: i64,
                                      %x0: i32, %x1: i32) {
  %c0 = arith.constant 0 : i32
  %lane = llvm.call @dfk_lane() : () -> i32
  %is0 = arith.cmpi eq, %lane, %c0 : i32
  scf.if %is0 {
    %barrier = llvm.call @dfk_filling(%full, %depth, %counter) : (i32, i32, !llvm.ptr) -> !llvm.ptr<3>
    %place = llvm.call @dfk_shared(%to) : (i32) -> !llvm.ptr<3>
    %cluster = llvm.addrspacecast %place : !llvm.ptr<3> to !llvm.ptr<7>
    nvvm.cp.async.bulk.tensor.shared.cluster.global %cluster, %map, %barrier, box[%x0, %x1] l2_cache_hint = %policy : !llvm.ptr<7>, !llvm.ptr
  }
  llvm.return
}

llvm.func internal @dfk_fill_tensor_3(%full: i32, %depth: i32, %counter: !llvm.ptr, %to: i32, %map: !llvm.ptr, %policy: i64,
                                      %x0: i32, %x1: i32, %x2: i32) {
  %c0 = arith.constant 0 : i32
  %lane = llvm.call @dfk_lane() : () -> i32
  %is0 = arith.cmpi eq, %lane, %c0 : i32
  scf.if %is0 {
    %barrier = llvm.call @dfk_filling(%full, %depth, %counter) : (i32, i32, !llvm.ptr) -> !llvm.ptr<3>
    %place = llvm.call @dfk_shared(%to) : (i32) -> !llvm.ptr<3>
    %cluster = llvm.addrspacecast %place : !llvm.ptr<3> to !llvm.ptr<7>
    nvvm.cp.async.bulk.tensor.shared.cluster.global %cluster, %map, %barrier, box[%x0, %x1, %x2] l2_cache_hint = %policy : !llvm.ptr<7>, !llvm.ptr
  }
  llvm.return
}

llvm.func internal @dfk_fill_tensor_4(%full: i32, %depth: i32, %counter: !llvm.ptr, %to: i32, %map: !llvm.ptr, %policy: i64,
                                      %x0: i32, %x1: i32, %x2: i32, %x3: i32) {
  %c0 = arith.constant 0 : i32
  %lane = llvm.call @dfk_lane() : () -> i32
  %is0 = arith.cmpi eq, %lane, %c0 : i32
  scf.if %is0 {
    %barrier = llvm.call @dfk_filling(%full, %depth, %counter) : (i32, i32, !llvm.ptr) -> !llvm.ptr<3>
    %place = llvm.call @dfk_shared(%to) : (i32) -> !llvm.ptr<3>
    %cluster = llvm.addrspacecast %place : !llvm.ptr<3> to !llvm.ptr<7>
    nvvm.cp.async.bulk.tensor.shared.cluster.global %cluster, %map, %barrier, box[%x0, %x1, %x2, %x3] l2_cache_hint = %policy : !llvm.ptr<7>, !llvm.ptr
  }
  llvm.return
}

llvm.func internal @dfk_fill_tensor_5(%full: i32, %depth: i32, %counter: !llvm.ptr, %to: i32, %map: !llvm.ptr, %policy: i64,
                                      %x0: i32, %x1: i32, %x2: i32, %x3: i32, %x4: i32) {
  %c0 = arith.constant 0 : i32
  %lane = llvm.call @dfk_lane() : () -> i32
  %is0 = arith.cmpi eq, %lane, %c0 : i32
  scf.if %is0 {
    %barrier = llvm.call @dfk_filling(%full, %depth, %counter) : (i32, i32, !llvm.ptr) -> !llvm.ptr<3>
    %place = llvm.call @dfk_shared(%to) : (i32) -> !llvm.ptr<3>
    %cluster = llvm.addrspacecast %place : !llvm.ptr<3> to !llvm.ptr<7>
    nvvm.cp.async.bulk.tensor.shared.cluster.global %cluster, %map, %barrier, box[%x0, %x1, %x2, %x3, %x4] l2_cache_hint = %policy : !llvm.ptr<7>, !llvm.ptr
  }
  llvm.return
}

// All threads: the first warp behind the compute threads brings the tensor maps closer, which lie at %first in the parameter.
llvm.func internal @dfk_prefetch_maps(%p: !llvm.ptr, %first: i32, %count: i32) {
  %c7 = arith.constant 7 : i32
  %thread = llvm.call @dfk_thread() : () -> i32
  %threads = llvm.call @dfk_threads() : () -> i32
  %number = arith.subi %thread, %threads : i32
  %mine = arith.cmpi ult, %number, %count : i32
  scf.if %mine {
    %skip = arith.shli %number, %c7 : i32
    %offset = arith.addi %first, %skip : i32
    %map = llvm.getelementptr %p[%offset] : (!llvm.ptr, i32) -> !llvm.ptr, i8
    llvm.inline_asm has_side_effects "prefetch.tensormap [$0];", "l,~{memory}" %map : (!llvm.ptr) -> ()
  }
  llvm.return
}

llvm.func internal @dfk_fill_end(%counter: !llvm.ptr) {
  %c1 = arith.constant 1 : i32
  llvm.call @dfk_sync_warp() : () -> ()
  %count = llvm.load %counter : !llvm.ptr -> i32
  %next = arith.addi %count, %c1 : i32
  llvm.store %next, %counter : i32, !llvm.ptr
  llvm.return
}
