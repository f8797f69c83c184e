// The number of a launch, by which its flags and tickets are told from those of earlier ones (KernelABI.h).

// The number of this launch, for those who came after the first barrier.
llvm.func internal @dfk_epoch() -> i32 {
  %c0 = arith.constant 0 : i32
  %at = llvm.call @dfk_control(%c0) : (i32) -> !llvm.ptr<3>
  %epoch = llvm.load %at {alignment = 4 : i64} : !llvm.ptr<3> -> i32
  llvm.return %epoch : i32
}

// The launch after %epoch: never 0, and of the other parity.
llvm.func internal @dfk_next_epoch(%epoch: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %next = arith.addi %epoch, %c1 : i32
  %wrapped = arith.cmpi eq, %next, %c0 : i32
  %0 = arith.select %wrapped, %c2, %next : i32
  llvm.return %0 : i32
}

// One thread: the number of this launch to shared memory.
llvm.func internal @dfk_read_epoch(%p: !llvm.ptr) {
  %c8 = arith.constant 8 : i32
  %c0 = arith.constant 0 : i32
  %null = llvm.mlir.zero : !llvm.ptr<1>
  %state = llvm.call @dfk_parameter(%p, %c8) : (!llvm.ptr, i32) -> !llvm.ptr<1>
  %given = llvm.icmp "ne" %state, %null : !llvm.ptr<1>
  scf.if %given {
    %at = llvm.getelementptr %state[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %last = llvm.load %at atomic syncscope("device") monotonic {alignment = 4 : i64} : !llvm.ptr<1> -> i32
    %mine = llvm.call @dfk_next_epoch(%last) : (i32) -> i32
    %place = llvm.call @dfk_control(%c0) : (i32) -> !llvm.ptr<3>
    llvm.store %mine, %place {alignment = 4 : i64} : i32, !llvm.ptr<3>
  }
  llvm.return
}

// Its warp: counts this CTA in. Everybody reads the epoch before that, so the last to start may advance it and clear
// the counter from which the next launch draws.
llvm.func internal @dfk_count_start(%p: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  %c8 = arith.constant 8 : i32
  %c24 = arith.constant 24 : i32
  %null = llvm.mlir.zero : !llvm.ptr<1>
  %state = llvm.call @dfk_parameter(%p, %c8) : (!llvm.ptr, i32) -> !llvm.ptr<1>
  %there = llvm.icmp "ne" %state, %null : !llvm.ptr<1>
  %lane = llvm.call @dfk_lane() : () -> i32
  %is0 = arith.cmpi eq, %lane, %c0 : i32
  %given = arith.andi %there, %is0 : i1
  scf.if %given {
    %mine = llvm.call @dfk_epoch() : () -> i32
    %cta = nvvm.read.ptx.sreg.ctaid.x : i32
    %ctas = nvvm.read.ptx.sreg.nctaid.x : i32
    %epoch = llvm.getelementptr %state[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %started = llvm.getelementptr %state[12] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %before = llvm.inline_asm has_side_effects "atom.acq_rel.gpu.global.add.u32 $0, [$1], $2;", "=r,l,r,~{memory}" %started, %c1 : (!llvm.ptr<1>, i32) -> i32
    %arrived = arith.addi %before, %c1 : i32
    %all = arith.cmpi eq, %arrived, %ctas : i32
    scf.if %all {
      %counters = llvm.call @dfk_parameter(%p, %c24) : (!llvm.ptr, i32) -> !llvm.ptr<1>
      %counts = llvm.icmp "ne" %counters, %null : !llvm.ptr<1>
      scf.if %counts {
        %next = llvm.call @dfk_next_epoch(%mine) : (i32) -> i32
        %parity = arith.andi %next, %c1 : i32
        %offset = arith.shli %parity, %c7 : i32
        %counter = llvm.getelementptr %counters[%offset] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
        llvm.store %c0, %counter atomic syncscope("device") monotonic {alignment = 4 : i64} : i32, !llvm.ptr<1>
      }
      llvm.store %c0, %started atomic syncscope("device") monotonic {alignment = 4 : i64} : i32, !llvm.ptr<1>
      llvm.store %mine, %epoch atomic syncscope("device") release {alignment = 4 : i64} : i32, !llvm.ptr<1>
    }
    %first = arith.cmpi eq, %cta, %c0 : i32
    scf.if %first {
      %observed = llvm.getelementptr %state[16] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
      llvm.store %ctas, %observed : i32, !llvm.ptr<1>
      %cluster = nvvm.read.ptx.sreg.cluster.nctarank : i32
      %observed_cluster = llvm.getelementptr %state[20] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
      llvm.store %cluster, %observed_cluster : i32, !llvm.ptr<1>
    }
  }
  llvm.return
}
