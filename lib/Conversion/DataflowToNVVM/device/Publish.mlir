// Records that are published where they were written: a release of their flags is all that has to be sent, but it waits until
// memory has what all threads of the CTA wrote. A warp that has nothing else to do waits for that, and the compute threads go on
// with the next instruction.
//
// They leave the flags in the control block, one a lane, before they begin with the record. Each of their warps arrives at one
// barrier when its part of the record is written; at the other, the publishing warp says that it has read the flags. So there is
// one record at most that it does not know of, and neither side is a phase ahead of what the other looks at. Between two records
// the compute threads meet.

// All compute threads: %flag is the flag of this lane's transfer, -1 without, and -2 in all lanes: there is nothing more. Warp 0
// leaves them, as soon as the last ones were read.
llvm.func internal @dfk_leave_flags(%counters: !llvm.ptr, %flag: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %c72 = arith.constant 72 : i32
  %c80 = arith.constant 80 : i32
  %none = arith.constant -1 : i32
  %warp = llvm.call @dfk_warp() : () -> i32
  %writes = arith.cmpi eq, %warp, %c0 : i32
  scf.if %writes {
    %read = llvm.call @dfk_control(%c72) : (i32) -> !llvm.ptr<3>
    %cell = llvm.call @dfk_cell(%counters, %c3) : (!llvm.ptr, i32) -> !llvm.ptr
    %use = llvm.load %cell : !llvm.ptr -> i32
    // Use 0 finds the place free.
    %before = arith.subi %use, %c1 : i32
    llvm.call @dfk_await_own(%read, %before, %c1, %c5, %none, %c1) : (!llvm.ptr<3>, i32, i32, i32, i32, i32) -> ()
    %lane = llvm.call @dfk_lane() : () -> i32
    %offset = arith.shli %lane, %c2 : i32
    %at = arith.addi %c80, %offset : i32
    %place = llvm.call @dfk_control(%at) : (i32) -> !llvm.ptr<3>
    llvm.store volatile %flag, %place {alignment = 4 : i64} : i32, !llvm.ptr<3>
  }
  llvm.return
}

// All compute threads, instead of meeting: the record is written.
llvm.func internal @dfk_post(%counters: !llvm.ptr) {
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c64 = arith.constant 64 : i32
  %there = llvm.call @dfk_control(%c64) : (i32) -> !llvm.ptr<3>
  %cell = llvm.call @dfk_cell(%counters, %c3) : (!llvm.ptr, i32) -> !llvm.ptr
  %use = llvm.load %cell : !llvm.ptr -> i32
  %lane = llvm.call @dfk_lane() : () -> i32
  llvm.call @dfk_sync_warp() : () -> ()
  %arrives = llvm.call @dfk_arrives(%lane) : (i32) -> i1
  scf.if %arrives {
    nvvm.mbarrier.arrive %there : !llvm.ptr<3> -> i64
  }
  llvm.call @dfk_sync_warp() : () -> ()
  %next = arith.addi %use, %c1 : i32
  llvm.store %next, %cell : i32, !llvm.ptr
  llvm.return
}

// The publishing warp.
llvm.func internal @dfk_publish(%p: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c5 = arith.constant 5 : i32
  %c64 = arith.constant 64 : i32
  %c72 = arith.constant 72 : i32
  %c80 = arith.constant 80 : i32
  %none = arith.constant -1 : i32
  %end = arith.constant -2 : i32
  %there = llvm.call @dfk_control(%c64) : (i32) -> !llvm.ptr<3>
  %read = llvm.call @dfk_control(%c72) : (i32) -> !llvm.ptr<3>
  %lane = llvm.call @dfk_lane() : () -> i32
  %arrives = llvm.call @dfk_arrives(%lane) : (i32) -> i1
  %offset = arith.shli %lane, %c2 : i32
  %at = arith.addi %c80, %offset : i32
  %place = llvm.call @dfk_control(%at) : (i32) -> !llvm.ptr<3>
  %uses = scf.while (%use = %c0) : (i32) -> i32 {
    llvm.call @dfk_await_own(%there, %use, %c2, %c5, %none, %c0) : (!llvm.ptr<3>, i32, i32, i32, i32, i32) -> ()
    %flag = llvm.load volatile %place {alignment = 4 : i64} : !llvm.ptr<3> -> i32
    llvm.call @dfk_sync_warp() : () -> ()
    scf.if %arrives {
      nvvm.mbarrier.arrive %read : !llvm.ptr<3> -> i64
    }
    // Neither of the two numbers that are no flags.
    %is_flag = arith.cmpi ult, %flag, %end : i32
    scf.if %is_flag {
      llvm.call @dfk_signal(%p, %flag) : (!llvm.ptr, i32) -> ()
    }
    llvm.call @dfk_sync_warp() : () -> ()
    %first = llvm.call @dfk_word(%flag, %c0) : (i32, i32) -> i32
    %more = arith.cmpi ne, %first, %end : i32
    %next = arith.addi %use, %c1 : i32
    scf.condition(%more) %next : i32
  } do {
  ^bb0(%use: i32):
    scf.yield %use : i32
  }
  llvm.return
}
