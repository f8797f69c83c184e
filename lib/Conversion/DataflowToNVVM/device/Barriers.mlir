// Waits for barriers in shared memory and for flags in global memory.

// Barrier %number of the plan, of this CTA.
llvm.func internal @dfk_barrier(%number: i32) -> !llvm.ptr<3> {
  %at = llvm.call @dfk_barriers_at() : () -> i32
  %base = llvm.call @dfk_shared(%at) : (i32) -> !llvm.ptr<3>
  %barrier = llvm.getelementptr %base[%number] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
  llvm.return %barrier : !llvm.ptr<3>
}

// The same place in the shared memory of CTA %cta of this cluster.
llvm.func internal @dfk_remote(%local: !llvm.ptr<3>, %cta: i32) -> !llvm.ptr<7> {
  %rank = llvm.call @dfk_rank(%cta) : (i32) -> i32
  %remote = nvvm.mapa %local, %rank : !llvm.ptr<3> -> !llvm.ptr<7>
  llvm.return %remote : !llvm.ptr<7>
}

// Rank of CTA %cta in this cluster.
llvm.func internal @dfk_rank(%cta: i32) -> i32 {
  %self = nvvm.read.ptx.sreg.ctaid.x : i32
  %self_rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
  %first = arith.subi %self, %self_rank : i32
  %rank = arith.subi %cta, %first : i32
  llvm.return %rank : i32
}

