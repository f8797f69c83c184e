// What happens behind a handler: its records are sent, and what it has read is released.

// The part of a record that a destination gets: the head, then a run of slices that begins %skip bytes further on in the
// source. Returns head and skip.
llvm.func internal @dfk_pieces(%p: !llvm.ptr, %stage: i32, %source_slice: i32, %target_slice: i32) -> !llvm.struct<(i64, i64)> {
  %c8 = arith.constant 8 : i32
  %c9 = arith.constant 9 : i32
  %c16 = arith.constant 16 : i32
  %c32 = arith.constant 32 : i32
  %entry = llvm.call @dfk_entry(%p, %c9, %stage, %c32) : (!llvm.ptr, i32, i32, i32) -> !llvm.ptr<1>
  %head = llvm.call @dfk_load64(%entry, %c8) : (!llvm.ptr<1>, i32) -> i64
  %slice = llvm.call @dfk_load64(%entry, %c16) : (!llvm.ptr<1>, i32) -> i64
  %between = arith.subi %target_slice, %source_slice : i32
  %between64 = arith.extui %between : i32 to i64
  %skip = arith.muli %between64, %slice : i64
  %none = llvm.mlir.poison : !llvm.struct<(i64, i64)>
  %0 = llvm.insertvalue %head, %none[0] : !llvm.struct<(i64, i64)>
  %1 = llvm.insertvalue %skip, %0[1] : !llvm.struct<(i64, i64)>
  llvm.return %1 : !llvm.struct<(i64, i64)>
}

llvm.func internal @dfk_transfer(%p: !llvm.ptr, %index: i32) -> !llvm.ptr<1> {
  %c5 = arith.constant 5 : i32
  %c48 = arith.constant 48 : i32
  %entry = llvm.call @dfk_entry(%p, %c5, %index, %c48) : (!llvm.ptr, i32, i32, i32) -> !llvm.ptr<1>
  llvm.return %entry : !llvm.ptr<1>
}

llvm.func internal @dfk_destination(%p: !llvm.ptr, %index: i32) -> !llvm.ptr<1> {
  %c6 = arith.constant 6 : i32
  %c32 = arith.constant 32 : i32
  %entry = llvm.call @dfk_entry(%p, %c6, %index, %c32) : (!llvm.ptr, i32, i32, i32) -> !llvm.ptr<1>
  llvm.return %entry : !llvm.ptr<1>
}

