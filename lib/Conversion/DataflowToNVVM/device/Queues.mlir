// What a CTA does from its first to its last instruction.

// All threads: barriers, the epoch, then everybody of the cluster is there. The load warp initialises what it uses itself.
llvm.func internal @dfk_begin(%p: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c8 = arith.constant 8 : i32
  %c12 = arith.constant 12 : i32
  %c16 = arith.constant 16 : i32
  %c24 = arith.constant 24 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %c72 = arith.constant 72 : i32
  %tid = llvm.call @dfk_thread() : () -> i32
  %threads = llvm.call @dfk_threads() : () -> i32
  %loads = arith.cmpi eq, %tid, %threads : i32
  scf.if %loads {
    llvm.call @dfk_watch_prepare(%p) : (!llvm.ptr) -> ()
    llvm.call @dfk_begin_rings() : () -> ()
    %warps = arith.shrui %threads, %c5 : i32
    %posted = llvm.call @dfk_control(%c64) : (i32) -> !llvm.ptr<3>
    %read = llvm.call @dfk_control(%c72) : (i32) -> !llvm.ptr<3>
    // As many as arrive: see dfk_arrives.
    %watched = llvm.call @dfk_is_watched() : () -> i1
    %posts = arith.select %watched, %threads, %warps : i32
    %reads = arith.select %watched, %c32, %c1 : i32
    nvvm.mbarrier.init %posted, %posts : !llvm.ptr<3>, i32
    nvvm.mbarrier.init %read, %reads : !llvm.ptr<3>, i32
    %is_ticket = llvm.call @dfk_is_ticket() : () -> i1
    scf.if %is_ticket {
      %there = llvm.call @dfk_control(%c16) : (i32) -> !llvm.ptr<3>
      %taken = llvm.call @dfk_control(%c24) : (i32) -> !llvm.ptr<3>
      nvvm.mbarrier.init %there, %c1 : !llvm.ptr<3>, i32
      nvvm.mbarrier.init %taken, %warps : !llvm.ptr<3>, i32
    }
  }
  %asynchronous = llvm.call @dfk_is_async() : () -> i1
  %computes = arith.cmpi ult, %tid, %threads : i32
  %initialises = arith.andi %asynchronous, %computes : i1
  scf.if %initialises {
    // The plan's barriers of this CTA.
    %cta = nvvm.read.ptx.sreg.ctaid.x : i32
    %queue = llvm.call @dfk_entry(%p, %c0, %cta, %c32) : (!llvm.ptr, i32, i32, i32) -> !llvm.ptr<1>
    %first = llvm.call @dfk_load(%queue, %c12) : (!llvm.ptr<1>, i32) -> i32
    %count = llvm.call @dfk_load(%queue, %c16) : (!llvm.ptr<1>, i32) -> i32
    scf.for %i = %tid to %count step %threads : i32 {
      %number = arith.addi %first, %i : i32
      %entry = llvm.call @dfk_entry(%p, %c8, %number, %c8) : (!llvm.ptr, i32, i32, i32) -> !llvm.ptr<1>
      %arrivals = llvm.call @dfk_load(%entry, %c0) : (!llvm.ptr<1>, i32) -> i32
      %barrier = llvm.call @dfk_barrier(%i) : (i32) -> !llvm.ptr<3>
      nvvm.mbarrier.init %barrier, %arrivals : !llvm.ptr<3>, i32
    }
  }
  nvvm.fence.mbarrier.init
  %second = arith.addi %threads, %c32 : i32
  %counts = arith.cmpi eq, %tid, %second : i32
  scf.if %counts {
    llvm.call @dfk_read_epoch(%p) : (!llvm.ptr) -> ()
  }
  nvvm.cluster.arrive
  llvm.return
}

// All threads: nobody of a cluster leaves while a peer may still reach its shared memory.
llvm.func internal @dfk_end() {
  %c1 = arith.constant 1 : i32
  %size = nvvm.read.ptx.sreg.cluster.nctarank : i32
  %several = arith.cmpi ugt, %size, %c1 : i32
  scf.if %several {
    nvvm.cluster.arrive
    nvvm.cluster.wait
  }
  llvm.return
}