// Waits until phase %phase of a local barrier is complete. The other arguments are for the watchdog.
llvm.func internal @dfk_await(%barrier: !llvm.ptr<3>, %phase: i32, %role: i32, %wait: i32, %instruction: i32,
                              %object: i32) {
  %true = arith.constant true
  %c1 = arith.constant 1 : i32
  %unknown = arith.constant -1 : i32
  %parity = arith.andi %phase, %c1 : i32
  %begin = llvm.call @dfk_watch_begin() : () -> i64
  scf.while : () -> () {
    %done = nvvm.mbarrier.try_wait %barrier, %parity {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<3>, i32 -> i1
    %more = arith.xori %done, %true : i1
    scf.condition(%more)
  } do {
    llvm.call @dfk_watch(%begin, %role, %wait, %instruction, %object, %phase, %unknown)
        : (i64, i32, i32, i32, i32, i32, i32) -> ()
    scf.yield
  }
  llvm.return
}

// The same for a barrier at which only this CTA's threads and its bulk copies arrive. What a wait of cluster scope acquires may
// have been written elsewhere, so it empties the L1 cache, and the next page number would come from the L2 again.
llvm.func internal @dfk_await_own(%barrier: !llvm.ptr<3>, %phase: i32, %role: i32, %wait: i32, %instruction: i32,
                                  %object: i32) {
  %true = arith.constant true
  %c1 = arith.constant 1 : i32
  %unknown = arith.constant -1 : i32
  %parity = arith.andi %phase, %c1 : i32
  %begin = llvm.call @dfk_watch_begin() : () -> i64
  scf.while : () -> () {
    %done = nvvm.mbarrier.try_wait %barrier, %parity {dataflow.own_barrier, scope = #nvvm.mem_scope<cta>} : !llvm.ptr<3>, i32 -> i1
    %more = arith.xori %done, %true : i1
    scf.condition(%more)
  } do {
    llvm.call @dfk_watch(%begin, %role, %wait, %instruction, %object, %phase, %unknown)
        : (i64, i32, i32, i32, i32, i32, i32) -> ()
    scf.yield
  }
  llvm.return
}

// Waits until the flag %number of a global slot says that this launch has written it.
llvm.func internal @dfk_await_flag(%p: !llvm.ptr, %number: i32, %instruction: i32) {
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c16 = arith.constant 16 : i32
  %flags = llvm.call @dfk_parameter(%p, %c16) : (!llvm.ptr, i32) -> !llvm.ptr<1>
  %number64 = arith.extui %number : i32 to i64
  %flag = llvm.getelementptr %flags[%number64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
  %epoch = llvm.call @dfk_epoch() : () -> i32
  %begin = llvm.call @dfk_watch_begin() : () -> i64
  %last = scf.while : () -> i32 {
    %seen = llvm.load %flag atomic syncscope("device") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
    %more = arith.cmpi ne, %seen, %epoch : i32
    scf.condition(%more) %seen : i32
  } do {
  ^bb0(%seen: i32):
    llvm.call @dfk_watch(%begin, %c1, %c3, %instruction, %number, %epoch, %seen)
        : (i64, i32, i32, i32, i32, i32, i32) -> ()
    scf.yield
  }
  llvm.return
}

// Waits for the releases addressed to the instruction %w.
llvm.func internal @dfk_acquire(%p: !llvm.ptr, %w: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c7 = arith.constant 7 : i32
  %c16 = arith.constant 16 : i32
  %c20 = arith.constant 20 : i32
  %c23 = arith.constant 23 : i32
  %c24 = arith.constant 24 : i32
  %c27 = arith.constant 27 : i32
  %c32 = arith.constant 32 : i32
  %none = arith.constant -1 : i32
  %count = llvm.call @dfk_word(%w, %c24) : (i32, i32) -> i32
  %any = arith.cmpi ne, %count, %c0 : i32
  scf.if %any {
    %first = llvm.call @dfk_word(%w, %c23) : (i32, i32) -> i32
    %instruction = llvm.call @dfk_word(%w, %c27) : (i32, i32) -> i32
    scf.for %i = %c0 to %count step %c1 : i32 {
      %index = arith.addi %first, %i : i32
      %release = llvm.call @dfk_entry(%p, %c7, %index, %c32) : (!llvm.ptr, i32, i32, i32) -> !llvm.ptr<1>
      %number = llvm.call @dfk_load(%release, %c16) : (!llvm.ptr<1>, i32) -> i32
      %phase = llvm.call @dfk_load(%release, %c20) : (!llvm.ptr<1>, i32) -> i32
      %waits = arith.cmpi ne, %number, %none : i32
      scf.if %waits {
        %barrier = llvm.call @dfk_barrier(%number) : (i32) -> !llvm.ptr<3>
        llvm.call @dfk_await(%barrier, %phase, %c1, %c2, %instruction, %number)
            : (!llvm.ptr<3>, i32, i32, i32, i32, i32) -> ()
      }
    }
  }
  llvm.return
}

// Waits for the operands of the instruction %w. Each lane looks at one operand: it waits for a flag itself, and tells the whole
// warp about a barrier, since what a bulk copy has written is seen by those who have waited for its barrier. %record is what
// the lane has of the first 32 operands (dfk_lane_operand).
llvm.func internal @dfk_await_operands(%p: !llvm.ptr, %w: i32, %record: !operand, %asynchronous: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c16 = arith.constant 16 : i32
  %c18 = arith.constant 18 : i32
  %c27 = arith.constant 27 : i32
  %c31 = arith.constant 31 : i32
  %c32 = arith.constant 32 : i32
  %none = arith.constant -1 : i32
  %count = llvm.call @dfk_word(%w, %c18) : (i32, i32) -> i32
  %any = arith.cmpi ne, %count, %c0 : i32
  scf.if %any {
    %instruction = llvm.call @dfk_word(%w, %c27) : (i32, i32) -> i32
    scf.for %base = %c0 to %count step %c32 : i32 {
      %is_first = arith.cmpi eq, %base, %c0 : i32
      %its = scf.if %is_first -> !operand {
        scf.yield %record : !operand
      } else {
        %0 = llvm.call @dfk_lane_operand(%p, %w, %base) : (!llvm.ptr, i32, i32) -> !operand
        scf.yield %0 : !operand
      }
      %a = llvm.extractvalue %its[0] : !operand
      %b = llvm.extractvalue %its[1] : !operand
      %flags_space = llvm.extractelement %a[%c2 : i32] : vector<4xi32>
      %signal = llvm.extractelement %b[%c2 : i32] : vector<4xi32>
      %my_phase = llvm.extractelement %b[%c3 : i32] : vector<4xi32>
      // Of lanes without an operand all words are 0, and they ask for nothing.
      %flag_bit = arith.andi %flags_space, %c1 : i32
      %asks = arith.cmpi ne, %flag_bit, %c0 : i32
      %has = arith.cmpi ne, %signal, %none : i32
      %waits = arith.andi %asks, %has : i1
      %space = arith.shrui %flags_space, %c16 : i32
      %is_global = arith.cmpi eq, %space, %c2 : i32
      %is_shared = arith.cmpi ne, %space, %c2 : i32
      %by_flag = arith.andi %waits, %is_global : i1
      %by_barrier = arith.andi %waits, %is_shared : i1
      scf.if %by_flag {
        llvm.call @dfk_await_flag(%p, %signal, %instruction) : (!llvm.ptr, i32, i32) -> ()
      }
      %my_number = arith.select %by_barrier, %signal, %none : i32
      llvm.call @dfk_sync_warp() : () -> ()
      %left = arith.subi %count, %base : i32
      %lanes = arith.minui %left, %c32 : i32
      scf.if %asynchronous {
        scf.for %i = %c0 to %lanes step %c1 : i32 {
          %number = nvvm.shfl.sync idx %none, %my_number, %i, %c31 : i32 -> i32
          %phase = nvvm.shfl.sync idx %none, %my_phase, %i, %c31 : i32 -> i32
          %awaited = arith.cmpi ne, %number, %none : i32
          scf.if %awaited {
            %barrier = llvm.call @dfk_barrier(%number) : (i32) -> !llvm.ptr<3>
            llvm.call @dfk_await(%barrier, %phase, %c1, %c1, %instruction, %number)
                : (!llvm.ptr<3>, i32, i32, i32, i32, i32) -> ()
          }
        }
      }
    }
  }
  llvm.return
}