// All compute threads: copies to the global destinations of transfer %index that are not the source itself. Says whether
// there were any.
llvm.func internal @dfk_copy_out(%p: !llvm.ptr, %index: i32, %stage: i32) -> i1 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %c6 = arith.constant 6 : i32
  %c8 = arith.constant 8 : i32
  %c12 = arith.constant 12 : i32
  %c20 = arith.constant 20 : i32
  %c22 = arith.constant 22 : i32
  %c24 = arith.constant 24 : i32
  %c32 = arith.constant 32 : i32
  %c40 = arith.constant 40 : i32
  %false = arith.constant false
  %true = arith.constant true
  %transfer = llvm.call @dfk_transfer(%p, %index) : (!llvm.ptr, i32) -> !llvm.ptr<1>
  %transport = llvm.call @dfk_load16(%transfer, %c4) : (!llvm.ptr<1>, i32) -> i32
  %is_global = arith.cmpi eq, %transport, %c3 : i32
  %any = scf.if %is_global -> i1 {
    %source = llvm.call @dfk_load(%transfer, %c0) : (!llvm.ptr<1>, i32) -> i32
    %first = llvm.call @dfk_load(%transfer, %c8) : (!llvm.ptr<1>, i32) -> i32
    %count = llvm.call @dfk_load(%transfer, %c12) : (!llvm.ptr<1>, i32) -> i32
    %copied = scf.for %d = %c0 to %count step %c1 iter_args(%before = %false) -> (i1) : i32 {
      %number = arith.addi %first, %d : i32
      %destination = llvm.call @dfk_destination(%p, %number) : (!llvm.ptr, i32) -> !llvm.ptr<1>
      %slot = llvm.call @dfk_load(%destination, %c0) : (!llvm.ptr<1>, i32) -> i32
      %elsewhere = arith.cmpi ne, %slot, %source : i32
      %now = scf.if %elsewhere -> i1 {
        %bytes = llvm.call @dfk_load64(%transfer, %c24) : (!llvm.ptr<1>, i32) -> i64
        %source_space = llvm.call @dfk_load16(%transfer, %c6) : (!llvm.ptr<1>, i32) -> i32
        %source_offset = llvm.call @dfk_load64(%transfer, %c32) : (!llvm.ptr<1>, i32) -> i64
        %source_slice = llvm.call @dfk_load16(%transfer, %c40) : (!llvm.ptr<1>, i32) -> i32
        %space = llvm.call @dfk_load16(%destination, %c20) : (!llvm.ptr<1>, i32) -> i32
        %offset = llvm.call @dfk_load64(%destination, %c8) : (!llvm.ptr<1>, i32) -> i64
        %slice = llvm.call @dfk_load16(%destination, %c22) : (!llvm.ptr<1>, i32) -> i32
        %pieces = llvm.call @dfk_pieces(%p, %stage, %source_slice, %slice) : (!llvm.ptr, i32, i32, i32) -> !llvm.struct<(i64, i64)>
        %head = llvm.extractvalue %pieces[0] : !llvm.struct<(i64, i64)>
        %skip = llvm.extractvalue %pieces[1] : !llvm.struct<(i64, i64)>
        %from = llvm.call @dfk_place(%p, %source_space, %source_offset) : (!llvm.ptr, i32, i64) -> !llvm.ptr
        %to = llvm.call @dfk_place(%p, %space, %offset) : (!llvm.ptr, i32, i64) -> !llvm.ptr
        // First the head (of no bytes when the slices follow it), then the rest.
        scf.for %piece = %c0 to %c2 step %c1 : i32 {
          %is_head = arith.cmpi eq, %piece, %c0 : i32
          %rest = arith.subi %bytes, %head : i64
          %behind = arith.addi %head, %skip : i64
          %l0 = arith.constant 0 : i64
          %run = arith.select %is_head, %head, %rest : i64
          %from_at = arith.select %is_head, %l0, %behind : i64
          %to_at = arith.select %is_head, %l0, %head : i64
          %p0 = llvm.getelementptr %from[%from_at] : (!llvm.ptr, i64) -> !llvm.ptr, i8
          %q0 = llvm.getelementptr %to[%to_at] : (!llvm.ptr, i64) -> !llvm.ptr, i8
          llvm.call @dfk_copy(%q0, %p0, %run) : (!llvm.ptr, !llvm.ptr, i64) -> ()
        }
        scf.yield %true : i1
      } else {
        scf.yield %before : i1
      }
      scf.yield %now : i1
    }
    scf.yield %copied : i1
  } else {
    scf.yield %false : i1
  }
  llvm.return %any : i1
}