// The load warp, in kernels with streams and queues: fills the rings for one instruction after the other.
llvm.func internal @dfk_fill_queue(%p: !llvm.ptr, %first: i32, %rest: i32, %counters: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %low = arith.constant 0xFFFF : i32
  %end:2 = scf.while (%w = %first, %next = %rest) : (i32, i32) -> (i32, i32) {
    %word = llvm.call @dfk_word(%w, %c0) : (i32, i32) -> i32
    %opcode = arith.andi %word, %low : i32
    %more = arith.cmpi eq, %opcode, %c1 : i32
    scf.condition(%more) %w, %next : i32, i32
  } do {
  ^bb0(%w: i32, %next: i32):
    %early = llvm.call @dfk_instruction(%p, %next) : (!llvm.ptr, i32) -> i32
    %begin = llvm.call @dfk_time() : () -> i64
    llvm.call @dfk_dispatch_load(%p, %w, %counters) : (!llvm.ptr, i32, !llvm.ptr) -> ()
    %filled = llvm.call @dfk_time() : () -> i64
    llvm.call @dfk_record(%p, %w, %begin, %begin, %filled, %filled) : (!llvm.ptr, i32, i64, i64, i64, i64) -> ()
    %after = arith.addi %next, %c1 : i32
    scf.yield %early, %after : i32, i32
  }
  llvm.return
}

// Where the second instruction of a queue lies.
llvm.func internal @dfk_rest(%p: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %c32 = arith.constant 32 : i32
  %is_ticket = llvm.call @dfk_is_ticket() : () -> i1
  %rest = scf.if %is_ticket -> i32 {
    scf.yield %c0 : i32
  } else {
    %cta = nvvm.read.ptx.sreg.ctaid.x : i32
    %queue = llvm.call @dfk_entry(%p, %c0, %cta, %c32) : (!llvm.ptr, i32, i32, i32) -> !llvm.ptr<1>
    %0 = llvm.call @dfk_load(%queue, %c8) : (!llvm.ptr<1>, i32) -> i32
    scf.yield %0 : i32
  }
  llvm.return %rest : i32
}

// This lane's word of the first instruction of a queue.
llvm.func internal @dfk_first(%p: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : i32
  %is_ticket = llvm.call @dfk_is_ticket() : () -> i1
  %first = scf.if %is_ticket -> i32 {
    scf.yield %c0 : i32
  } else {
    %cta = nvvm.read.ptx.sreg.ctaid.x : i32
    %w = llvm.call @dfk_instruction(%p, %cta) : (!llvm.ptr, i32) -> i32
    scf.yield %w : i32
  }
  llvm.return %first : i32
}

// Whether the plan has barriers, as every plan has whose records the copy engine moves.
llvm.func internal @dfk_plan_is_async(%p: !llvm.ptr) -> i1 {
  %c0 = arith.constant 0 : i32
  %c224 = arith.constant 224 : i32
  %false = arith.constant false
  %possible = llvm.call @dfk_is_async() : () -> i1
  %asynchronous = scf.if %possible -> i1 {
    %plan = llvm.call @dfk_parameter(%p, %c0) : (!llvm.ptr, i32) -> !llvm.ptr<1>
    %barriers = llvm.call @dfk_load(%plan, %c224) : (!llvm.ptr<1>, i32) -> i32
    %any = arith.cmpi ne, %barriers, %c0 : i32
    scf.yield %any : i1
  } else {
    scf.yield %false : i1
  }
  llvm.return %asynchronous : i1
}

