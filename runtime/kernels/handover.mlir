// Hand-over of one record at a time round a ring of CTAs, by three transports. Rank 0 sends record 0 to rank 1, which checks it
// and sends another one to rank 2, and so on; a round ends when rank 0 has received a record. Bytes, rounds and the size of the
// ring are arguments. Records below 16 bytes, or not aligned to 16, are moved by plain accesses.
//
// Every CTA leaves eight 64-bit results (see HandoverResult):
//   0  cycles between sending and receiving, over all rounds (rank 0)
//   1  cycles between receiving and sending, over all rounds (the other ranks)
//   2  words or bytes that were not what the sender had written
//   3  records received
//   4  nanoseconds that the CTA took
//   5  rank and, in the upper half, size of the ring
// so one hop takes (cycles away of rank 0 - cycles that the others held the record) / (rounds * size).
//
// Waits are bounded: a wait that runs out stores to address 0.

gpu.module @handover {
  // Dynamic shared memory: barriers, then inbox and outbox.
  llvm.mlir.global external @arena() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>

  llvm.func internal @clock() -> i64 attributes {always_inline} {
    %0 = llvm.inline_asm has_side_effects "mov.u64 $0, %clock64;", "=l,~{memory}" : () -> i64
    llvm.return %0 : i64
  }
  llvm.func internal @nanoseconds() -> i64 attributes {always_inline} {
    %0 = llvm.inline_asm has_side_effects "mov.u64 $0, %globaltimer;", "=l,~{memory}" : () -> i64
    llvm.return %0 : i64
  }

  // Ends the kernel when the wait that began at %begin has taken some seconds.
  llvm.func internal @bound(%begin: i64) attributes {always_inline} {
    %limit = arith.constant 8000000000 : i64
    %c1 = arith.constant 1 : i32
    %now = llvm.call @clock() : () -> i64
    %spent = arith.subi %now, %begin : i64
    %late = arith.cmpi ugt, %spent, %limit : i64
    scf.if %late {
      %null = llvm.mlir.zero : !llvm.ptr<1>
      llvm.store volatile %c1, %null : i32, !llvm.ptr<1>
    }
    llvm.return
  }

  // Waits until the phase with this parity of a local barrier is complete.
  llvm.func internal @wait(%barrier: !llvm.ptr<3>, %parity: i32) attributes {always_inline} {
    %true = arith.constant true
    %begin = llvm.call @clock() : () -> i64
    scf.while : () -> () {
      %done = nvvm.mbarrier.try_wait %barrier, %parity {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<3>, i32 -> i1
      %more = arith.xori %done, %true : i1
      scf.condition(%more)
    } do {
      llvm.call @bound(%begin) : (i64) -> ()
      scf.yield
    }
    llvm.return
  }

  // Waits until a flag in global memory has exactly this value.
  llvm.func internal @wait_flag(%flag: !llvm.ptr<1>, %value: i32) attributes {always_inline} {
    %begin = llvm.call @clock() : () -> i64
    scf.while : () -> () {
      %seen = llvm.load %flag atomic syncscope("device") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
      %more = arith.cmpi ne, %seen, %value : i32
      scf.condition(%more)
    } do {
      llvm.call @bound(%begin) : (i64) -> ()
      scf.yield
    }
    llvm.return
  }

  // Word %i of record %hop. The top bit is clear: no word is the sentinel.
  llvm.func internal @word(%seed: i32, %hop: i32, %i: i32) -> i32 attributes {always_inline} {
    %k0 = arith.constant 0x9E3779B1 : i32
    %k1 = arith.constant 0x85EBCA77 : i32
    %k2 = arith.constant 0x2C1B3C6D : i32
    %c15 = arith.constant 15 : i32
    %c12 = arith.constant 12 : i32
    %mask = arith.constant 0x7FFFFFFF : i32
    %0 = arith.muli %hop, %k0 : i32
    %1 = arith.xori %0, %seed : i32
    %2 = arith.muli %i, %k1 : i32
    %3 = arith.addi %1, %2 : i32
    %4 = arith.shrui %3, %c15 : i32
    %5 = arith.xori %3, %4 : i32
    %6 = arith.muli %5, %k2 : i32
    %7 = arith.shrui %6, %c12 : i32
    %8 = arith.xori %6, %7 : i32
    %9 = arith.andi %8, %mask : i32
    llvm.return %9 : i32
  }

  // Writes record %hop, by words or by bytes.
  llvm.func internal @fill(%to: !llvm.ptr<3>, %bytes: i32, %bulk: i1, %seed: i32, %hop: i32) attributes {always_inline} {
    %c2 = arith.constant 2 : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %threads = nvvm.read.ptx.sreg.ntid.x : i32
    scf.if %bulk {
      %words = arith.shrui %bytes, %c2 : i32
      scf.for %i = %tid to %words step %threads : i32 {
        %value = llvm.call @word(%seed, %hop, %i) : (i32, i32, i32) -> i32
        %at = llvm.getelementptr %to[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
        llvm.store %value, %at : i32, !llvm.ptr<3>
      }
    } else {
      scf.for %i = %tid to %bytes step %threads : i32 {
        %value = llvm.call @word(%seed, %hop, %i) : (i32, i32, i32) -> i32
        %byte = arith.trunci %value : i32 to i8
        %at = llvm.getelementptr %to[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
        llvm.store %byte, %at : i8, !llvm.ptr<3>
      }
    }
    llvm.return
  }

  // How many words or bytes, of those that this thread looks at, differ.
  llvm.func internal @check(%from: !llvm.ptr<3>, %bytes: i32, %bulk: i1, %seed: i32, %hop: i32) -> i32 attributes {always_inline} {
    %c0 = arith.constant 0 : i32
    %c2 = arith.constant 2 : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %threads = nvvm.read.ptx.sreg.ntid.x : i32
    %wrong = scf.if %bulk -> i32 {
      %words = arith.shrui %bytes, %c2 : i32
      %sum = scf.for %i = %tid to %words step %threads iter_args(%n = %c0) -> (i32) : i32 {
        %value = llvm.call @word(%seed, %hop, %i) : (i32, i32, i32) -> i32
        %at = llvm.getelementptr %from[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
        %seen = llvm.load %at : !llvm.ptr<3> -> i32
        %differs = arith.cmpi ne, %seen, %value : i32
        %one = arith.extui %differs : i1 to i32
        %next = arith.addi %n, %one : i32
        scf.yield %next : i32
      }
      scf.yield %sum : i32
    } else {
      %sum = scf.for %i = %tid to %bytes step %threads iter_args(%n = %c0) -> (i32) : i32 {
        %value = llvm.call @word(%seed, %hop, %i) : (i32, i32, i32) -> i32
        %byte = arith.trunci %value : i32 to i8
        %at = llvm.getelementptr %from[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
        %seen = llvm.load %at : !llvm.ptr<3> -> i8
        %differs = arith.cmpi ne, %seen, %byte : i8
        %one = arith.extui %differs : i1 to i32
        %next = arith.addi %n, %one : i32
        scf.yield %next : i32
      }
      scf.yield %sum : i32
    }
    llvm.return %wrong : i32
  }

  // Bytes from one buffer to the next, a multiple of 128.
  llvm.func internal @capacity(%bytes: i32, %shift: i32) -> i32 attributes {always_inline} {
    %c127 = arith.constant 127 : i32
    %mask = arith.constant -128 : i32
    %0 = arith.addi %bytes, %shift : i32
    %1 = arith.addi %0, %c127 : i32
    %2 = arith.andi %1, %mask : i32
    llvm.return %2 : i32
  }

  // Whether the copy engine takes the record.
  llvm.func internal @is_bulk(%bytes: i32, %shift: i32) -> i1 attributes {always_inline} {
    %c0 = arith.constant 0 : i32
    %c15 = arith.constant 15 : i32
    %0 = arith.ori %bytes, %shift : i32
    %1 = arith.andi %0, %c15 : i32
    %2 = arith.cmpi eq, %1, %c0 : i32
    llvm.return %2 : i1
  }

  llvm.func internal @report(%results: !llvm.ptr<1>, %away: i64, %held: i64, %wrong: i32, %received: i32, %begin: i64, %rank: i32,
                             %size: i32) attributes {always_inline} {
    %c0 = arith.constant 0 : i32
    %c8 = arith.constant 8 : i32
    %c32 = arith.constant 32 : i64
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %cta = nvvm.read.ptx.sreg.ctaid.x : i32
    %first = arith.muli %cta, %c8 : i32
    %base = llvm.getelementptr %results[%first] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
    %wrong64 = arith.extui %wrong : i32 to i64
    %p2 = llvm.getelementptr %base[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
    %ignored = llvm.atomicrmw add %p2, %wrong64 syncscope("device") monotonic : !llvm.ptr<1>, i64
    %is0 = arith.cmpi eq, %tid, %c0 : i32
    scf.if %is0 {
      llvm.store %away, %base : i64, !llvm.ptr<1>
      %p1 = llvm.getelementptr %base[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %held, %p1 : i64, !llvm.ptr<1>
      %p3 = llvm.getelementptr %base[3] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      %received64 = arith.extui %received : i32 to i64
      llvm.store %received64, %p3 : i64, !llvm.ptr<1>
      %end = llvm.call @nanoseconds() : () -> i64
      %span = arith.subi %end, %begin : i64
      %p4 = llvm.getelementptr %base[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %span, %p4 : i64, !llvm.ptr<1>
      %size64 = arith.extui %size : i32 to i64
      %rank64 = arith.extui %rank : i32 to i64
      %upper = arith.shli %size64, %c32 : i64
      %both = arith.ori %upper, %rank64 : i64
      %p5 = llvm.getelementptr %base[5] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %both, %p5 : i64, !llvm.ptr<1>
    }
    llvm.return
  }

  // The number of this launch. Everybody reads the epoch before saying that it has started, so the last starter may advance it.
  // Only thread 0 gets it.
  llvm.func internal @start(%workspace: !llvm.ptr<1>) -> i32 attributes {always_inline} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %cta = nvvm.read.ptx.sreg.ctaid.x : i32
    %ctas = nvvm.read.ptx.sreg.nctaid.x : i32
    %is0 = arith.cmpi eq, %tid, %c0 : i32
    %epoch = scf.if %is0 -> i32 {
      %p = llvm.getelementptr %workspace[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
      %started = llvm.getelementptr %workspace[12] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
      %last = llvm.load %p atomic syncscope("device") monotonic {alignment = 4 : i64} : !llvm.ptr<1> -> i32
      %mine = arith.addi %last, %c1 : i32
      %before = llvm.inline_asm has_side_effects "atom.acq_rel.gpu.global.add.u32 $0, [$1], $2;", "=r,l,r,~{memory}" %started, %c1 : (!llvm.ptr<1>, i32) -> i32
      %arrived = arith.addi %before, %c1 : i32
      %all = arith.cmpi eq, %arrived, %ctas : i32
      scf.if %all {
        llvm.store %c0, %started atomic syncscope("device") monotonic {alignment = 4 : i64} : i32, !llvm.ptr<1>
        llvm.store %mine, %p atomic syncscope("device") release {alignment = 4 : i64} : i32, !llvm.ptr<1>
      }
      %first = arith.cmpi eq, %cta, %c0 : i32
      scf.if %first {
        %observed = llvm.getelementptr %workspace[16] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
        llvm.store %ctas, %observed : i32, !llvm.ptr<1>
        %cluster = nvvm.read.ptx.sreg.cluster.nctarank : i32
        %observed_cluster = llvm.getelementptr %workspace[20] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
        llvm.store %cluster, %observed_cluster : i32, !llvm.ptr<1>
      }
      scf.yield %mine : i32
    } else {
      scf.yield %c0 : i32
    }
    llvm.return %epoch : i32
  }

  // What the flag of record %k says: the epoch and the number of the record.
  llvm.func internal @flag_value(%epoch: i32, %k: i32) -> i32 attributes {always_inline} {
    %c16 = arith.constant 16 : i32
    %0 = arith.shli %epoch, %c16 : i32
    %1 = arith.addi %0, %k : i32
    llvm.return %1 : i32
  }

  // The flag that says that a record is there (%which 0) or was read (1), of the slot of %cta. Each has a cache line.
  llvm.func internal @flag_of(%workspace: !llvm.ptr<1>, %cta: i32, %which: i32) -> !llvm.ptr<1> attributes {always_inline} {
    %c1 = arith.constant 1 : i32
    %c7 = arith.constant 7 : i32
    %p = llvm.getelementptr %workspace[40] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %offset = llvm.load %p : !llvm.ptr<1> -> i64
    %flags = llvm.getelementptr %workspace[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    %0 = arith.shli %cta, %c1 : i32
    %1 = arith.addi %0, %which : i32
    %2 = arith.shli %1, %c7 : i32
    %flag = llvm.getelementptr %flags[%2] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    llvm.return %flag : !llvm.ptr<1>
  }

  // Through the receiver's shared memory. The ring is the cluster. The receiver's barrier gets one arrival a record: the
  // sender's, which also says how many bytes the copy will bring. The first %waiters threads wait for it (1 to 256),
  // and the others for them.
  llvm.func @handover_cluster(%bytes: i32, %shift: i32, %rounds: i32, %seed: i32, %expected: i32, %waiters: i32,
                              %results: !llvm.ptr<1>)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c8 = arith.constant 8 : i32
    %c128 = arith.constant 128 : i32
    %z64 = arith.constant 0 : i64
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %threads = nvvm.read.ptx.sreg.ntid.x : i32
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %size = nvvm.read.ptx.sreg.cluster.nctarank : i32
    %begin = llvm.call @nanoseconds() : () -> i64
    %is0 = arith.cmpi eq, %tid, %c0 : i32
    %first = arith.cmpi eq, %rank, %c0 : i32
    %waits = arith.cmpi ult, %tid, %waiters : i32
    %bulk = llvm.call @is_bulk(%bytes, %shift) : (i32, i32) -> i1
    %capacity = llvm.call @capacity(%bytes, %shift) : (i32, i32) -> i32

    %full = llvm.mlir.addressof @arena : !llvm.ptr<3>
    %empty = llvm.getelementptr %full[%c8] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %in_at = arith.addi %c128, %shift : i32
    %out_at = arith.addi %in_at, %capacity : i32
    %inbox = llvm.getelementptr %full[%in_at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %outbox = llvm.getelementptr %full[%out_at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8

    // The neighbours.
    %up = arith.addi %rank, %c1 : i32
    %next = arith.remui %up, %size : i32
    %last = arith.subi %size, %c1 : i32
    %down = arith.addi %rank, %last : i32
    %previous = arith.remui %down, %size : i32
    %next_full = nvvm.mapa %full, %next : !llvm.ptr<3> -> !llvm.ptr<7>
    %next_inbox = nvvm.mapa %inbox, %next : !llvm.ptr<3> -> !llvm.ptr<7>
    %previous_empty = nvvm.mapa %empty, %previous : !llvm.ptr<3> -> !llvm.ptr<7>
    // The copy's barrier operand is typed as local although it names the receiver's.
    %next_full_address = llvm.ptrtoint %next_full : !llvm.ptr<7> to i64
    %next_full_local = llvm.inttoptr %next_full_address : i64 to !llvm.ptr<3>

    scf.if %is0 {
      nvvm.mbarrier.init %full, %c1 : !llvm.ptr<3>, i32
      nvvm.mbarrier.init %empty, %c1 : !llvm.ptr<3>, i32
      nvvm.fence.mbarrier.init
    }
    nvvm.cluster.arrive
    nvvm.cluster.wait

    // Step k: receive record k, send record k; rank 0 receives record k - 1 instead, and has a step more.
    %more = arith.extui %first : i1 to i32
    %steps = arith.addi %rounds, %more : i32
    %sums:4 = scf.for %k = %c0 to %steps step %c1
        iter_args(%away = %z64, %held = %z64, %wrong = %c0, %sent = %z64) -> (i64, i64, i32, i64) : i32 {
      %record = arith.subi %k, %more : i32
      %receives = arith.cmpi sge, %record, %c0 : i32
      %parity = arith.andi %k, %c1 : i32
      %r:3 = scf.if %receives -> (i64, i64, i32) {
        %record_parity = arith.andi %record, %c1 : i32
        scf.if %waits {
          llvm.call @wait(%full, %record_parity) : (!llvm.ptr<3>, i32) -> ()
        }
        %now = llvm.call @clock() : () -> i64
        nvvm.barrier
        %0 = arith.muli %record, %size : i32
        %hop = arith.addi %0, %previous : i32
        %n = llvm.call @check(%inbox, %bytes, %bulk, %expected, %hop) : (!llvm.ptr<3>, i32, i1, i32, i32) -> i32
        %sum = arith.addi %wrong, %n : i32
        nvvm.barrier
        scf.if %is0 {
          nvvm.mbarrier.arrive %previous_empty {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>
        }
        %1 = arith.subi %now, %sent : i64
        %2 = arith.addi %away, %1 : i64
        %gone = arith.select %first, %2, %away : i64
        scf.yield %now, %gone, %sum : i64, i64, i32
      } else {
        scf.yield %z64, %away, %wrong : i64, i64, i32
      }
      %sends = arith.cmpi slt, %k, %rounds : i32
      %s:2 = scf.if %sends -> (i64, i64) {
        // The receiver has read record k - 1: its inbox and our outbox are free. Record 0 finds them so.
        %free = arith.xori %parity, %c1 : i32
        llvm.call @wait(%empty, %free) : (!llvm.ptr<3>, i32) -> ()
        %0 = arith.muli %k, %size : i32
        %hop = arith.addi %0, %rank : i32
        llvm.call @fill(%outbox, %bytes, %bulk, %seed, %hop) : (!llvm.ptr<3>, i32, i1, i32, i32) -> ()
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        nvvm.barrier
        %now = llvm.call @clock() : () -> i64
        scf.if %bulk {
          scf.if %is0 {
            nvvm.mbarrier.arrive.expect_tx %next_full, %bytes {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>, i32
            nvvm.cp.async.bulk.shared.cluster.shared.cta %next_inbox, %outbox, %next_full_local, %bytes : !llvm.ptr<7>, !llvm.ptr<3>
          }
        } else {
          scf.for %i = %tid to %bytes step %threads : i32 {
            %from = llvm.getelementptr %outbox[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
            %to = llvm.getelementptr %next_inbox[%i] : (!llvm.ptr<7>, i32) -> !llvm.ptr<7>, i8
            %byte = llvm.load %from : !llvm.ptr<3> -> i8
            llvm.store %byte, %to : i8, !llvm.ptr<7>
          }
          nvvm.barrier
          scf.if %is0 {
            llvm.fence syncscope("cluster") acq_rel
            nvvm.mbarrier.arrive %next_full {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>
          }
        }
        %1 = arith.subi %now, %r#0 : i64
        %2 = arith.addi %held, %1 : i64
        %kept = arith.select %first, %held, %2 : i64
        scf.yield %now, %kept : i64, i64
      } else {
        scf.yield %sent, %held : i64, i64
      }
      scf.yield %r#1, %s#1, %r#2, %s#0 : i64, i64, i32, i64
    }
    llvm.call @report(%results, %sums#0, %sums#1, %sums#2, %rounds, %begin, %rank, %size) : (!llvm.ptr<1>, i64, i64, i32, i32, i64, i32, i32) -> ()
    // Nobody leaves while a neighbour may still write to its shared memory.
    nvvm.cluster.arrive
    nvvm.cluster.wait
    llvm.return
  }

  // Through a slot in global memory and a flag: bulk store, release; acquire, bulk load. CTAs form rings of %ring in order of
  // their numbers; all of them have to be resident.
  llvm.func @handover_global_flag(%workspace: !llvm.ptr<1>, %ring: i32, %bytes: i32, %shift: i32, %rounds: i32, %seed: i32, %expected: i32,
                                  %results: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c128 = arith.constant 128 : i32
    %z64 = arith.constant 0 : i64
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %threads = nvvm.read.ptx.sreg.ntid.x : i32
    %cta = nvvm.read.ptx.sreg.ctaid.x : i32
    %begin = llvm.call @nanoseconds() : () -> i64
    %is0 = arith.cmpi eq, %tid, %c0 : i32
    %rank = arith.remui %cta, %ring : i32
    %first = arith.cmpi eq, %rank, %c0 : i32
    %bulk = llvm.call @is_bulk(%bytes, %shift) : (i32, i32) -> i1
    %capacity = llvm.call @capacity(%bytes, %shift) : (i32, i32) -> i32
    %epoch = llvm.call @start(%workspace) : (!llvm.ptr<1>) -> i32

    %full = llvm.mlir.addressof @arena : !llvm.ptr<3>
    %in_at = arith.addi %c128, %shift : i32
    %out_at = arith.addi %in_at, %capacity : i32
    %inbox = llvm.getelementptr %full[%in_at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %outbox = llvm.getelementptr %full[%out_at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %inbox_cluster = llvm.addrspacecast %inbox : !llvm.ptr<3> to !llvm.ptr<7>

    %up = arith.addi %rank, %c1 : i32
    %next_rank = arith.remui %up, %ring : i32
    %base = arith.subi %cta, %rank : i32
    %next = arith.addi %base, %next_rank : i32
    %last = arith.subi %ring, %c1 : i32
    %down = arith.addi %rank, %last : i32
    %previous = arith.remui %down, %ring : i32
    %my_full = llvm.call @flag_of(%workspace, %cta, %c0) : (!llvm.ptr<1>, i32, i32) -> !llvm.ptr<1>
    %my_read = llvm.call @flag_of(%workspace, %cta, %c1) : (!llvm.ptr<1>, i32, i32) -> !llvm.ptr<1>
    %next_full = llvm.call @flag_of(%workspace, %next, %c0) : (!llvm.ptr<1>, i32, i32) -> !llvm.ptr<1>
    %next_read = llvm.call @flag_of(%workspace, %next, %c1) : (!llvm.ptr<1>, i32, i32) -> !llvm.ptr<1>
    // Slots lie in the scratch arena.
    %scratch_at = llvm.getelementptr %workspace[56] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %scratch_offset = llvm.load %scratch_at : !llvm.ptr<1> -> i64
    %scratch = llvm.getelementptr %workspace[%scratch_offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    %my_offset = arith.muli %cta, %capacity : i32
    %my_at = arith.addi %my_offset, %shift : i32
    %my_slot = llvm.getelementptr %scratch[%my_at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %next_offset = arith.muli %next, %capacity : i32
    %next_at = arith.addi %next_offset, %shift : i32
    %next_slot = llvm.getelementptr %scratch[%next_at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8

    scf.if %is0 {
      nvvm.mbarrier.init %full, %c1 : !llvm.ptr<3>, i32
      nvvm.fence.mbarrier.init
    }
    nvvm.barrier

    %more = arith.extui %first : i1 to i32
    %steps = arith.addi %rounds, %more : i32
    %sums:4 = scf.for %k = %c0 to %steps step %c1
        iter_args(%away = %z64, %held = %z64, %wrong = %c0, %sent = %z64) -> (i64, i64, i32, i64) : i32 {
      %record = arith.subi %k, %more : i32
      %receives = arith.cmpi sge, %record, %c0 : i32
      %r:3 = scf.if %receives -> (i64, i64, i32) {
        %number = arith.addi %record, %c1 : i32
        %value = llvm.call @flag_value(%epoch, %number) : (i32, i32) -> i32
        scf.if %is0 {
          llvm.call @wait_flag(%my_full, %value) : (!llvm.ptr<1>, i32) -> ()
        }
        scf.if %bulk {
          scf.if %is0 {
            nvvm.fence.proxy {kind = #nvvm.proxy_kind<async>}
            nvvm.mbarrier.arrive.expect_tx %full, %bytes : !llvm.ptr<3>, i32
            nvvm.cp.async.bulk.shared.cluster.global %inbox_cluster, %my_slot, %full, %bytes : !llvm.ptr<7>, !llvm.ptr<1>
          }
          %parity = arith.andi %record, %c1 : i32
          llvm.call @wait(%full, %parity) : (!llvm.ptr<3>, i32) -> ()
        } else {
          nvvm.barrier
          scf.for %i = %tid to %bytes step %threads : i32 {
            %from = llvm.getelementptr %my_slot[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
            %to = llvm.getelementptr %inbox[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
            %byte = llvm.load %from : !llvm.ptr<1> -> i8
            llvm.store %byte, %to : i8, !llvm.ptr<3>
          }
          nvvm.barrier
        }
        %now = llvm.call @clock() : () -> i64
        %0 = arith.muli %record, %ring : i32
        %hop = arith.addi %0, %previous : i32
        %n = llvm.call @check(%inbox, %bytes, %bulk, %expected, %hop) : (!llvm.ptr<3>, i32, i1, i32, i32) -> i32
        %sum = arith.addi %wrong, %n : i32
        nvvm.barrier
        scf.if %is0 {
          llvm.fence syncscope("device") acq_rel
          llvm.store %value, %my_read atomic syncscope("device") release {alignment = 4 : i64} : i32, !llvm.ptr<1>
        }
        %1 = arith.subi %now, %sent : i64
        %2 = arith.addi %away, %1 : i64
        %gone = arith.select %first, %2, %away : i64
        scf.yield %now, %gone, %sum : i64, i64, i32
      } else {
        scf.yield %z64, %away, %wrong : i64, i64, i32
      }
      %sends = arith.cmpi slt, %k, %rounds : i32
      %s:2 = scf.if %sends -> (i64, i64) {
        %again = arith.cmpi sgt, %k, %c0 : i32
        %waits = arith.andi %again, %is0 : i1
        scf.if %waits {
          %read = llvm.call @flag_value(%epoch, %k) : (i32, i32) -> i32
          llvm.call @wait_flag(%next_read, %read) : (!llvm.ptr<1>, i32) -> ()
        }
        %0 = arith.muli %k, %ring : i32
        %hop = arith.addi %0, %rank : i32
        llvm.call @fill(%outbox, %bytes, %bulk, %seed, %hop) : (!llvm.ptr<3>, i32, i1, i32, i32) -> ()
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        nvvm.barrier
        %now = llvm.call @clock() : () -> i64
        scf.if %bulk {
          scf.if %is0 {
            nvvm.cp.async.bulk.global.shared.cta %next_slot, %outbox, %bytes : !llvm.ptr<1>, !llvm.ptr<3>
            nvvm.cp.async.bulk.commit.group
            nvvm.cp.async.bulk.wait_group 0
            nvvm.fence.proxy {kind = #nvvm.proxy_kind<async>}
          }
        } else {
          scf.for %i = %tid to %bytes step %threads : i32 {
            %from = llvm.getelementptr %outbox[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
            %to = llvm.getelementptr %next_slot[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
            %byte = llvm.load %from : !llvm.ptr<3> -> i8
            llvm.store %byte, %to : i8, !llvm.ptr<1>
          }
          nvvm.barrier
        }
        scf.if %is0 {
          %number = arith.addi %k, %c1 : i32
          %value = llvm.call @flag_value(%epoch, %number) : (i32, i32) -> i32
          llvm.fence syncscope("device") acq_rel
          llvm.store %value, %next_full atomic syncscope("device") release {alignment = 4 : i64} : i32, !llvm.ptr<1>
        }
        %1 = arith.subi %now, %r#0 : i64
        %2 = arith.addi %held, %1 : i64
        %kept = arith.select %first, %held, %2 : i64
        scf.yield %now, %kept : i64, i64
      } else {
        scf.yield %sent, %held : i64, i64
      }
      scf.yield %r#1, %s#1, %r#2, %s#0 : i64, i64, i32, i64
    }
    llvm.call @report(%results, %sums#0, %sums#1, %sums#2, %rounds, %begin, %rank, %ring) : (!llvm.ptr<1>, i64, i64, i32, i32, i64, i32, i32) -> ()
    llvm.return
  }

  // Through a slot in global memory whose data are their own flag: 128-bit relaxed accesses, and a sentinel that the reader
  // writes back. A record that is no whole number of 16-byte vectors goes as a 32-bit word a byte.
  llvm.func @handover_global_data(%workspace: !llvm.ptr<1>, %ring: i32, %bytes: i32, %shift: i32, %rounds: i32, %seed: i32, %expected: i32,
                                  %results: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c4 = arith.constant 4 : i32
    %c128 = arith.constant 128 : i32
    %z64 = arith.constant 0 : i64
    %sentinel = arith.constant -1 : i32
    %sentinel128 = llvm.mlir.constant(-1 : i128) : i128
    %c96 = llvm.mlir.constant(96 : i128) : i128
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %threads = nvvm.read.ptx.sreg.ntid.x : i32
    %cta = nvvm.read.ptx.sreg.ctaid.x : i32
    %begin = llvm.call @nanoseconds() : () -> i64
    %is0 = arith.cmpi eq, %tid, %c0 : i32
    %rank = arith.remui %cta, %ring : i32
    %first = arith.cmpi eq, %rank, %c0 : i32
    %bulk = llvm.call @is_bulk(%bytes, %shift) : (i32, i32) -> i1
    %capacity = llvm.call @capacity(%bytes, %shift) : (i32, i32) -> i32
    %epoch = llvm.call @start(%workspace) : (!llvm.ptr<1>) -> i32

    %shared = llvm.mlir.addressof @arena : !llvm.ptr<3>
    %in_at = arith.addi %c128, %shift : i32
    %out_at = arith.addi %in_at, %capacity : i32
    %inbox = llvm.getelementptr %shared[%in_at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %outbox = llvm.getelementptr %shared[%out_at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8

    %up = arith.addi %rank, %c1 : i32
    %next_rank = arith.remui %up, %ring : i32
    %base = arith.subi %cta, %rank : i32
    %next = arith.addi %base, %next_rank : i32
    %last = arith.subi %ring, %c1 : i32
    %down = arith.addi %rank, %last : i32
    %previous = arith.remui %down, %ring : i32
    %my_read = llvm.call @flag_of(%workspace, %cta, %c1) : (!llvm.ptr<1>, i32, i32) -> !llvm.ptr<1>
    %next_read = llvm.call @flag_of(%workspace, %next, %c1) : (!llvm.ptr<1>, i32, i32) -> !llvm.ptr<1>
    // Slots lie in the sentinel arena; a word a byte takes four times the room.
    %sentinels_at = llvm.getelementptr %workspace[48] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %sentinels_offset = llvm.load %sentinels_at : !llvm.ptr<1> -> i64
    %sentinels = llvm.getelementptr %workspace[%sentinels_offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    %wide = arith.shli %capacity, %c2 : i32
    %stride = arith.select %bulk, %capacity, %wide : i32
    %my_offset = arith.muli %cta, %stride : i32
    %my_slot = llvm.getelementptr %sentinels[%my_offset] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %next_offset = arith.muli %next, %stride : i32
    %next_slot = llvm.getelementptr %sentinels[%next_offset] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %vectors = arith.shrui %bytes, %c4 : i32
    %batch = arith.muli %threads, %c4 : i32

    %more = arith.extui %first : i1 to i32
    %steps = arith.addi %rounds, %more : i32
    %sums:4 = scf.for %k = %c0 to %steps step %c1
        iter_args(%away = %z64, %held = %z64, %wrong = %c0, %sent = %z64) -> (i64, i64, i32, i64) : i32 {
      %record = arith.subi %k, %more : i32
      %receives = arith.cmpi sge, %record, %c0 : i32
      %r:3 = scf.if %receives -> (i64, i64, i32) {
        %wait_begin = llvm.call @clock() : () -> i64
        scf.if %bulk {
          // Four vectors are in flight; past the end the first one is read again.
          scf.for %v = %tid to %vectors step %batch : i32 {
            %v1 = arith.addi %v, %threads : i32
            %v2 = arith.addi %v1, %threads : i32
            %v3 = arith.addi %v2, %threads : i32
            %in1 = arith.cmpi ult, %v1, %vectors : i32
            %in2 = arith.cmpi ult, %v2, %vectors : i32
            %in3 = arith.cmpi ult, %v3, %vectors : i32
            %i1 = arith.select %in1, %v1, %v : i32
            %i2 = arith.select %in2, %v2, %v : i32
            %i3 = arith.select %in3, %v3, %v : i32
            %g0 = llvm.getelementptr %my_slot[%v] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i128
            %g1 = llvm.getelementptr %my_slot[%i1] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i128
            %g2 = llvm.getelementptr %my_slot[%i2] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i128
            %g3 = llvm.getelementptr %my_slot[%i3] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i128
            %d:4 = scf.while : () -> (i128, i128, i128, i128) {
              %l0 = llvm.inline_asm has_side_effects "ld.relaxed.gpu.global.b128 $0, [$1];", "=q,l,~{memory}" %g0 : (!llvm.ptr<1>) -> i128
              %l1 = llvm.inline_asm has_side_effects "ld.relaxed.gpu.global.b128 $0, [$1];", "=q,l,~{memory}" %g1 : (!llvm.ptr<1>) -> i128
              %l2 = llvm.inline_asm has_side_effects "ld.relaxed.gpu.global.b128 $0, [$1];", "=q,l,~{memory}" %g2 : (!llvm.ptr<1>) -> i128
              %l3 = llvm.inline_asm has_side_effects "ld.relaxed.gpu.global.b128 $0, [$1];", "=q,l,~{memory}" %g3 : (!llvm.ptr<1>) -> i128
              %h0 = llvm.lshr %l0, %c96 : i128
              %h1 = llvm.lshr %l1, %c96 : i128
              %h2 = llvm.lshr %l2, %c96 : i128
              %h3 = llvm.lshr %l3, %c96 : i128
              %f0 = llvm.trunc %h0 : i128 to i32
              %f1 = llvm.trunc %h1 : i128 to i32
              %f2 = llvm.trunc %h2 : i128 to i32
              %f3 = llvm.trunc %h3 : i128 to i32
              %n0 = arith.cmpi eq, %f0, %sentinel : i32
              %n1 = arith.cmpi eq, %f1, %sentinel : i32
              %n2 = arith.cmpi eq, %f2, %sentinel : i32
              %n3 = arith.cmpi eq, %f3, %sentinel : i32
              %n01 = arith.ori %n0, %n1 : i1
              %n23 = arith.ori %n2, %n3 : i1
              %not_yet = arith.ori %n01, %n23 : i1
              scf.condition(%not_yet) %l0, %l1, %l2, %l3 : i128, i128, i128, i128
            } do {
            ^bb0(%a0: i128, %a1: i128, %a2: i128, %a3: i128):
              llvm.call @bound(%wait_begin) : (i64) -> ()
              scf.yield
            }
            %s0 = llvm.getelementptr %inbox[%v] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i128
            %s1 = llvm.getelementptr %inbox[%i1] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i128
            %s2 = llvm.getelementptr %inbox[%i2] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i128
            %s3 = llvm.getelementptr %inbox[%i3] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i128
            %w0 = llvm.bitcast %d#0 : i128 to vector<4xi32>
            %w1 = llvm.bitcast %d#1 : i128 to vector<4xi32>
            %w2 = llvm.bitcast %d#2 : i128 to vector<4xi32>
            %w3 = llvm.bitcast %d#3 : i128 to vector<4xi32>
            llvm.store %w0, %s0 {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
            llvm.store %w1, %s1 {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
            llvm.store %w2, %s2 {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
            llvm.store %w3, %s3 {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
            llvm.inline_asm has_side_effects "st.relaxed.gpu.global.b128 [$0], $1;", "l,q,~{memory}" %g0, %sentinel128 : (!llvm.ptr<1>, i128) -> ()
            llvm.inline_asm has_side_effects "st.relaxed.gpu.global.b128 [$0], $1;", "l,q,~{memory}" %g1, %sentinel128 : (!llvm.ptr<1>, i128) -> ()
            llvm.inline_asm has_side_effects "st.relaxed.gpu.global.b128 [$0], $1;", "l,q,~{memory}" %g2, %sentinel128 : (!llvm.ptr<1>, i128) -> ()
            llvm.inline_asm has_side_effects "st.relaxed.gpu.global.b128 [$0], $1;", "l,q,~{memory}" %g3, %sentinel128 : (!llvm.ptr<1>, i128) -> ()
          }
        } else {
          scf.for %i = %tid to %bytes step %threads : i32 {
            %from = llvm.getelementptr %my_slot[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
            %word = scf.while : () -> i32 {
              %seen = llvm.load %from atomic syncscope("device") monotonic {alignment = 4 : i64} : !llvm.ptr<1> -> i32
              %not_yet = arith.cmpi eq, %seen, %sentinel : i32
              scf.condition(%not_yet) %seen : i32
            } do {
            ^bb0(%a: i32):
              llvm.call @bound(%wait_begin) : (i64) -> ()
              scf.yield
            }
            %byte = arith.trunci %word : i32 to i8
            %to = llvm.getelementptr %inbox[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
            llvm.store %byte, %to : i8, !llvm.ptr<3>
            llvm.store %sentinel, %from atomic syncscope("device") monotonic {alignment = 4 : i64} : i32, !llvm.ptr<1>
          }
        }
        nvvm.barrier
        %now = llvm.call @clock() : () -> i64
        // The sentinels are back before the slot is written again.
        scf.if %is0 {
          %number = arith.addi %record, %c1 : i32
          %value = llvm.call @flag_value(%epoch, %number) : (i32, i32) -> i32
          llvm.fence syncscope("device") acq_rel
          llvm.store %value, %my_read atomic syncscope("device") release {alignment = 4 : i64} : i32, !llvm.ptr<1>
        }
        %0 = arith.muli %record, %ring : i32
        %hop = arith.addi %0, %previous : i32
        %n = llvm.call @check(%inbox, %bytes, %bulk, %expected, %hop) : (!llvm.ptr<3>, i32, i1, i32, i32) -> i32
        %sum = arith.addi %wrong, %n : i32
        %1 = arith.subi %now, %sent : i64
        %2 = arith.addi %away, %1 : i64
        %gone = arith.select %first, %2, %away : i64
        scf.yield %now, %gone, %sum : i64, i64, i32
      } else {
        scf.yield %z64, %away, %wrong : i64, i64, i32
      }
      %sends = arith.cmpi slt, %k, %rounds : i32
      %s:2 = scf.if %sends -> (i64, i64) {
        // Everybody has sent the last record from the outbox (the barrier above, and rank 0 has waited for its record to come
        // round) before it is filled again.
        nvvm.barrier
        %again = arith.cmpi sgt, %k, %c0 : i32
        %waits = arith.andi %again, %is0 : i1
        scf.if %waits {
          %read = llvm.call @flag_value(%epoch, %k) : (i32, i32) -> i32
          llvm.call @wait_flag(%next_read, %read) : (!llvm.ptr<1>, i32) -> ()
        }
        %0 = arith.muli %k, %ring : i32
        %hop = arith.addi %0, %rank : i32
        llvm.call @fill(%outbox, %bytes, %bulk, %seed, %hop) : (!llvm.ptr<3>, i32, i1, i32, i32) -> ()
        nvvm.barrier
        %now = llvm.call @clock() : () -> i64
        scf.if %bulk {
          scf.for %v = %tid to %vectors step %threads : i32 {
            %from = llvm.getelementptr %outbox[%v] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i128
            %to = llvm.getelementptr %next_slot[%v] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i128
            %words = llvm.load %from {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
            %vector = llvm.bitcast %words : vector<4xi32> to i128
            llvm.inline_asm has_side_effects "st.relaxed.gpu.global.b128 [$0], $1;", "l,q,~{memory}" %to, %vector : (!llvm.ptr<1>, i128) -> ()
          }
        } else {
          scf.for %i = %tid to %bytes step %threads : i32 {
            %from = llvm.getelementptr %outbox[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
            %to = llvm.getelementptr %next_slot[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
            %byte = llvm.load %from : !llvm.ptr<3> -> i8
            %word = arith.extui %byte : i8 to i32
            llvm.store %word, %to atomic syncscope("device") monotonic {alignment = 4 : i64} : i32, !llvm.ptr<1>
          }
        }
        %1 = arith.subi %now, %r#0 : i64
        %2 = arith.addi %held, %1 : i64
        %kept = arith.select %first, %held, %2 : i64
        scf.yield %now, %kept : i64, i64
      } else {
        scf.yield %sent, %held : i64, i64
      }
      scf.yield %r#1, %s#1, %r#2, %s#0 : i64, i64, i32, i64
    }
    llvm.call @report(%results, %sums#0, %sums#1, %sums#2, %rounds, %begin, %rank, %ring) : (!llvm.ptr<1>, i64, i64, i32, i32, i64, i32, i32) -> ()
    llvm.return
  }
}
