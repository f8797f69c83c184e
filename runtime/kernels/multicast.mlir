// One CTA of a cluster loads tiles from global memory into the shared memory of all of them, through a ring of stages. Every
// receiver arms its own barrier for a stage, then says so to the leader; the leader sends a tile when all have. So a stage is
// neither overwritten before it was read nor filled before it was armed, and arrivals and bytes of each phase are fixed.
//
// Tiles below 16 bytes, or not aligned to 16, are moved by plain accesses.
//
// Every CTA leaves eight 64-bit results: 0 cycles from the first to the last tile, 1 cycles between sending and receiving over
// all tiles (the leader), 2 words or bytes that differ from the reference, 3 tiles received, 4 nanoseconds, 5 rank and size.
//
// Waits are bounded: a wait that runs out stores to address 0.

gpu.module @multicast {
  // Dynamic shared memory: barriers of up to 16 stages, when their tiles were sent, then the stages.
  llvm.mlir.global external @arena() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>

  llvm.func internal @clock() -> i64 attributes {always_inline} {
    %0 = llvm.inline_asm has_side_effects "mov.u64 $0, %clock64;", "=l,~{memory}" : () -> i64
    llvm.return %0 : i64
  }
  llvm.func internal @nanoseconds() -> i64 attributes {always_inline} {
    %0 = llvm.inline_asm has_side_effects "mov.u64 $0, %globaltimer;", "=l,~{memory}" : () -> i64
    llvm.return %0 : i64
  }

  // Waits until the phase with this parity of a local barrier is complete; ends the kernel when that takes some seconds.
  llvm.func internal @wait(%barrier: !llvm.ptr<3>, %parity: i32) attributes {always_inline} {
    %true = arith.constant true
    %c1 = arith.constant 1 : i32
    %limit = arith.constant 8000000000 : i64
    %begin = llvm.call @clock() : () -> i64
    scf.while : () -> () {
      %done = nvvm.mbarrier.try_wait %barrier, %parity {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<3>, i32 -> i1
      %more = arith.xori %done, %true : i1
      scf.condition(%more)
    } do {
      %now = llvm.call @clock() : () -> i64
      %spent = arith.subi %now, %begin : i64
      %late = arith.cmpi ugt, %spent, %limit : i64
      scf.if %late {
        %null = llvm.mlir.zero : !llvm.ptr<1>
        llvm.store volatile %c1, %null : i32, !llvm.ptr<1>
      }
      scf.yield
    }
    llvm.return
  }

  // %tiles tiles of %bytes bytes lie one behind the other at %in; %reference is what has to arrive. 128 threads read the
  // tiles, and the fifth warp of the CTA with rank %leader sends them.
  llvm.func @multicast(%in: !llvm.ptr<1>, %reference: !llvm.ptr<1>, %bytes: i32, %tiles: i32, %stages: i32, %leader: i32,
                       %results: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 160, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c8 = arith.constant 8 : i32
    %c32 = arith.constant 32 : i32
    %c127 = arith.constant 127 : i32
    %c128 = arith.constant 128 : i32
    %c256 = arith.constant 256 : i32
    %c384 = arith.constant 384 : i32
    %cm128 = arith.constant -128 : i32
    %all_lanes = arith.constant -1 : i32
    %z64 = arith.constant 0 : i64
    %s32 = arith.constant 32 : i64
    %l15 = arith.constant 15 : i64
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %cta = nvvm.read.ptx.sreg.ctaid.x : i32
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %size = nvvm.read.ptx.sreg.cluster.nctarank : i32
    %begin = llvm.call @nanoseconds() : () -> i64
    %is0 = arith.cmpi eq, %tid, %c0 : i32

    %in_address = llvm.ptrtoint %in : !llvm.ptr<1> to i64
    %bytes64 = arith.extui %bytes : i32 to i64
    %bits = arith.ori %in_address, %bytes64 : i64
    %low = arith.andi %bits, %l15 : i64
    %bulk = arith.cmpi eq, %low, %z64 : i64
    %padded = arith.addi %bytes, %c127 : i32
    %capacity = arith.andi %padded, %cm128 : i32

    // full[s] at 8 s, ready[s] at 128 + 8 s, sent[s] at 256 + 8 s, stage s at 384 + s capacity.
    %full = llvm.mlir.addressof @arena : !llvm.ptr<3>
    %ready = llvm.getelementptr %full[%c128] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %sent = llvm.getelementptr %full[%c256] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %ring = llvm.getelementptr %full[%c384] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %leader_ready = nvvm.mapa %ready, %leader : !llvm.ptr<3> -> !llvm.ptr<7>
    // A phase of full: the receiver's own arrival, and without the copy engine the leader's as well. Of ready: all receivers.
    %arrivals = arith.select %bulk, %c1, %c2 : i32
    %armed_bytes = arith.select %bulk, %bytes, %c0 : i32
    scf.if %is0 {
      scf.for %s = %c0 to %stages step %c1 : i32 {
        %f = llvm.getelementptr %full[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
        %e = llvm.getelementptr %ready[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
        nvvm.mbarrier.init %f, %arrivals : !llvm.ptr<3>, i32
        nvvm.mbarrier.init %e, %size : !llvm.ptr<3>, i32
      }
      nvvm.fence.mbarrier.init
    }
    nvvm.cluster.arrive
    nvvm.cluster.wait

    %reads = arith.cmpi ult, %tid, %c128 : i32
    scf.if %reads {
      // Arm the stages that will be used.
      scf.if %is0 {
        %first = arith.minsi %stages, %tiles : i32
        scf.for %s = %c0 to %first step %c1 : i32 {
          %f = llvm.getelementptr %full[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %e = llvm.getelementptr %leader_ready[%s] : (!llvm.ptr<7>, i32) -> !llvm.ptr<7>, i64
          nvvm.mbarrier.arrive.expect_tx %f, %armed_bytes : !llvm.ptr<3>, i32
          nvvm.mbarrier.arrive %e {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>
        }
      }
      %start = llvm.call @clock() : () -> i64
      %times = arith.cmpi eq, %rank, %leader : i32
      %sums:2 = scf.for %t = %c0 to %tiles step %c1 iter_args(%n = %c0, %away = %z64) -> (i32, i64) : i32 {
        %s = arith.remui %t, %stages : i32
        %use = arith.divui %t, %stages : i32
        %parity = arith.andi %use, %c1 : i32
        %f = llvm.getelementptr %full[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
        llvm.call @wait(%f, %parity) : (!llvm.ptr<3>, i32) -> ()
        // In the leader's own CTA one clock sees a tile leave and come.
        %now = llvm.call @clock() : () -> i64
        %gone = scf.if %times -> i64 {
          %p = llvm.getelementptr %sent[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %then = llvm.load volatile %p : !llvm.ptr<3> -> i64
          %span = arith.subi %now, %then : i64
          %total = arith.addi %away, %span : i64
          scf.yield %total : i64
        } else {
          scf.yield %z64 : i64
        }
        %at = arith.muli %s, %capacity : i32
        %stage = llvm.getelementptr %ring[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
        %t64 = arith.extui %t : i32 to i64
        %offset = arith.muli %t64, %bytes64 : i64
        %tile = llvm.getelementptr %reference[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
        %sum = scf.if %bulk -> i32 {
          %words = arith.shrui %bytes, %c2 : i32
          %0 = scf.for %i = %tid to %words step %c128 iter_args(%m = %n) -> (i32) : i32 {
            %p = llvm.getelementptr %stage[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
            %q = llvm.getelementptr %tile[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
            %a = llvm.load %p : !llvm.ptr<3> -> i32
            %b = llvm.load %q : !llvm.ptr<1> -> i32
            %differs = arith.cmpi ne, %a, %b : i32
            %one = arith.extui %differs : i1 to i32
            %next = arith.addi %m, %one : i32
            scf.yield %next : i32
          }
          scf.yield %0 : i32
        } else {
          %0 = scf.for %i = %tid to %bytes step %c128 iter_args(%m = %n) -> (i32) : i32 {
            %p = llvm.getelementptr %stage[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
            %q = llvm.getelementptr %tile[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
            %a = llvm.load %p : !llvm.ptr<3> -> i8
            %b = llvm.load %q : !llvm.ptr<1> -> i8
            %differs = arith.cmpi ne, %a, %b : i8
            %one = arith.extui %differs : i1 to i32
            %next = arith.addi %m, %one : i32
            scf.yield %next : i32
          }
          scf.yield %0 : i32
        }
        nvvm.barrier id = %c1 number_of_threads = %c128
        // Arm the stage for its next tile, then tell the leader.
        %later = arith.addi %t, %stages : i32
        %again = arith.cmpi slt, %later, %tiles : i32
        %rearms = arith.andi %again, %is0 : i1
        scf.if %rearms {
          %e = llvm.getelementptr %leader_ready[%s] : (!llvm.ptr<7>, i32) -> !llvm.ptr<7>, i64
          nvvm.mbarrier.arrive.expect_tx %f, %armed_bytes : !llvm.ptr<3>, i32
          nvvm.mbarrier.arrive %e {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>
        }
        scf.yield %sum, %gone : i32, i64
      }
      %end = llvm.call @clock() : () -> i64
      %at = arith.muli %cta, %c8 : i32
      %base = llvm.getelementptr %results[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
      %p2 = llvm.getelementptr %base[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      %wrong64 = arith.extui %sums#0 : i32 to i64
      %ignored = llvm.atomicrmw add %p2, %wrong64 syncscope("device") monotonic : !llvm.ptr<1>, i64
      scf.if %is0 {
        %cycles = arith.subi %end, %start : i64
        llvm.store %cycles, %base : i64, !llvm.ptr<1>
        %p1 = llvm.getelementptr %base[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
        llvm.store %sums#1, %p1 : i64, !llvm.ptr<1>
        %p3 = llvm.getelementptr %base[3] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
        %tiles64 = arith.extui %tiles : i32 to i64
        llvm.store %tiles64, %p3 : i64, !llvm.ptr<1>
        %now = llvm.call @nanoseconds() : () -> i64
        %span = arith.subi %now, %begin : i64
        %p4 = llvm.getelementptr %base[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
        llvm.store %span, %p4 : i64, !llvm.ptr<1>
        %size64 = arith.extui %size : i32 to i64
        %rank64 = arith.extui %rank : i32 to i64
        %upper = arith.shli %size64, %s32 : i64
        %both = arith.ori %upper, %rank64 : i64
        %p5 = llvm.getelementptr %base[5] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
        llvm.store %both, %p5 : i64, !llvm.ptr<1>
      }
    } else {
      %leads = arith.cmpi eq, %rank, %leader : i32
      scf.if %leads {
        %lane = arith.subi %tid, %c128 : i32
        %lane0 = arith.cmpi eq, %lane, %c0 : i32
        %receiver = arith.cmpi ult, %lane, %size : i32
        %power = arith.shli %c1, %size : i32
        %mask32 = arith.subi %power, %c1 : i32
        %mask = arith.trunci %mask32 : i32 to i16
        scf.for %t = %c0 to %tiles step %c1 : i32 {
          %s = arith.remui %t, %stages : i32
          %use = arith.divui %t, %stages : i32
          %parity = arith.andi %use, %c1 : i32
          %f = llvm.getelementptr %full[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %e = llvm.getelementptr %ready[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %at = arith.muli %s, %capacity : i32
          %stage = llvm.getelementptr %ring[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
          %t64 = arith.extui %t : i32 to i64
          %offset = arith.muli %t64, %bytes64 : i64
          %tile = llvm.getelementptr %in[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
          llvm.call @wait(%e, %parity) : (!llvm.ptr<3>, i32) -> ()
          scf.if %lane0 {
            %p = llvm.getelementptr %sent[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
            %now = llvm.call @clock() : () -> i64
            llvm.store volatile %now, %p : i64, !llvm.ptr<3>
          }
          scf.if %bulk {
            scf.if %lane0 {
              %stage_cluster = llvm.addrspacecast %stage : !llvm.ptr<3> to !llvm.ptr<7>
              nvvm.cp.async.bulk.shared.cluster.global %stage_cluster, %tile, %f, %bytes multicast_mask = %mask : !llvm.ptr<7>, !llvm.ptr<1>
            }
          } else {
            scf.for %r = %c0 to %size step %c1 : i32 {
              %remote = nvvm.mapa %stage, %r : !llvm.ptr<3> -> !llvm.ptr<7>
              scf.for %i = %lane to %bytes step %c32 : i32 {
                %p = llvm.getelementptr %tile[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
                %q = llvm.getelementptr %remote[%i] : (!llvm.ptr<7>, i32) -> !llvm.ptr<7>, i8
                %byte = llvm.load %p : !llvm.ptr<1> -> i8
                llvm.store %byte, %q : i8, !llvm.ptr<7>
              }
            }
            nvvm.bar.warp.sync %all_lanes : i32
            scf.if %receiver {
              %remote_full = nvvm.mapa %f, %lane : !llvm.ptr<3> -> !llvm.ptr<7>
              llvm.fence syncscope("cluster") acq_rel
              nvvm.mbarrier.arrive %remote_full {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>
            }
            nvvm.bar.warp.sync %all_lanes : i32
          }
        }
      }
    }
    nvvm.cluster.arrive
    nvvm.cluster.wait
    llvm.return
  }
}