// One instruction; %next is the one behind it in the queue or draw, zeros where there is none. Takes what the lane has of its
// operands, returns the same of %next, which is on its way while the instruction ends.
llvm.func internal @dfk_execute(%p: !llvm.ptr, %w: i32, %operands: !operand, %next: i32, %asynchronous: i1, %counters: !llvm.ptr) -> !operand {
  %c0 = arith.constant 0 : i32
  %c56 = arith.constant 56 : i32
  %c60 = arith.constant 60 : i32
  %true = arith.constant true
  llvm.call @dfk_mark(%c56) : (i32) -> ()
  %done = llvm.call @dfk_begin_instruction(%counters, %w, %next) : (!llvm.ptr, i32, i32) -> i1
  scf.if %asynchronous {
    llvm.call @dfk_acquire(%p, %w) : (!llvm.ptr, i32) -> ()
  }
  %how = llvm.call @dfk_prepare_finish(%p, %w, %asynchronous, %counters) : (!llvm.ptr, i32, i1, !llvm.ptr) -> i32
  %left = arith.xori %done, %true : i1
  // Whose work is done has nothing to wait for: what it reads was made in front of it.
  scf.if %left {
    llvm.call @dfk_await_operands(%p, %w, %operands, %asynchronous) : (!llvm.ptr, i32, !operand, i1) -> ()
  }
  llvm.call @dfk_mark(%c60) : (i32) -> ()
  scf.if %left {
    // What was written before is there. And here the assembler learns that the threads of a warp are together, and need not provide
    // for the opposite wherever they exchange something; it does not believe that of a barrier of a warp.
    llvm.call @dfk_sync() : () -> ()
    %found = llvm.call @dfk_lane_place(%p, %operands) : (!llvm.ptr, !operand) -> !llvm.struct<(ptr, i32, i32)>
    %place = llvm.extractvalue %found[0] : !llvm.struct<(ptr, i32, i32)>
    %slice = llvm.extractvalue %found[1] : !llvm.struct<(ptr, i32, i32)>
    %row = llvm.extractvalue %found[2] : !llvm.struct<(ptr, i32, i32)>
    llvm.call @dfk_dispatch(%p, %w, %counters, %place, %slice, %row) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, i32, i32) -> ()
  }
  %handled = llvm.call @dfk_time() : () -> i64
  %later = llvm.call @dfk_lane_operand(%p, %next, %c0) : (!llvm.ptr, i32, i32) -> !operand
  llvm.call @dfk_finish(%p, %w, %how, %asynchronous, %counters) : (!llvm.ptr, i32, i32, i1, !llvm.ptr) -> ()
  %finished = llvm.call @dfk_time() : () -> i64
  %begin = llvm.call @dfk_marked(%c56, %finished) : (i32, i64) -> i64
  %ready = llvm.call @dfk_marked(%c60, %finished) : (i32, i64) -> i64
  llvm.call @dfk_record(%p, %w, %begin, %ready, %handled, %finished) : (!llvm.ptr, i32, i64, i64, i64, i64) -> ()
  llvm.return %later : !operand
}

// A warp that has nothing else to do, in kernels with queues: brings what the instructions of the queue list closer, so that
// those who execute them wait for the L2 cache at most.
llvm.func internal @dfk_prefetch_queue(%p: !llvm.ptr, %first: i32, %rest: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %low = arith.constant 0xFFFF : i32
  %end:2 = scf.while (%w = %first, %next = %rest) : (i32, i32) -> (i32, i32) {
    %word = llvm.call @dfk_word(%w, %c0) : (i32, i32) -> i32
    %opcode = arith.andi %word, %low : i32
    %more = arith.cmpi eq, %opcode, %c1 : i32
    scf.condition(%more) %w, %next : i32, i32
  } do {
  ^bb0(%w: i32, %next: i32):
    %early = llvm.call @dfk_instruction(%p, %next) : (!llvm.ptr, i32) -> i32
    llvm.call @dfk_prefetch_instruction(%p, %w) : (!llvm.ptr, i32) -> ()
    %after = arith.addi %next, %c1 : i32
    scf.yield %early, %after : i32, i32
  }
  llvm.return
}

llvm.func internal @dfk_prefetch(%at: !llvm.ptr<1>) {
  llvm.inline_asm has_side_effects "prefetch.global.L1 [$0];", "l" %at : (!llvm.ptr<1>) -> ()
  llvm.return
}

