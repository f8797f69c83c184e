// What a kernel does that has waited too long: it says what for (KernelABI.h: dfrt_watchdog_record) and ends by a store to
// address 0. Kernels without watchdog wait for ever.

llvm.func internal @dfk_watch_begin() -> i64 {
  %none = arith.constant 0 : i64
  %watched = llvm.call @dfk_is_watched() : () -> i1
  %begin = scf.if %watched -> i64 {
    %now = llvm.call @dfk_clock() : () -> i64
    scf.yield %now : i64
  } else {
    scf.yield %none : i64
  }
  llvm.return %begin : i64
}

llvm.func internal @dfk_watch_word(%record: !llvm.ptr<1>, %k: i32, %value: i32) {
  %at = llvm.getelementptr %record[%k] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  llvm.store volatile %value, %at : i32, !llvm.ptr<1>
  llvm.return
}

// Waits may have nobody who knows the kernel's parameter, so the place of the records lies in the control block.
llvm.func internal @dfk_watch_prepare(%p: !llvm.ptr) {
  %c8 = arith.constant 8 : i32
  %c56 = arith.constant 56 : i32
  %watched = llvm.call @dfk_is_watched() : () -> i1
  scf.if %watched {
    %records = llvm.call @dfk_parameter(%p, %c56) : (!llvm.ptr, i32) -> !llvm.ptr<1>
    %place = llvm.call @dfk_control(%c8) : (i32) -> !llvm.ptr<3>
    llvm.store %records, %place {alignment = 8 : i64} : !llvm.ptr<1>, !llvm.ptr<3>
  }
  llvm.return
}

// Called while waiting, by whoever waits since %begin.
llvm.func internal @dfk_watch(%begin: i64, %role: i32, %wait: i32, %instruction: i32, %object: i32, %expected: i32,
                              %seen: i32) {
  %watched = llvm.call @dfk_is_watched() : () -> i1
  scf.if %watched {
    // Tools that record each look at a barrier would have more to write than the kernel does in the meantime.
    %pause = arith.constant 500 : i32
    llvm.inline_asm has_side_effects "nanosleep.u32 $0;", "r" %pause : (i32) -> ()
    %limit = arith.constant 4000000000 : i64
    %now = llvm.call @dfk_clock() : () -> i64
    %spent = arith.subi %now, %begin : i64
    %late = arith.cmpi ugt, %spent, %limit : i64
    scf.if %late {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %c3 = arith.constant 3 : i32
      %c4 = arith.constant 4 : i32
      %c5 = arith.constant 5 : i32
      %c6 = arith.constant 6 : i32
      %c7 = arith.constant 7 : i32
      %c8 = arith.constant 8 : i32
      %complete = arith.constant 0x57444F47 : i32
      %null = llvm.mlir.zero : !llvm.ptr<1>
      %place = llvm.call @dfk_control(%c8) : (i32) -> !llvm.ptr<3>
      %records = llvm.load %place {alignment = 8 : i64} : !llvm.ptr<3> -> !llvm.ptr<1>
      %given = llvm.icmp "ne" %records, %null : !llvm.ptr<1>
      scf.if %given {
        %cta = nvvm.read.ptx.sreg.ctaid.x : i32
        %0 = arith.muli %cta, %c4 : i32
        %1 = arith.addi %0, %role : i32
        %2 = arith.muli %1, %c8 : i32
        %record = llvm.getelementptr %records[%2] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
        llvm.call @dfk_watch_word(%record, %c1, %cta) : (!llvm.ptr<1>, i32, i32) -> ()
        llvm.call @dfk_watch_word(%record, %c2, %role) : (!llvm.ptr<1>, i32, i32) -> ()
        llvm.call @dfk_watch_word(%record, %c3, %wait) : (!llvm.ptr<1>, i32, i32) -> ()
        llvm.call @dfk_watch_word(%record, %c4, %instruction) : (!llvm.ptr<1>, i32, i32) -> ()
        llvm.call @dfk_watch_word(%record, %c5, %object) : (!llvm.ptr<1>, i32, i32) -> ()
        llvm.call @dfk_watch_word(%record, %c6, %expected) : (!llvm.ptr<1>, i32, i32) -> ()
        llvm.call @dfk_watch_word(%record, %c7, %seen) : (!llvm.ptr<1>, i32, i32) -> ()
        llvm.fence seq_cst
        llvm.call @dfk_watch_word(%record, %c0, %complete) : (!llvm.ptr<1>, i32, i32) -> ()
        llvm.fence seq_cst
      }
      llvm.store volatile %c1, %null : i32, !llvm.ptr<1>
    }
  }
  llvm.return
}
