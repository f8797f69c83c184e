// What a kernel with a timeline records (KernelABI.h: dfrt_timeline_record). Warp 0 keeps the time of the compute threads and
// the load warp its own; lane 0 writes. All lanes call. Kernels without a timeline read no clock and record nothing.

// Nanoseconds, in warps that keep the time.
llvm.func internal @dfk_time() -> i64 {
  %none = arith.constant 0 : i64
  %traced = llvm.call @dfk_is_traced() : () -> i1
  %time = scf.if %traced -> i64 {
    %keeps = llvm.call @dfk_keeps_time() : () -> i1
    %0 = scf.if %keeps -> i64 {
      %now = llvm.inline_asm has_side_effects "mov.u64 $0, %globaltimer;", "=l,~{memory}" : () -> i64
      scf.yield %now : i64
    } else {
      scf.yield %none : i64
    }
    scf.yield %0 : i64
  } else {
    scf.yield %none : i64
  }
  llvm.return %time : i64
}

llvm.func internal @dfk_keeps_time() -> i1 {
  %c32 = arith.constant 32 : i32
  %thread = llvm.call @dfk_thread() : () -> i32
  %threads = llvm.call @dfk_threads() : () -> i32
  %behind = arith.subi %thread, %threads : i32
  %computes = arith.cmpi ult, %thread, %c32 : i32
  %loads = arith.cmpi ult, %behind, %c32 : i32
  %keeps = arith.ori %computes, %loads : i1
  llvm.return %keeps : i1
}

// Of the caller's role: DFRT_ROLE_LOAD 0, DFRT_ROLE_COMPUTE 1.
llvm.func internal @dfk_timeline_role() -> i32 {
  %thread = llvm.call @dfk_thread() : () -> i32
  %threads = llvm.call @dfk_threads() : () -> i32
  %computes = arith.cmpi ult, %thread, %threads : i32
  %role = arith.extui %computes : i1 to i32
  llvm.return %role : i32
}

llvm.func internal @dfk_writes_time() -> i1 {
  %c0 = arith.constant 0 : i32
  %keeps = llvm.call @dfk_keeps_time() : () -> i1
  %lane = llvm.call @dfk_lane() : () -> i32
  %is0 = arith.cmpi eq, %lane, %c0 : i32
  %writes = arith.andi %keeps, %is0 : i1
  llvm.return %writes : i1
}

// Places of the control block that are the role's own: instructions recorded, and nanoseconds waited in the present one.
llvm.func internal @dfk_timeline_count() -> !llvm.ptr<3> {
  %c2 = arith.constant 2 : i32
  %c40 = arith.constant 40 : i32
  %role = llvm.call @dfk_timeline_role() : () -> i32
  %skip = arith.shli %role, %c2 : i32
  %offset = arith.addi %c40, %skip : i32
  %place = llvm.call @dfk_control(%offset) : (i32) -> !llvm.ptr<3>
  llvm.return %place : !llvm.ptr<3>
}

llvm.func internal @dfk_timeline_waited() -> !llvm.ptr<3> {
  %c2 = arith.constant 2 : i32
  %c48 = arith.constant 48 : i32
  %role = llvm.call @dfk_timeline_role() : () -> i32
  %skip = arith.shli %role, %c2 : i32
  %offset = arith.addi %c48, %skip : i32
  %place = llvm.call @dfk_control(%offset) : (i32) -> !llvm.ptr<3>
  llvm.return %place : !llvm.ptr<3>
}

// Before the first instruction.
llvm.func internal @dfk_begin_timeline() {
  %c0 = arith.constant 0 : i32
  %traced = llvm.call @dfk_is_traced() : () -> i1
  scf.if %traced {
    %writes = llvm.call @dfk_writes_time() : () -> i1
    scf.if %writes {
      %count = llvm.call @dfk_timeline_count() : () -> !llvm.ptr<3>
      %waited = llvm.call @dfk_timeline_waited() : () -> !llvm.ptr<3>
      llvm.store %c0, %count {alignment = 4 : i64} : i32, !llvm.ptr<3>
      llvm.store %c0, %waited {alignment = 4 : i64} : i32, !llvm.ptr<3>
    }
    llvm.call @dfk_sync_warp() : () -> ()
  }
  llvm.return
}

// The caller has waited for a ring since %since.
llvm.func internal @dfk_note_wait(%since: i64) {
  %traced = llvm.call @dfk_is_traced() : () -> i1
  scf.if %traced {
    %now = llvm.call @dfk_time() : () -> i64
    %writes = llvm.call @dfk_writes_time() : () -> i1
    scf.if %writes {
      %spent = arith.subi %now, %since : i64
      %spent32 = arith.trunci %spent : i64 to i32
      %place = llvm.call @dfk_timeline_waited() : () -> !llvm.ptr<3>
      %before = llvm.load %place {alignment = 4 : i64} : !llvm.ptr<3> -> i32
      %sum = arith.addi %before, %spent32 : i32
      llvm.store %sum, %place {alignment = 4 : i64} : i32, !llvm.ptr<3>
    }
    llvm.call @dfk_sync_warp() : () -> ()
  }
  llvm.return
}

// The compute threads: what time it is, for later. A handler needs all registers, so the low half of it waits in the control
// block, at %offset.
llvm.func internal @dfk_mark(%offset: i32) {
  %traced = llvm.call @dfk_is_traced() : () -> i1
  scf.if %traced {
    %now = llvm.call @dfk_time() : () -> i64
    %writes = llvm.call @dfk_writes_time() : () -> i1
    scf.if %writes {
      %low = arith.trunci %now : i64 to i32
      %place = llvm.call @dfk_control(%offset) : (i32) -> !llvm.ptr<3>
      llvm.store %low, %place {alignment = 4 : i64} : i32, !llvm.ptr<3>
    }
    llvm.call @dfk_sync_warp() : () -> ()
  }
  llvm.return
}