// Operands, outputs, transfers with their first destinations, and releases of an instruction: one a lane.
llvm.func internal @dfk_prefetch_instruction(%p: !llvm.ptr, %w: i32) {
  %c3 = arith.constant 3 : i32
  %c7 = arith.constant 7 : i32
  %c8 = arith.constant 8 : i32
  %c16 = arith.constant 16 : i32
  %c17 = arith.constant 17 : i32
  %c18 = arith.constant 18 : i32
  %c19 = arith.constant 19 : i32
  %c20 = arith.constant 20 : i32
  %c21 = arith.constant 21 : i32
  %c22 = arith.constant 22 : i32
  %c25 = arith.constant 25 : i32
  %c26 = arith.constant 26 : i32
  %c32 = arith.constant 32 : i32
  %lane = llvm.call @dfk_lane() : () -> i32
  %first_operand = llvm.call @dfk_word(%w, %c17) : (i32, i32) -> i32
  %operands = llvm.call @dfk_word(%w, %c18) : (i32, i32) -> i32
  %first_output = llvm.call @dfk_word(%w, %c19) : (i32, i32) -> i32
  %outputs = llvm.call @dfk_word(%w, %c20) : (i32, i32) -> i32
  %first_transfer = llvm.call @dfk_word(%w, %c21) : (i32, i32) -> i32
  %transfers = llvm.call @dfk_word(%w, %c22) : (i32, i32) -> i32
  %first_release = llvm.call @dfk_word(%w, %c25) : (i32, i32) -> i32
  %releases = llvm.call @dfk_word(%w, %c26) : (i32, i32) -> i32
  %reads = arith.cmpi ult, %lane, %operands : i32
  scf.if %reads {
    %index = arith.addi %first_operand, %lane : i32
    %operand = llvm.call @dfk_operand(%p, %index) : (!llvm.ptr, i32) -> !llvm.ptr<1>
    llvm.call @dfk_prefetch(%operand) : (!llvm.ptr<1>) -> ()
  }
  %writes = arith.cmpi ult, %lane, %outputs : i32
  scf.if %writes {
    %index = arith.addi %first_output, %lane : i32
    %output = llvm.call @dfk_output(%p, %index) : (!llvm.ptr, i32) -> !llvm.ptr<1>
    llvm.call @dfk_prefetch(%output) : (!llvm.ptr<1>) -> ()
  }
  %frees = arith.cmpi ult, %lane, %releases : i32
  scf.if %frees {
    %index = arith.addi %first_release, %lane : i32
    %release = llvm.call @dfk_entry(%p, %c7, %index, %c32) : (!llvm.ptr, i32, i32, i32) -> !llvm.ptr<1>
    llvm.call @dfk_prefetch(%release) : (!llvm.ptr<1>) -> ()
  }
  %sends = arith.cmpi ult, %lane, %transfers : i32
  scf.if %sends {
    %index = arith.addi %first_transfer, %lane : i32
    %transfer = llvm.call @dfk_transfer(%p, %index) : (!llvm.ptr, i32) -> !llvm.ptr<1>
    %number = llvm.call @dfk_load(%transfer, %c8) : (!llvm.ptr<1>, i32) -> i32
    %destination = llvm.call @dfk_destination(%p, %number) : (!llvm.ptr, i32) -> !llvm.ptr<1>
    llvm.call @dfk_prefetch(%destination) : (!llvm.ptr<1>) -> ()
  }
  llvm.call @dfk_sync_warp() : () -> ()
  llvm.return
}

