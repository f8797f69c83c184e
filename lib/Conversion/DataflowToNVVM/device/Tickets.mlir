// Lists from which CTAs draw. The load warp draws and hands out; the compute threads take.

// The load warp, in kernels with tickets: draws, and hands the draws out one ahead of those who execute them. Fills the rings
// for each draw. The first ticket needs nothing of the other warps: the warp waits for them, and for the epoch, behind its draw.
llvm.func internal @dfk_draw(%p: !llvm.ptr, %counters: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %c8 = arith.constant 8 : i32
  %c11 = arith.constant 11 : i32
  %c16 = arith.constant 16 : i32
  %c24 = arith.constant 24 : i32
  %c32 = arith.constant 32 : i32
  %c36 = arith.constant 36 : i32
  %c128 = arith.constant 128 : i32
  %c272 = arith.constant 272 : i32
  %none = arith.constant -1 : i32
  %plan = llvm.call @dfk_parameter(%p, %c0) : (!llvm.ptr, i32) -> !llvm.ptr<1>
  %draws = llvm.call @dfk_load(%plan, %c272) : (!llvm.ptr<1>, i32) -> i32
  %cta = nvvm.read.ptx.sreg.ctaid.x : i32
  %ctas = nvvm.read.ptx.sreg.nctaid.x : i32
  %base = llvm.call @dfk_parameter(%p, %c24) : (!llvm.ptr, i32) -> !llvm.ptr<1>
  %there = llvm.call @dfk_control(%c16) : (i32) -> !llvm.ptr<3>
  %taken = llvm.call @dfk_control(%c24) : (i32) -> !llvm.ptr<3>
  %first_at = llvm.call @dfk_control(%c32) : (i32) -> !llvm.ptr<3>
  %count_at = llvm.call @dfk_control(%c36) : (i32) -> !llvm.ptr<3>
  %lane = llvm.call @dfk_lane() : () -> i32
  %is0 = arith.cmpi eq, %lane, %c0 : i32
  %last:3 = scf.while (%use = %c0) : (i32) -> (i32, i32, i32) {
    // Use 0 finds the place free, and its ticket needs no draw.
    %before = arith.subi %use, %c1 : i32
    llvm.call @dfk_await_own(%taken, %before, %c0, %c5, %none, %c1) : (!llvm.ptr<3>, i32, i32, i32, i32, i32) -> ()
    %is_second = arith.cmpi eq, %use, %c1 : i32
    scf.if %is_second {
      nvvm.cluster.wait
    }
    %again = arith.cmpi ne, %use, %c0 : i32
    %draws_now = arith.andi %again, %is0 : i1
    %given = scf.if %draws_now -> i32 {
      %epoch = llvm.call @dfk_epoch() : () -> i32
      %parity = arith.andi %epoch, %c1 : i32
      %offset = arith.shli %parity, %c7 : i32
      %counter = llvm.getelementptr %base[%offset] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
      %0 = llvm.atomicrmw add %counter, %c1 syncscope("device") monotonic : !llvm.ptr<1>, i32
      %1 = arith.addi %ctas, %0 : i32
      scf.yield %1 : i32
    } else {
      scf.yield %cta : i32
    }
    %ticket = llvm.call @dfk_word(%given, %c0) : (i32, i32) -> i32
    %valid = arith.cmpi ult, %ticket, %draws : i32
    %first_count:2 = scf.if %valid -> (i32, i32) {
      %entry = llvm.call @dfk_entry(%p, %c11, %ticket, %c8) : (!llvm.ptr, i32, i32, i32) -> !llvm.ptr<1>
      %first = llvm.call @dfk_load(%entry, %c0) : (!llvm.ptr<1>, i32) -> i32
      %count = llvm.call @dfk_load(%entry, %c4) : (!llvm.ptr<1>, i32) -> i32
      scf.yield %first, %count : i32, i32
    } else {
      scf.yield %c0, %c0 : i32, i32
    }
    // The instruction is wanted by all roles. Behind the last draw there is EXIT, or another one.
    %instruction = llvm.call @dfk_entry(%p, %c1, %first_count#0, %c128) : (!llvm.ptr, i32, i32, i32) -> !llvm.ptr<1>
    llvm.inline_asm has_side_effects "prefetch.global.L1 [$0];", "l" %instruction : (!llvm.ptr<1>) -> ()
    scf.if %is0 {
      llvm.store %first_count#0, %first_at {alignment = 4 : i64} : i32, !llvm.ptr<3>
      llvm.store %first_count#1, %count_at {alignment = 4 : i64} : i32, !llvm.ptr<3>
      nvvm.mbarrier.arrive %there : !llvm.ptr<3> -> i64
    }
    llvm.call @dfk_sync_warp() : () -> ()
    scf.condition(%valid) %use, %first_count#0, %first_count#1 : i32, i32, i32
  } do {
  ^bb0(%use: i32, %first: i32, %count: i32):
    %streams = llvm.call @dfk_has_streams() : () -> i1
    %w0 = llvm.call @dfk_instruction(%p, %first) : (!llvm.ptr, i32) -> i32
    %done = scf.for %i = %c0 to %count step %c1 iter_args(%w = %w0) -> (i32) : i32 {
      // The next one is on its way meanwhile.
      %following = arith.addi %i, %c1 : i32
      %index = arith.addi %first, %following : i32
      %early = llvm.call @dfk_instruction(%p, %index) : (!llvm.ptr, i32) -> i32
      scf.if %streams {
        %begin = llvm.call @dfk_time() : () -> i64
        llvm.call @dfk_dispatch_load(%p, %w, %counters) : (!llvm.ptr, i32, !llvm.ptr) -> ()
        %filled = llvm.call @dfk_time() : () -> i64
        llvm.call @dfk_record(%p, %w, %begin, %begin, %filled, %filled) : (!llvm.ptr, i32, i64, i64, i64, i64) -> ()
      }
      // In kernels with queues, another warp does this.
      llvm.call @dfk_prefetch_instruction(%p, %w) : (!llvm.ptr, i32) -> ()
      scf.yield %early : i32
    }
    %next = arith.addi %use, %c1 : i32
    scf.yield %next : i32
  }
  %never = arith.cmpi eq, %last#0, %c0 : i32
  scf.if %never {
    nvvm.cluster.wait
  }
  llvm.return
}

// The compute threads take the draw number %use: the place of its first instruction and how many there are; 0: no more draws.
// One lane of a warp reads for all, and says itself that it has read.
llvm.func internal @dfk_take_draw(%use: i32) -> !llvm.struct<(i32, i32)> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c16 = arith.constant 16 : i32
  %c24 = arith.constant 24 : i32
  %c32 = arith.constant 32 : i32
  %c36 = arith.constant 36 : i32
  %none = arith.constant -1 : i32
  %there = llvm.call @dfk_control(%c16) : (i32) -> !llvm.ptr<3>
  %taken = llvm.call @dfk_control(%c24) : (i32) -> !llvm.ptr<3>
  %first_at = llvm.call @dfk_control(%c32) : (i32) -> !llvm.ptr<3>
  %count_at = llvm.call @dfk_control(%c36) : (i32) -> !llvm.ptr<3>
  %lane = llvm.call @dfk_lane() : () -> i32
  %is0 = arith.cmpi eq, %lane, %c0 : i32
  %read:2 = scf.if %is0 -> (i32, i32) {
    llvm.call @dfk_await_own(%there, %use, %c1, %c5, %none, %c0) : (!llvm.ptr<3>, i32, i32, i32, i32, i32) -> ()
    %0 = llvm.load volatile %first_at {alignment = 4 : i64} : !llvm.ptr<3> -> i32
    %1 = llvm.load volatile %count_at {alignment = 4 : i64} : !llvm.ptr<3> -> i32
    nvvm.mbarrier.arrive %taken : !llvm.ptr<3> -> i64
    scf.yield %0, %1 : i32, i32
  } else {
    scf.yield %c0, %c0 : i32, i32
  }
  %first = llvm.call @dfk_word(%read#0, %c0) : (i32, i32) -> i32
  %count = llvm.call @dfk_word(%read#1, %c0) : (i32, i32) -> i32
  %poison = llvm.mlir.poison : !llvm.struct<(i32, i32)>
  %2 = llvm.insertvalue %first, %poison[0] : !llvm.struct<(i32, i32)>
  %3 = llvm.insertvalue %count, %2[1] : !llvm.struct<(i32, i32)>
  llvm.return %3 : !llvm.struct<(i32, i32)>
}
