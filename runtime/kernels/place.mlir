// Where CTAs run, what a launch costs, and how far memory is from each multiprocessor.
//
//   empty  does nothing
//   place  says on which multiprocessor and in which cluster each CTA runs, and stays there for a while
//   reach  cycles of an atomic access to each of several lines, from each CTA
//
// The loops end by time or by count; no kernel waits for another CTA.

gpu.module @place {
  llvm.func internal @clock() -> i64 attributes {always_inline} {
    %0 = llvm.inline_asm has_side_effects "mov.u64 $0, %clock64;", "=l,~{memory}" : () -> i64
    llvm.return %0 : i64
  }
  llvm.func internal @nanoseconds() -> i64 attributes {always_inline} {
    %0 = llvm.inline_asm has_side_effects "mov.u64 $0, %globaltimer;", "=l,~{memory}" : () -> i64
    llvm.return %0 : i64
  }

  llvm.func @empty() attributes {nvvm.kernel} {
    llvm.return
  }

  // Results of CTA c, four words: its multiprocessor and, in the upper half, its cluster; clock cycles and nanoseconds that it
  // stayed; 0. That is %nanoseconds, or four times as many cycles, whatever ends first.
  llvm.func @place(%nanoseconds: i64, %results: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %c0 = arith.constant 0 : i32
    %c2 = arith.constant 2 : i32
    %l2 = arith.constant 2 : i64
    %l32 = arith.constant 32 : i64
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %cta = nvvm.read.ptx.sreg.ctaid.x : i32
    %is0 = arith.cmpi eq, %tid, %c0 : i32
    scf.if %is0 {
      %begin = llvm.call @nanoseconds() : () -> i64
      %first = llvm.call @clock() : () -> i64
      %limit = arith.shli %nanoseconds, %l2 : i64
      %stayed:2 = scf.while : () -> (i64, i64) {
        %now = llvm.call @nanoseconds() : () -> i64
        %cycle = llvm.call @clock() : () -> i64
        %spent = arith.subi %now, %begin : i64
        %cycles = arith.subi %cycle, %first : i64
        %early = arith.cmpi ult, %spent, %nanoseconds : i64
        %within = arith.cmpi ult, %cycles, %limit : i64
        %more = arith.andi %early, %within : i1
        scf.condition(%more) %cycles, %spent : i64, i64
      } do {
      ^bb0(%c: i64, %s: i64):
        scf.yield
      }
      %sm = nvvm.read.ptx.sreg.smid : i32
      %cluster = nvvm.read.ptx.sreg.clusterid.x : i32
      %sm64 = arith.extui %sm : i32 to i64
      %cluster64 = arith.extui %cluster : i32 to i64
      %upper = arith.shli %cluster64, %l32 : i64
      %both = arith.ori %upper, %sm64 : i64
      %at = arith.shli %cta, %c2 : i32
      %p = llvm.getelementptr %results[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
      %p1 = llvm.getelementptr %p[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      %p2 = llvm.getelementptr %p[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %both, %p : i64, !llvm.ptr<1>
      llvm.store %stayed#0, %p1 : i64, !llvm.ptr<1>
      llvm.store %stayed#1, %p2 : i64, !llvm.ptr<1>
    }
    llvm.return
  }

  // Results of a CTA: its multiprocessor, then for each of %count lines, %stride bytes apart, the fewest cycles that %repeats
  // atomic additions of 0 took one after the other. The lines hold zeros. CTAs begin at different lines.
  llvm.func @reach(%lines: !llvm.ptr<1>, %stride: i32, %count: i32, %repeats: i32, %results: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %most = arith.constant 0x7FFFFFFFFFFFFFFF : i64
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %cta = nvvm.read.ptx.sreg.ctaid.x : i32
    %is0 = arith.cmpi eq, %tid, %c0 : i32
    scf.if %is0 {
      %row = arith.addi %count, %c1 : i32
      %first = arith.muli %cta, %row : i32
      %base = llvm.getelementptr %results[%first] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
      %sm = nvvm.read.ptx.sreg.smid : i32
      %sm64 = arith.extui %sm : i32 to i64
      llvm.store %sm64, %base : i64, !llvm.ptr<1>
      scf.for %i = %c0 to %count step %c1 : i32 {
        %shifted = arith.addi %i, %cta : i32
        %line = arith.remui %shifted, %count : i32
        %offset = arith.muli %line, %stride : i32
        %fewest = scf.for %pass = %c0 to %c4 step %c1 iter_args(%best = %most) -> (i64) : i32 {
          %begin = llvm.call @clock() : () -> i64
          // Each address depends on the value before, which is 0.
          %last = scf.for %r = %c0 to %repeats step %c1 iter_args(%value = %c0) -> (i32) : i32 {
            %at = arith.addi %offset, %value : i32
            %p = llvm.getelementptr %lines[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
            %seen = llvm.inline_asm has_side_effects "atom.relaxed.gpu.global.add.u32 $0, [$1], 0;", "=r,l,~{memory}" %p : (!llvm.ptr<1>) -> i32
            scf.yield %seen : i32
          }
          // A store that needs the last value comes before the clock is read again.
          %next = arith.addi %line, %c1 : i32
          %slot = arith.addi %next, %last : i32
          %p = llvm.getelementptr %base[%slot] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
          %last64 = arith.extui %last : i32 to i64
          llvm.store volatile %last64, %p : i64, !llvm.ptr<1>
          %end = llvm.call @clock() : () -> i64
          %span = arith.subi %end, %begin : i64
          %least = arith.minui %span, %best : i64
          scf.yield %least : i64
        }
        %next = arith.addi %line, %c1 : i32
        %p = llvm.getelementptr %base[%next] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
        llvm.store %fewest, %p : i64, !llvm.ptr<1>
      }
    }
    llvm.return
  }
}