// The compute threads. The next instruction is loaded while the present one is executed; a draw is followed by another one.
llvm.func internal @dfk_compute(%p: !llvm.ptr, %first_word: i32, %rest: i32, %asynchronous: i1, %counters: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %low = arith.constant 0xFFFF : i32
  %is_ticket = llvm.call @dfk_is_ticket() : () -> i1
  // The first instruction, what follows it, and how many of the draw are left with it.
  %start:3 = scf.if %is_ticket -> (i32, i32, i32) {
    %draw = llvm.call @dfk_take_draw(%c0) : (i32) -> !llvm.struct<(i32, i32)>
    %first = llvm.extractvalue %draw[0] : !llvm.struct<(i32, i32)>
    %count = llvm.extractvalue %draw[1] : !llvm.struct<(i32, i32)>
    %w = llvm.call @dfk_instruction(%p, %first) : (!llvm.ptr, i32) -> i32
    %next = arith.addi %first, %c1 : i32
    scf.yield %w, %next, %count : i32, i32, i32
  } else {
    scf.yield %first_word, %rest, %c0 : i32, i32, i32
  }
  %start_operands = llvm.call @dfk_lane_operand(%p, %start#0, %c0) : (!llvm.ptr, i32, i32) -> !operand
  %end:5 = scf.while (%w = %start#0, %next = %start#1, %left = %start#2, %use = %c1, %operands = %start_operands)
      : (i32, i32, i32, i32, !operand) -> (i32, i32, i32, i32, !operand) {
    %word = llvm.call @dfk_word(%w, %c0) : (i32, i32) -> i32
    %opcode = arith.andi %word, %low : i32
    %is_call = arith.cmpi eq, %opcode, %c1 : i32
    %more = scf.if %is_ticket -> i1 {
      %0 = arith.cmpi ne, %left, %c0 : i32
      scf.yield %0 : i1
    } else {
      scf.yield %is_call : i1
    }
    scf.condition(%more) %w, %next, %left, %use, %operands : i32, i32, i32, i32, !operand
  } do {
  ^bb0(%w: i32, %next: i32, %left: i32, %use: i32, %operands: !operand):
    // Behind the last instruction lies another one or EXIT. What is behind a draw is for others.
    %early = llvm.call @dfk_instruction(%p, %next) : (!llvm.ptr, i32) -> i32
    %is_last = arith.cmpi eq, %left, %c1 : i32
    %behind = arith.select %is_last, %c0, %early : i32
    %later = llvm.call @dfk_execute(%p, %w, %operands, %behind, %asynchronous, %counters)
        : (!llvm.ptr, i32, !operand, i32, i1, !llvm.ptr) -> !operand
    %after = arith.addi %next, %c1 : i32
    %step:5 = scf.if %is_ticket -> (i32, i32, i32, i32, !operand) {
      %fewer = arith.subi %left, %c1 : i32
      %ends = arith.cmpi eq, %fewer, %c0 : i32
      %0:5 = scf.if %ends -> (i32, i32, i32, i32, !operand) {
        %draw = llvm.call @dfk_take_draw(%use) : (i32) -> !llvm.struct<(i32, i32)>
        %first = llvm.extractvalue %draw[0] : !llvm.struct<(i32, i32)>
        %count = llvm.extractvalue %draw[1] : !llvm.struct<(i32, i32)>
        %w1 = llvm.call @dfk_instruction(%p, %first) : (!llvm.ptr, i32) -> i32
        %next_use = arith.addi %use, %c1 : i32
        %second = arith.addi %first, %c1 : i32
        %its_operands = llvm.call @dfk_lane_operand(%p, %w1, %c0) : (!llvm.ptr, i32, i32) -> !operand
        scf.yield %w1, %second, %count, %next_use, %its_operands : i32, i32, i32, i32, !operand
      } else {
        scf.yield %early, %after, %fewer, %use, %later : i32, i32, i32, i32, !operand
      }
      scf.yield %0#0, %0#1, %0#2, %0#3, %0#4 : i32, i32, i32, i32, !operand
    } else {
      scf.yield %early, %after, %c0, %use, %later : i32, i32, i32, i32, !operand
    }
    scf.yield %step#0, %step#1, %step#2, %step#3, %step#4 : i32, i32, i32, i32, !operand
  }
  llvm.return
}

// Where the launch asks when its CTAs began and ended: thread 0 leaves the time, in nanoseconds. %which: 0 begin, 8 end.
llvm.func internal @dfk_stamp(%p: !llvm.ptr, %which: i32) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %c160 = arith.constant 160 : i32
  %null = llvm.mlir.zero : !llvm.ptr<1>
  %stamps = llvm.call @dfk_parameter(%p, %c160) : (!llvm.ptr, i32) -> !llvm.ptr<1>
  %asked = llvm.icmp "ne" %stamps, %null : !llvm.ptr<1>
  %thread = llvm.call @dfk_thread() : () -> i32
  %is0 = arith.cmpi eq, %thread, %c0 : i32
  %leaves = arith.andi %asked, %is0 : i1
  scf.if %leaves {
    %cta = nvvm.read.ptx.sreg.ctaid.x : i32
    %first = arith.shli %cta, %c4 : i32
    %offset = arith.addi %first, %which : i32
    %stamp = llvm.getelementptr %stamps[%offset] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %now = llvm.inline_asm has_side_effects "mov.u64 $0, %globaltimer;", "=l,~{memory}" : () -> i64
    llvm.store %now, %stamp {alignment = 8 : i64} : i64, !llvm.ptr<1>
  }
  llvm.return
}

// Everything. Each role has its own counters of the streams. The load warp does not wait for the others of its cluster before
// it begins: it uses nothing of theirs, but for the epoch where it draws.
llvm.func internal @dfk_kernel(%p: !llvm.ptr, %taken: !llvm.ptr, %filled: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %true = arith.constant true
  llvm.call @dfk_stamp(%p, %c0) : (!llvm.ptr, i32) -> ()
  llvm.call @dfk_begin_timeline() : () -> ()
  // On its way while barriers are initialised.
  %first = llvm.call @dfk_first(%p) : (!llvm.ptr) -> i32
  %rest = llvm.call @dfk_rest(%p) : (!llvm.ptr) -> i32
  %asynchronous = llvm.call @dfk_plan_is_async(%p) : (!llvm.ptr) -> i1
  llvm.call @dfk_begin(%p) : (!llvm.ptr) -> ()
  %warp = llvm.call @dfk_warp() : () -> i32
  %threads = llvm.call @dfk_threads() : () -> i32
  %warps = arith.shrui %threads, %c5 : i32
  %is_ticket = llvm.call @dfk_is_ticket() : () -> i1
  %streams = llvm.call @dfk_has_streams() : () -> i1
  %loads = arith.cmpi eq, %warp, %warps : i32
  %queued = arith.xori %is_ticket, %true : i1
  %early = arith.andi %loads, %queued : i1
  // With two warpgroups to compute, a thread has 168 registers; those that load need less, and the others get the rest.
  %c256 = arith.constant 256 : i32
  %shifts = arith.cmpi eq, %threads, %c256 : i32
  %computes = arith.cmpi ult, %warp, %warps : i32
  scf.if %computes {
    scf.if %shifts {
      nvvm.setmaxregister increase 232
    }
    nvvm.cluster.wait
    llvm.call @dfk_compute(%p, %first, %rest, %asynchronous, %taken) : (!llvm.ptr, i32, i32, i1, !llvm.ptr) -> ()
    llvm.call @dfk_sync() : () -> ()
    %end = arith.constant -2 : i32
    llvm.call @dfk_leave_flags(%taken, %end) : (!llvm.ptr, i32) -> ()
    llvm.call @dfk_post(%taken) : (!llvm.ptr) -> ()
    llvm.call @dfk_stamp(%p, %c8) : (!llvm.ptr, i32) -> ()
  } else {
    scf.if %shifts {
      nvvm.setmaxregister decrease 40
    }
    scf.if %early {
      scf.if %streams {
        llvm.call @dfk_fill_queue(%p, %first, %rest, %filled) : (!llvm.ptr, i32, i32, !llvm.ptr) -> ()
      }
    }
    %draws = arith.andi %loads, %is_ticket : i1
    scf.if %draws {
      llvm.call @dfk_draw(%p, %filled) : (!llvm.ptr, !llvm.ptr) -> ()
    } else {
      nvvm.cluster.wait
    }
    scf.if %loads {
    } else {
      %second = arith.addi %warps, %c1 : i32
      %counts = arith.cmpi eq, %warp, %second : i32
      scf.if %counts {
        llvm.call @dfk_count_start(%p) : (!llvm.ptr) -> ()
      } else {
        %third = arith.addi %second, %c1 : i32
        %idle = arith.cmpi eq, %warp, %third : i32
        %fetches = arith.andi %idle, %queued : i1
        scf.if %fetches {
          llvm.call @dfk_prefetch_queue(%p, %first, %rest) : (!llvm.ptr, i32, i32) -> ()
        }
        %fourth = arith.addi %third, %c1 : i32
        %publishes = arith.cmpi eq, %warp, %fourth : i32
        scf.if %publishes {
          llvm.call @dfk_publish(%p) : (!llvm.ptr) -> ()
        }
      }
    }
  }
  llvm.call @dfk_end() : () -> ()
  llvm.return
}