// The time that was marked at %offset, less than four seconds before %now. For the lane that writes.
llvm.func internal @dfk_marked(%offset: i32, %now: i64) -> i64 {
  %none = arith.constant 0 : i64
  %traced = llvm.call @dfk_is_traced() : () -> i1
  %time = scf.if %traced -> i64 {
    %place = llvm.call @dfk_control(%offset) : (i32) -> !llvm.ptr<3>
    %low = llvm.load %place {alignment = 4 : i64} : !llvm.ptr<3> -> i32
    %now32 = arith.trunci %now : i64 to i32
    %since = arith.subi %now32, %low : i32
    %since64 = arith.extui %since : i32 to i64
    %0 = arith.subi %now, %since64 : i64
    scf.yield %0 : i64
  } else {
    scf.yield %none : i64
  }
  llvm.return %time : i64
}

// The instruction %w is over. What does not fit is counted only.
llvm.func internal @dfk_record(%p: !llvm.ptr, %w: i32, %begin: i64, %ready: i64, %handled: i64, %finished: i64) {
  %traced = llvm.call @dfk_is_traced() : () -> i1
  scf.if %traced {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c27 = arith.constant 27 : i32
    %c168 = arith.constant 168 : i32
    %c176 = arith.constant 176 : i32
    %lane_bytes = arith.constant 8 : i64
    %record_bytes = arith.constant 40 : i64
    %null = llvm.mlir.zero : !llvm.ptr<1>
    %identity = llvm.call @dfk_word(%w, %c27) : (i32, i32) -> i32
    %timeline = llvm.call @dfk_parameter(%p, %c168) : (!llvm.ptr, i32) -> !llvm.ptr<1>
    %given = llvm.icmp "ne" %timeline, %null : !llvm.ptr<1>
    %keeps = llvm.call @dfk_writes_time() : () -> i1
    %writes = arith.andi %given, %keeps : i1
    scf.if %writes {
      // The role's number among all of the grid, and its count.
      %cta = nvvm.read.ptx.sreg.ctaid.x : i32
      %ctas = nvvm.read.ptx.sreg.nctaid.x : i32
      %role = llvm.call @dfk_timeline_role() : () -> i32
      %twice = arith.shli %cta, %c1 : i32
      %lane = arith.addi %twice, %role : i32
      %lanes = arith.shli %ctas, %c1 : i32
      %lane64 = arith.extui %lane : i32 to i64
      %lanes64 = arith.extui %lanes : i32 to i64
      %skip = arith.muli %lane64, %lane_bytes : i64
      %head = llvm.getelementptr %timeline[%skip] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
      %count_at = llvm.call @dfk_timeline_count() : () -> !llvm.ptr<3>
      %waited_at = llvm.call @dfk_timeline_waited() : () -> !llvm.ptr<3>
      %number = llvm.load %count_at {alignment = 4 : i64} : !llvm.ptr<3> -> i32
      %waited = llvm.load %waited_at {alignment = 4 : i64} : !llvm.ptr<3> -> i32
      %count = arith.addi %number, %c1 : i32
      llvm.store %count, %count_at {alignment = 4 : i64} : i32, !llvm.ptr<3>
      llvm.store %c0, %waited_at {alignment = 4 : i64} : i32, !llvm.ptr<3>
      %multiprocessor = llvm.inline_asm "mov.u32 $0, %smid;", "=r" : () -> i32
      llvm.store %count, %head {alignment = 8 : i64} : i32, !llvm.ptr<1>
      %second = llvm.getelementptr %head[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
      llvm.store %multiprocessor, %second {alignment = 4 : i64} : i32, !llvm.ptr<1>
      %capacity_at = llvm.getelementptr %p[%c176] : (!llvm.ptr, i32) -> !llvm.ptr, i8
      %capacity = llvm.load %capacity_at {alignment = 8 : i64} : !llvm.ptr -> i64
      %number64 = arith.extui %number : i32 to i64
      %fits = arith.cmpi ult, %number64, %capacity : i64
      scf.if %fits {
        %heads = arith.muli %lanes64, %lane_bytes : i64
        %before = arith.muli %lane64, %capacity : i64
        %place = arith.addi %before, %number64 : i64
        %records = arith.muli %place, %record_bytes : i64
        %offset = arith.addi %heads, %records : i64
        %record = llvm.getelementptr %timeline[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
        %at4 = llvm.getelementptr %record[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
        %at8 = llvm.getelementptr %record[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
        %at16 = llvm.getelementptr %record[16] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
        %at24 = llvm.getelementptr %record[24] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
        %at32 = llvm.getelementptr %record[32] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
        llvm.store %identity, %record {alignment = 8 : i64} : i32, !llvm.ptr<1>
        llvm.store %waited, %at4 {alignment = 4 : i64} : i32, !llvm.ptr<1>
        llvm.store %begin, %at8 {alignment = 8 : i64} : i64, !llvm.ptr<1>
        llvm.store %ready, %at16 {alignment = 8 : i64} : i64, !llvm.ptr<1>
        llvm.store %handled, %at24 {alignment = 8 : i64} : i64, !llvm.ptr<1>
        llvm.store %finished, %at32 {alignment = 8 : i64} : i64, !llvm.ptr<1>
      }
    }
    llvm.call @dfk_sync_warp() : () -> ()
  }
  llvm.return
}