// One lane, for what the copy engine does not take: byte by byte into another CTA's memory.
llvm.func internal @dfk_push_bytes(%to: !llvm.ptr<7>, %from: !llvm.ptr, %bytes: i64) {
  %l0 = arith.constant 0 : i64
  %l1 = arith.constant 1 : i64
  scf.for %i = %l0 to %bytes step %l1 : i64 {
    %p = llvm.getelementptr %from[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %q = llvm.getelementptr %to[%i] : (!llvm.ptr<7>, i64) -> !llvm.ptr<7>, i8
    %byte = llvm.load %p : !llvm.ptr -> i8
    llvm.store %byte, %q : i8, !llvm.ptr<7>
  }
  llvm.return
}

llvm.func internal @dfk_bulk(%a: i64, %b: i64, %c: i64, %d: i64) -> i1 {
  %l0 = arith.constant 0 : i64
  %l15 = arith.constant 15 : i64
  %0 = arith.ori %a, %b : i64
  %1 = arith.ori %c, %d : i64
  %2 = arith.ori %0, %1 : i64
  %3 = arith.andi %2, %l15 : i64
  %4 = arith.cmpi eq, %3, %l0 : i64
  llvm.return %4 : i1
}

// One lane: a transfer from shared memory into the shared memory of a peer. The bytes arrive at the peer's barrier.
llvm.func internal @dfk_send_peer(%p: !llvm.ptr, %transfer: !llvm.ptr<1>, %destination: !llvm.ptr<1>, %stage: i32) {
  %l0 = arith.constant 0 : i64
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %c16 = arith.constant 16 : i32
  %c22 = arith.constant 22 : i32
  %c24 = arith.constant 24 : i32
  %c32 = arith.constant 32 : i32
  %c40 = arith.constant 40 : i32
  %cta = llvm.call @dfk_load(%destination, %c4) : (!llvm.ptr<1>, i32) -> i32
  %number = llvm.call @dfk_load(%destination, %c16) : (!llvm.ptr<1>, i32) -> i32
  %offset = llvm.call @dfk_load64(%destination, %c8) : (!llvm.ptr<1>, i32) -> i64
  %slice = llvm.call @dfk_load16(%destination, %c22) : (!llvm.ptr<1>, i32) -> i32
  %bytes = llvm.call @dfk_load64(%transfer, %c24) : (!llvm.ptr<1>, i32) -> i64
  %source_offset = llvm.call @dfk_load64(%transfer, %c32) : (!llvm.ptr<1>, i32) -> i64
  %source_slice = llvm.call @dfk_load16(%transfer, %c40) : (!llvm.ptr<1>, i32) -> i32
  %pieces = llvm.call @dfk_pieces(%p, %stage, %source_slice, %slice) : (!llvm.ptr, i32, i32, i32) -> !llvm.struct<(i64, i64)>
  %head = llvm.extractvalue %pieces[0] : !llvm.struct<(i64, i64)>
  %skip = llvm.extractvalue %pieces[1] : !llvm.struct<(i64, i64)>
  %rest = arith.subi %bytes, %head : i64
  %behind = arith.addi %head, %skip : i64
  %barrier = llvm.call @dfk_barrier(%number) : (i32) -> !llvm.ptr<3>
  %remote_barrier = llvm.call @dfk_remote(%barrier, %cta) : (!llvm.ptr<3>, i32) -> !llvm.ptr<7>
  %local = llvm.call @dfk_slot_shared(%offset) : (i64) -> !llvm.ptr<3>
  %to = llvm.call @dfk_remote(%local, %cta) : (!llvm.ptr<3>, i32) -> !llvm.ptr<7>
  %from = llvm.call @dfk_slot_shared(%source_offset) : (i64) -> !llvm.ptr<3>
  %from_rest = llvm.getelementptr %from[%behind] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i8
  %to_rest = llvm.getelementptr %to[%head] : (!llvm.ptr<7>, i64) -> !llvm.ptr<7>, i8
  %bulk = llvm.call @dfk_bulk(%offset, %source_offset, %bytes, %head) : (i64, i64, i64, i64) -> i1
  scf.if %bulk {
    // The copy's barrier operand is typed as local although it names the receiver's.
    %address = llvm.ptrtoint %remote_barrier : !llvm.ptr<7> to i64
    %as_local = llvm.inttoptr %address : i64 to !llvm.ptr<3>
    %bytes32 = arith.trunci %bytes : i64 to i32
    %head32 = arith.trunci %head : i64 to i32
    %rest32 = arith.trunci %rest : i64 to i32
    nvvm.mbarrier.arrive.expect_tx %remote_barrier, %bytes32 {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>, i32
    %has_head = arith.cmpi ne, %head, %l0 : i64
    %has_rest = arith.cmpi ne, %rest, %l0 : i64
    scf.if %has_head {
      nvvm.cp.async.bulk.shared.cluster.shared.cta %to, %from, %as_local, %head32 : !llvm.ptr<7>, !llvm.ptr<3>
    }
    scf.if %has_rest {
      nvvm.cp.async.bulk.shared.cluster.shared.cta %to_rest, %from_rest, %as_local, %rest32 : !llvm.ptr<7>, !llvm.ptr<3>
    }
  } else {
    %from_generic = llvm.addrspacecast %from : !llvm.ptr<3> to !llvm.ptr
    %rest_generic = llvm.addrspacecast %from_rest : !llvm.ptr<3> to !llvm.ptr
    llvm.call @dfk_push_bytes(%to, %from_generic, %head) : (!llvm.ptr<7>, !llvm.ptr, i64) -> ()
    llvm.call @dfk_push_bytes(%to_rest, %rest_generic, %rest) : (!llvm.ptr<7>, !llvm.ptr, i64) -> ()
    llvm.fence syncscope("cluster") acq_rel
    nvvm.mbarrier.arrive %remote_barrier {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>
  }
  llvm.return
}

// One lane: a transfer from global memory into the shared memory of several CTAs of the cluster, at one offset. Every
// receiver's barrier is armed first. One copy serves all of them if they wait at barriers of the same number, else each
// gets its own.
llvm.func internal @dfk_send_multicast(%p: !llvm.ptr, %transfer: !llvm.ptr<1>, %stage: i32) {
  %l0 = arith.constant 0 : i64
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %c12 = arith.constant 12 : i32
  %c16 = arith.constant 16 : i32
  %c22 = arith.constant 22 : i32
  %c24 = arith.constant 24 : i32
  %c32 = arith.constant 32 : i32
  %c40 = arith.constant 40 : i32
  %c42 = arith.constant 42 : i32
  %true = arith.constant true
  %first = llvm.call @dfk_load(%transfer, %c8) : (!llvm.ptr<1>, i32) -> i32
  %count = llvm.call @dfk_load(%transfer, %c12) : (!llvm.ptr<1>, i32) -> i32
  %bytes = llvm.call @dfk_load64(%transfer, %c24) : (!llvm.ptr<1>, i32) -> i64
  %source_offset = llvm.call @dfk_load64(%transfer, %c32) : (!llvm.ptr<1>, i32) -> i64
  %source_slice = llvm.call @dfk_load16(%transfer, %c40) : (!llvm.ptr<1>, i32) -> i32
  %all = llvm.call @dfk_load16(%transfer, %c42) : (!llvm.ptr<1>, i32) -> i32
  %leader = llvm.call @dfk_destination(%p, %first) : (!llvm.ptr, i32) -> !llvm.ptr<1>
  %number = llvm.call @dfk_load(%leader, %c16) : (!llvm.ptr<1>, i32) -> i32
  %offset = llvm.call @dfk_load64(%leader, %c8) : (!llvm.ptr<1>, i32) -> i64
  %slice = llvm.call @dfk_load16(%leader, %c22) : (!llvm.ptr<1>, i32) -> i32
  %pieces = llvm.call @dfk_pieces(%p, %stage, %source_slice, %slice) : (!llvm.ptr, i32, i32, i32) -> !llvm.struct<(i64, i64)>
  %head = llvm.extractvalue %pieces[0] : !llvm.struct<(i64, i64)>
  %skip = llvm.extractvalue %pieces[1] : !llvm.struct<(i64, i64)>
  %rest = arith.subi %bytes, %head : i64
  %behind = arith.addi %head, %skip : i64
  %slots = llvm.call @dfk_parameter(%p, %c32) : (!llvm.ptr, i32) -> !llvm.ptr<1>
  %from = llvm.getelementptr %slots[%source_offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %from_rest = llvm.getelementptr %from[%behind] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %to = llvm.call @dfk_slot_shared(%offset) : (i64) -> !llvm.ptr<3>
  %to_rest = llvm.getelementptr %to[%head] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i8
  %source_address = llvm.ptrtoint %from : !llvm.ptr<1> to i64
  %bulk = llvm.call @dfk_bulk(%offset, %source_address, %bytes, %head) : (i64, i64, i64, i64) -> i1
  %bytes32 = arith.trunci %bytes : i64 to i32
  %head32 = arith.trunci %head : i64 to i32
  %rest32 = arith.trunci %rest : i64 to i32
  %same = scf.for %d = %c0 to %count step %c1 iter_args(%so_far = %true) -> (i1) : i32 {
    %index = arith.addi %first, %d : i32
    %destination = llvm.call @dfk_destination(%p, %index) : (!llvm.ptr, i32) -> !llvm.ptr<1>
    %cta = llvm.call @dfk_load(%destination, %c4) : (!llvm.ptr<1>, i32) -> i32
    %its = llvm.call @dfk_load(%destination, %c16) : (!llvm.ptr<1>, i32) -> i32
    %barrier = llvm.call @dfk_barrier(%its) : (i32) -> !llvm.ptr<3>
    %remote_barrier = llvm.call @dfk_remote(%barrier, %cta) : (!llvm.ptr<3>, i32) -> !llvm.ptr<7>
    scf.if %bulk {
      nvvm.mbarrier.arrive.expect_tx %remote_barrier, %bytes32 {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>, i32
    } else {
      %remote = llvm.call @dfk_remote(%to, %cta) : (!llvm.ptr<3>, i32) -> !llvm.ptr<7>
      %remote_rest = llvm.getelementptr %remote[%head] : (!llvm.ptr<7>, i64) -> !llvm.ptr<7>, i8
      %from_generic = llvm.addrspacecast %from : !llvm.ptr<1> to !llvm.ptr
      %rest_generic = llvm.addrspacecast %from_rest : !llvm.ptr<1> to !llvm.ptr
      llvm.call @dfk_push_bytes(%remote, %from_generic, %head) : (!llvm.ptr<7>, !llvm.ptr, i64) -> ()
      llvm.call @dfk_push_bytes(%remote_rest, %rest_generic, %rest) : (!llvm.ptr<7>, !llvm.ptr, i64) -> ()
      llvm.fence syncscope("cluster") acq_rel
      nvvm.mbarrier.arrive %remote_barrier {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>
    }
    %equal = arith.cmpi eq, %its, %number : i32
    %now = arith.andi %so_far, %equal : i1
    scf.yield %now : i1
  }
  scf.if %bulk {
    %copies = arith.select %same, %c1, %count : i32
    %has_head = arith.cmpi ne, %head, %l0 : i64
    %has_rest = arith.cmpi ne, %rest, %l0 : i64
    %to_cluster = llvm.addrspacecast %to : !llvm.ptr<3> to !llvm.ptr<7>
    %to_rest_cluster = llvm.addrspacecast %to_rest : !llvm.ptr<3> to !llvm.ptr<7>
    scf.for %d = %c0 to %copies step %c1 : i32 {
      %index = arith.addi %first, %d : i32
      %destination = llvm.call @dfk_destination(%p, %index) : (!llvm.ptr, i32) -> !llvm.ptr<1>
      %cta = llvm.call @dfk_load(%destination, %c4) : (!llvm.ptr<1>, i32) -> i32
      %its = llvm.call @dfk_load(%destination, %c16) : (!llvm.ptr<1>, i32) -> i32
      %rank = llvm.call @dfk_rank(%cta) : (i32) -> i32
      %alone = arith.shli %c1, %rank : i32
      %mask32 = arith.select %same, %all, %alone : i32
      %mask = arith.trunci %mask32 : i32 to i16
      %barrier = llvm.call @dfk_barrier(%its) : (i32) -> !llvm.ptr<3>
      scf.if %has_head {
        nvvm.cp.async.bulk.shared.cluster.global %to_cluster, %from, %barrier, %head32 multicast_mask = %mask : !llvm.ptr<7>, !llvm.ptr<1>
      }
      scf.if %has_rest {
        nvvm.cp.async.bulk.shared.cluster.global %to_rest_cluster, %from_rest, %barrier, %rest32 multicast_mask = %mask : !llvm.ptr<7>, !llvm.ptr<1>
      }
    }
  }
  llvm.return
}

// One lane: the record with flag %number is there. What threads of the CTA wrote in front of the last barrier is released with it.
llvm.func internal @dfk_signal(%p: !llvm.ptr, %number: i32) {
  %c16 = arith.constant 16 : i32
  %flags = llvm.call @dfk_parameter(%p, %c16) : (!llvm.ptr, i32) -> !llvm.ptr<1>
  %epoch = llvm.call @dfk_epoch() : () -> i32
  %number64 = arith.extui %number : i32 to i64
  %flag = llvm.getelementptr %flags[%number64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
  // A store that releases, not a fence in front of it: that would be an acquire as well and empty the L1 cache, in which the
  // plan's next records are.
  llvm.store %epoch, %flag atomic syncscope("device") release {alignment = 4 : i64} : i32, !llvm.ptr<1>
  llvm.return
}

// What a lane knows of transfer %first + lane, one of %count: whether all threads have to copy, and if not, the flag that is
// everything that has to be sent, -1 for other transfers. Most records are published where the handler wrote them.
llvm.func internal @dfk_lane_transfer(%p: !llvm.ptr, %first: i32, %count: i32) -> !llvm.struct<(i1, i32)> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %c12 = arith.constant 12 : i32
  %c16 = arith.constant 16 : i32
  %none = arith.constant -1 : i32
  %false = arith.constant false
  %true = arith.constant true
  %lane = llvm.call @dfk_lane() : () -> i32
  %there = arith.cmpi ult, %lane, %count : i32
  %found:2 = scf.if %there -> (i1, i32) {
    %index = arith.addi %first, %lane : i32
    %transfer = llvm.call @dfk_transfer(%p, %index) : (!llvm.ptr, i32) -> !llvm.ptr<1>
    %transport = llvm.call @dfk_load16(%transfer, %c4) : (!llvm.ptr<1>, i32) -> i32
    %source = llvm.call @dfk_load(%transfer, %c0) : (!llvm.ptr<1>, i32) -> i32
    %number = llvm.call @dfk_load(%transfer, %c8) : (!llvm.ptr<1>, i32) -> i32
    %several = llvm.call @dfk_load(%transfer, %c12) : (!llvm.ptr<1>, i32) -> i32
    %is_global = arith.cmpi eq, %transport, %c3 : i32
    %0:2 = scf.if %is_global -> (i1, i32) {
      %destination = llvm.call @dfk_destination(%p, %number) : (!llvm.ptr, i32) -> !llvm.ptr<1>
      %slot = llvm.call @dfk_load(%destination, %c0) : (!llvm.ptr<1>, i32) -> i32
      %signal = llvm.call @dfk_load(%destination, %c16) : (!llvm.ptr<1>, i32) -> i32
      %one = arith.cmpi eq, %several, %c1 : i32
      %here = arith.cmpi eq, %slot, %source : i32
      %published = arith.andi %one, %here : i1
      %flag = arith.select %published, %signal, %none : i32
      %copies = arith.xori %published, %true : i1
      scf.yield %copies, %flag : i1, i32
    } else {
      scf.yield %false, %none : i1, i32
    }
    scf.yield %0#0, %0#1 : i1, i32
  } else {
    scf.yield %false, %none : i1, i32
  }
  %nothing = llvm.mlir.poison : !llvm.struct<(i1, i32)>
  %1 = llvm.insertvalue %found#0, %nothing[0] : !llvm.struct<(i1, i32)>
  %2 = llvm.insertvalue %found#1, %1[1] : !llvm.struct<(i1, i32)>
  llvm.return %2 : !llvm.struct<(i1, i32)>
}

// One lane: everything of transfer %index that is not a copy by all threads.
llvm.func internal @dfk_send(%p: !llvm.ptr, %index: i32, %stage: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %c12 = arith.constant 12 : i32
  %c16 = arith.constant 16 : i32
  %transfer = llvm.call @dfk_transfer(%p, %index) : (!llvm.ptr, i32) -> !llvm.ptr<1>
  %transport = llvm.call @dfk_load16(%transfer, %c4) : (!llvm.ptr<1>, i32) -> i32
  %first = llvm.call @dfk_load(%transfer, %c8) : (!llvm.ptr<1>, i32) -> i32
  %count = llvm.call @dfk_load(%transfer, %c12) : (!llvm.ptr<1>, i32) -> i32
  %is_global = arith.cmpi eq, %transport, %c3 : i32
  scf.if %is_global {
    scf.for %d = %c0 to %count step %c1 : i32 {
      %number = arith.addi %first, %d : i32
      %destination = llvm.call @dfk_destination(%p, %number) : (!llvm.ptr, i32) -> !llvm.ptr<1>
      %signal = llvm.call @dfk_load(%destination, %c16) : (!llvm.ptr<1>, i32) -> i32
      llvm.call @dfk_signal(%p, %signal) : (!llvm.ptr, i32) -> ()
    }
  }
  %asynchronous = llvm.call @dfk_is_async() : () -> i1
  scf.if %asynchronous {
    %is_peer = arith.cmpi eq, %transport, %c2 : i32
    scf.if %is_peer {
      scf.for %d = %c0 to %count step %c1 : i32 {
        %number = arith.addi %first, %d : i32
        %destination = llvm.call @dfk_destination(%p, %number) : (!llvm.ptr, i32) -> !llvm.ptr<1>
        llvm.call @dfk_send_peer(%p, %transfer, %destination, %stage) : (!llvm.ptr, !llvm.ptr<1>, !llvm.ptr<1>, i32) -> ()
      }
    }
    %is_multicast = arith.cmpi eq, %transport, %c4 : i32
    scf.if %is_multicast {
      llvm.call @dfk_send_multicast(%p, %transfer, %stage) : (!llvm.ptr, !llvm.ptr<1>, i32) -> ()
    }
  }
  llvm.return
}

// All compute threads, in front of the handler of the instruction %w: what dfk_finish will have to do. 0: nothing; 1: its transfers
// are flags, and another warp sends them; 2: anything else. Behind the handler the plan would come after all that was written.
llvm.func internal @dfk_prepare_finish(%p: !llvm.ptr, %w: i32, %asynchronous: i1, %counters: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c21 = arith.constant 21 : i32
  %c22 = arith.constant 22 : i32
  %c26 = arith.constant 26 : i32
  %transfers = llvm.call @dfk_word(%w, %c22) : (i32, i32) -> i32
  %any = arith.cmpi ne, %transfers, %c0 : i32
  %sends = scf.if %any -> i32 {
    %first_transfer = llvm.call @dfk_word(%w, %c21) : (i32, i32) -> i32
    %known = llvm.call @dfk_lane_transfer(%p, %first_transfer, %transfers) : (!llvm.ptr, i32, i32) -> !llvm.struct<(i1, i32)>
    %copies = llvm.extractvalue %known[0] : !llvm.struct<(i1, i32)>
    %flag = llvm.extractvalue %known[1] : !llvm.struct<(i1, i32)>
    %looks = llvm.call @dfk_looks(%transfers, %copies) : (i32, i1) -> i1
    %waits = arith.ori %looks, %asynchronous : i1
    %how = scf.if %waits -> i32 {
      scf.yield %c2 : i32
    } else {
      llvm.call @dfk_leave_flags(%counters, %flag) : (!llvm.ptr, i32) -> ()
      scf.yield %c1 : i32
    }
    scf.yield %how : i32
  } else {
    scf.yield %c0 : i32
  }
  // The word is looked up whether it is needed or not: a branch as short as that becomes predicates, and ptxas 13.0 then guarded
  // the reduction with the predicate of the lane that has the word, whose share was left out.
  %releases = llvm.call @dfk_word(%w, %c26) : (i32, i32) -> i32
  %some = arith.cmpi ne, %releases, %c0 : i32
  %frees = arith.andi %some, %asynchronous : i1
  %how = arith.select %frees, %c2, %sends : i32
  llvm.return %how : i32
}

// Whether all threads have to look at all transfers, one of which this lane %copies: some are copied, or there are more than lanes.
llvm.func internal @dfk_looks(%transfers: i32, %copies: i1) -> i1 {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %all = arith.constant -1 : i32
  %copies32 = arith.extui %copies : i1 to i32
  %some = nvvm.redux.sync or %copies32, %all : i32 -> i32
  %some_copy = arith.cmpi ne, %some, %c0 : i32
  %more = arith.cmpi ugt, %transfers, %c32 : i32
  %looks = arith.ori %some_copy, %more : i1
  llvm.return %looks : i1
}

// All compute threads, behind the handler of the instruction %w: what it wrote becomes visible to them and to the copy
// engine, then its transfers are issued and its releases sent, a lane of warp 0 each. An instruction that sends nothing, or has
// another warp do it, leaves the meeting to the next one.
llvm.func internal @dfk_finish(%p: !llvm.ptr, %w: i32, %how: i32, %asynchronous: i1, %counters: !llvm.ptr) {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  scf.if %asynchronous {
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async>}
  }
  %posts = arith.cmpi eq, %how, %c1 : i32
  scf.if %posts {
    llvm.call @dfk_post(%counters) : (!llvm.ptr) -> ()
  }
  %sends = arith.cmpi eq, %how, %c2 : i32
  scf.if %sends {
    llvm.call @dfk_sync() : () -> ()
    llvm.call @dfk_send_all(%p, %w) : (!llvm.ptr, i32) -> ()
    scf.if %asynchronous {
      llvm.call @dfk_release_all(%p, %w) : (!llvm.ptr, i32) -> ()
    }
  }
  llvm.return
}

// The transfers of the instruction %w: copies by all threads, then what a lane of warp 0 does.
llvm.func internal @dfk_send_all(%p: !llvm.ptr, %w: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c21 = arith.constant 21 : i32
  %c22 = arith.constant 22 : i32
  %c32 = arith.constant 32 : i32
  %none = arith.constant -1 : i32
  %low = arith.constant 0xFFFF : i32
  %false = arith.constant false
  %first_transfer = llvm.call @dfk_word(%w, %c21) : (i32, i32) -> i32
  %transfers = llvm.call @dfk_word(%w, %c22) : (i32, i32) -> i32
  %warp = llvm.call @dfk_warp() : () -> i32
  %lane = llvm.call @dfk_lane() : () -> i32
  %any = arith.cmpi ne, %transfers, %c0 : i32
  %is_first = arith.cmpi eq, %warp, %c0 : i32
  %sends = arith.andi %any, %is_first : i1
  %known = llvm.call @dfk_lane_transfer(%p, %first_transfer, %transfers) : (!llvm.ptr, i32, i32) -> !llvm.struct<(i1, i32)>
  %copies = llvm.extractvalue %known[0] : !llvm.struct<(i1, i32)>
  %flag = llvm.extractvalue %known[1] : !llvm.struct<(i1, i32)>
  %looks = llvm.call @dfk_looks(%transfers, %copies) : (i32, i1) -> i1
  %stage_variant = llvm.call @dfk_word(%w, %c1) : (i32, i32) -> i32
  %stage = arith.andi %stage_variant, %low : i32
  scf.if %looks {
    %copied = scf.for %t = %c0 to %transfers step %c1 iter_args(%before = %false) -> (i1) : i32 {
      %index = arith.addi %first_transfer, %t : i32
      %now = llvm.call @dfk_copy_out(%p, %index, %stage) : (!llvm.ptr, i32, i32) -> i1
      %either = arith.ori %before, %now : i1
      scf.yield %either : i1
    }
    scf.if %copied {
      llvm.call @dfk_sync() : () -> ()
    }
  }
  scf.if %sends {
    %published = arith.cmpi ne, %flag, %none : i32
    scf.if %published {
      llvm.call @dfk_signal(%p, %flag) : (!llvm.ptr, i32) -> ()
    }
    // Lanes whose transfer is done begin with the next one that is theirs.
    %second = arith.addi %lane, %c32 : i32
    %begin = arith.select %published, %second, %lane : i32
    scf.for %t = %begin to %transfers step %c32 : i32 {
      %index = arith.addi %first_transfer, %t : i32
      llvm.call @dfk_send(%p, %index, %stage) : (!llvm.ptr, i32, i32) -> ()
    }
    llvm.call @dfk_sync_warp() : () -> ()
  }
  llvm.return
}

// The releases of the instruction %w, a lane of warp 0 each.
llvm.func internal @dfk_release_all(%p: !llvm.ptr, %w: i32) {
  %c0 = arith.constant 0 : i32
  %c7 = arith.constant 7 : i32
  %c12 = arith.constant 12 : i32
  %c16 = arith.constant 16 : i32
  %c25 = arith.constant 25 : i32
  %c26 = arith.constant 26 : i32
  %c32 = arith.constant 32 : i32
  %none = arith.constant -1 : i32
  %releases = llvm.call @dfk_word(%w, %c26) : (i32, i32) -> i32
  %first = llvm.call @dfk_word(%w, %c25) : (i32, i32) -> i32
  %warp = llvm.call @dfk_warp() : () -> i32
  %lane = llvm.call @dfk_lane() : () -> i32
  %releasing = arith.cmpi eq, %warp, %c0 : i32
  scf.if %releasing {
    scf.for %r = %lane to %releases step %c32 : i32 {
      %index = arith.addi %first, %r : i32
      %release = llvm.call @dfk_entry(%p, %c7, %index, %c32) : (!llvm.ptr, i32, i32, i32) -> !llvm.ptr<1>
      %cta = llvm.call @dfk_load(%release, %c12) : (!llvm.ptr<1>, i32) -> i32
      %number = llvm.call @dfk_load(%release, %c16) : (!llvm.ptr<1>, i32) -> i32
      %arrives = arith.cmpi ne, %number, %none : i32
      scf.if %arrives {
        %barrier = llvm.call @dfk_barrier(%number) : (i32) -> !llvm.ptr<3>
        %remote = llvm.call @dfk_remote(%barrier, %cta) : (!llvm.ptr<3>, i32) -> !llvm.ptr<7>
        nvvm.mbarrier.arrive %remote {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>
      }
    }
    llvm.call @dfk_sync_warp() : () -> ()
  }
  llvm.return
}
