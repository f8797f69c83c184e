// Kernels that only move bytes: what the memory gives, measured with code of our own driver.
//
//   cold_read  reads a span with the copy engine; the yardstick of memory-bound kernels
//   fill       writes a 32-bit pattern
//   copy       copies a span
//
// Waits are bounded: a wait that runs out stores to address 0.

gpu.module @stream {
  // Dynamic shared memory: barriers of up to 64 stages, then the stages.
  llvm.mlir.global external @arena() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>

  llvm.func internal @clock() -> i64 attributes {always_inline} {
    %0 = llvm.inline_asm has_side_effects "mov.u64 $0, %clock64;", "=l,~{memory}" : () -> i64
    llvm.return %0 : i64
  }

  // Waits until the phase with this parity of a local barrier is complete; ends the kernel when that takes some seconds.
  llvm.func internal @wait(%barrier: !llvm.ptr<3>, %parity: i32) attributes {always_inline} {
    %true = arith.constant true
    %c1 = arith.constant 1 : i32
    %limit = arith.constant 8000000000 : i64
    %begin = llvm.call @clock() : () -> i64
    scf.while : () -> () {
      %done = nvvm.mbarrier.try_wait %barrier, %parity : !llvm.ptr<3>, i32 -> i1
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

  // Byte offset of step %i of a CTA: steps are dealt out in turn, and what is left after the last full turn is dealt out
  // evenly, in multiples of 16 bytes.
  llvm.func internal @offset(%i: i64, %turns: i64, %chunk: i64, %rest: i64) -> i64 attributes {always_inline} {
    %cta = nvvm.read.ptx.sreg.ctaid.x : i32
    %ctas = nvvm.read.ptx.sreg.nctaid.x : i32
    %cta64 = arith.extui %cta : i32 to i64
    %ctas64 = arith.extui %ctas : i32 to i64
    %0 = arith.muli %i, %ctas64 : i64
    %1 = arith.addi %0, %cta64 : i64
    %2 = arith.muli %1, %chunk : i64
    %full = arith.cmpi slt, %i, %turns : i64
    %3 = arith.muli %0, %chunk : i64
    %4 = arith.muli %cta64, %rest : i64
    %5 = arith.addi %3, %4 : i64
    %6 = arith.select %full, %2, %5 : i64
    llvm.return %6 : i64
  }

  // Reads %bytes bytes, a multiple of 16, from %in. Each CTA keeps %stages copies of %chunk bytes in flight. With %check, all
  // threads also combine the 32-bit words by exclusive or into *%check, so that the caller can see that all bytes came.
  llvm.func @cold_read(%in: !llvm.ptr<1>, %bytes: i64, %chunk: i32, %stages: i32, %check: !llvm.ptr<1>)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c512 = arith.constant 512 : i32
    %l1 = arith.constant 1 : i64
    %l15 = arith.constant 15 : i64
    %lm16 = arith.constant -16 : i64
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %threads = nvvm.read.ptx.sreg.ntid.x : i32
    %ctas = nvvm.read.ptx.sreg.nctaid.x : i32
    %is0 = arith.cmpi eq, %tid, %c0 : i32
    %ring = llvm.mlir.addressof @arena : !llvm.ptr<3>
    %buffers = llvm.getelementptr %ring[%c512] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    scf.if %is0 {
      scf.for %s = %c0 to %stages step %c1 : i32 {
        %b = llvm.getelementptr %ring[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
        nvvm.mbarrier.init %b, %c1 : !llvm.ptr<3>, i32
      }
      nvvm.fence.mbarrier.init
    }

    // Turns of a full chunk a CTA, then %rest bytes a CTA.
    %chunk64 = arith.extui %chunk : i32 to i64
    %ctas64 = arith.extui %ctas : i32 to i64
    %turn = arith.muli %chunk64, %ctas64 : i64
    %turns = arith.divui %bytes, %turn : i64
    %dealt = arith.muli %turns, %turn : i64
    %left = arith.subi %bytes, %dealt : i64
    %up = arith.addi %left, %ctas64 : i64
    %up1 = arith.subi %up, %l1 : i64
    %share = arith.divui %up1, %ctas64 : i64
    %share15 = arith.addi %share, %l15 : i64
    %rest = arith.andi %share15, %lm16 : i64
    %last = llvm.call @offset(%turns, %turns, %chunk64, %rest) : (i64, i64, i64, i64) -> i64
    %has_rest = arith.cmpi ult, %last, %bytes : i64
    %extra = arith.extui %has_rest : i1 to i64
    %steps64 = arith.addi %turns, %extra : i64
    %steps = arith.trunci %steps64 : i64 to i32

    %first = arith.minsi %steps, %stages : i32
    scf.if %is0 {
      scf.for %i = %c0 to %first step %c1 : i32 {
        llvm.call @issue(%in, %bytes, %i, %i, %turns, %chunk64, %rest) : (!llvm.ptr<1>, i64, i32, i32, i64, i64, i64) -> ()
      }
    }
    %null = llvm.mlir.zero : !llvm.ptr<1>
    %checks = llvm.icmp "ne" %check, %null : !llvm.ptr<1>
    scf.if %checks {
      nvvm.barrier
      %sum:3 = scf.for %i = %c0 to %steps step %c1 iter_args(%x = %c0, %s = %c0, %parity = %c0) -> (i32, i32, i32) : i32 {
        %b = llvm.getelementptr %ring[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
        llvm.call @wait(%b, %parity) : (!llvm.ptr<3>, i32) -> ()
        %i64 = arith.extui %i : i32 to i64
        %offset = llvm.call @offset(%i64, %turns, %chunk64, %rest) : (i64, i64, i64, i64) -> i64
        %size = llvm.call @size(%i64, %turns, %chunk64, %rest, %offset, %bytes) : (i64, i64, i64, i64, i64, i64) -> i32
        %words = arith.shrui %size, %c2 : i32
        %at = arith.muli %s, %chunk : i32
        %buffer = llvm.getelementptr %buffers[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
        %0 = scf.for %w = %tid to %words step %threads iter_args(%y = %x) -> (i32) : i32 {
          %p = llvm.getelementptr %buffer[%w] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
          %v = llvm.load %p : !llvm.ptr<3> -> i32
          %z = arith.xori %y, %v : i32
          scf.yield %z : i32
        }
        nvvm.barrier
        %later = arith.addi %i, %stages : i32
        %again = arith.cmpi slt, %later, %steps : i32
        %issues = arith.andi %again, %is0 : i1
        scf.if %issues {
          llvm.call @issue(%in, %bytes, %later, %s, %turns, %chunk64, %rest) : (!llvm.ptr<1>, i64, i32, i32, i64, i64, i64) -> ()
        }
        %next = arith.addi %s, %c1 : i32
        %wraps = arith.cmpi eq, %next, %stages : i32
        %flip = arith.extui %wraps : i1 to i32
        %s1 = arith.select %wraps, %c0, %next : i32
        %parity1 = arith.xori %parity, %flip : i32
        scf.yield %0, %s1, %parity1 : i32, i32, i32
      }
      %ignored = llvm.atomicrmw _xor %check, %sum#0 syncscope("device") monotonic : !llvm.ptr<1>, i32
    } else {
      scf.if %is0 {
        %sum:2 = scf.for %i = %c0 to %steps step %c1 iter_args(%s = %c0, %parity = %c0) -> (i32, i32) : i32 {
          %b = llvm.getelementptr %ring[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          llvm.call @wait(%b, %parity) : (!llvm.ptr<3>, i32) -> ()
          %later = arith.addi %i, %stages : i32
          %again = arith.cmpi slt, %later, %steps : i32
          scf.if %again {
            llvm.call @issue(%in, %bytes, %later, %s, %turns, %chunk64, %rest) : (!llvm.ptr<1>, i64, i32, i32, i64, i64, i64) -> ()
          }
          %next = arith.addi %s, %c1 : i32
          %wraps = arith.cmpi eq, %next, %stages : i32
          %flip = arith.extui %wraps : i1 to i32
          %s1 = arith.select %wraps, %c0, %next : i32
          %parity1 = arith.xori %parity, %flip : i32
          scf.yield %s1, %parity1 : i32, i32
        }
      }
    }
    llvm.return
  }

  // Bytes of step %i at %offset.
  llvm.func internal @size(%i: i64, %turns: i64, %chunk: i64, %rest: i64, %offset: i64, %bytes: i64) -> i32 attributes {always_inline} {
    %full = arith.cmpi slt, %i, %turns : i64
    %whole = arith.select %full, %chunk, %rest : i64
    %left = arith.subi %bytes, %offset : i64
    %size = arith.minui %whole, %left : i64
    %0 = arith.trunci %size : i64 to i32
    llvm.return %0 : i32
  }

  // Starts the copy of step %i into stage %s.
  llvm.func internal @issue(%in: !llvm.ptr<1>, %bytes: i64, %i: i32, %s: i32, %turns: i64, %chunk: i64, %rest: i64) attributes {always_inline} {
    %c512 = arith.constant 512 : i32
    %ring = llvm.mlir.addressof @arena : !llvm.ptr<3>
    %buffers = llvm.getelementptr %ring[%c512] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %i64 = arith.extui %i : i32 to i64
    %offset = llvm.call @offset(%i64, %turns, %chunk, %rest) : (i64, i64, i64, i64) -> i64
    %size = llvm.call @size(%i64, %turns, %chunk, %rest, %offset, %bytes) : (i64, i64, i64, i64, i64, i64) -> i32
    %chunk32 = arith.trunci %chunk : i64 to i32
    %at = arith.muli %s, %chunk32 : i32
    %buffer = llvm.getelementptr %buffers[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %to = llvm.addrspacecast %buffer : !llvm.ptr<3> to !llvm.ptr<7>
    %from = llvm.getelementptr %in[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    %b = llvm.getelementptr %ring[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
    nvvm.mbarrier.arrive.expect_tx %b, %size : !llvm.ptr<3>, i32
    nvvm.cp.async.bulk.shared.cluster.global %to, %from, %b, %size : !llvm.ptr<7>, !llvm.ptr<1>
    llvm.return
  }

  // The number of this thread in the grid.
  llvm.func internal @thread() -> i64 attributes {always_inline} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %threads = nvvm.read.ptx.sreg.ntid.x : i32
    %cta = nvvm.read.ptx.sreg.ctaid.x : i32
    %0 = arith.muli %cta, %threads : i32
    %1 = arith.addi %0, %tid : i32
    %2 = arith.extui %1 : i32 to i64
    llvm.return %2 : i64
  }
  // And how many there are.
  llvm.func internal @grid() -> i64 attributes {always_inline} {
    %threads = nvvm.read.ptx.sreg.ntid.x : i32
    %ctas = nvvm.read.ptx.sreg.nctaid.x : i32
    %0 = arith.muli %ctas, %threads : i32
    %1 = arith.extui %0 : i32 to i64
    llvm.return %1 : i64
  }

  // Writes %bytes bytes of the pattern to %out, which is aligned to 16 bytes.
  llvm.func @fill(%out: !llvm.ptr<1>, %bytes: i64, %pattern: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} {
    %l3 = arith.constant 3 : i64
    %l4 = arith.constant 4 : i64
    %lm16 = arith.constant -16 : i64
    %thread = llvm.call @thread() : () -> i64
    %grid = llvm.call @grid() : () -> i64
    %vectors = arith.shrui %bytes, %l4 : i64
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %none = llvm.mlir.poison : vector<4xi32>
    %one = llvm.insertelement %pattern, %none[%c0 : i32] : vector<4xi32>
    %two = llvm.insertelement %pattern, %one[%c1 : i32] : vector<4xi32>
    %three = llvm.insertelement %pattern, %two[%c2 : i32] : vector<4xi32>
    %vector = llvm.insertelement %pattern, %three[%c3 : i32] : vector<4xi32>
    scf.for %i = %thread to %vectors step %grid : i64 {
      %p = llvm.getelementptr %out[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, vector<4xi32>
      llvm.store %vector, %p {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
    }
    %done = arith.andi %bytes, %lm16 : i64
    %begin = arith.addi %done, %thread : i64
    scf.for %i = %begin to %bytes step %grid : i64 {
      %byte = arith.andi %i, %l3 : i64
      %bit = arith.shli %byte, %l3 : i64
      %bit32 = arith.trunci %bit : i64 to i32
      %shifted = arith.shrui %pattern, %bit32 : i32
      %value = arith.trunci %shifted : i32 to i8
      %p = llvm.getelementptr %out[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
      llvm.store %value, %p : i8, !llvm.ptr<1>
    }
    llvm.return
  }

  // Copies %bytes bytes; both spans are aligned to 16 bytes and do not overlap. Four loads of a thread are in flight.
  llvm.func @copy(%out: !llvm.ptr<1>, %in: !llvm.ptr<1>, %bytes: i64) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} {
    %l2 = arith.constant 2 : i64
    %l4 = arith.constant 4 : i64
    %lm16 = arith.constant -16 : i64
    %thread = llvm.call @thread() : () -> i64
    %grid = llvm.call @grid() : () -> i64
    %vectors = arith.shrui %bytes, %l4 : i64
    %turn = arith.shli %grid, %l2 : i64
    %turns = arith.divui %vectors, %turn : i64
    %together = arith.muli %turns, %turn : i64
    scf.for %i = %thread to %together step %turn : i64 {
      %i1 = arith.addi %i, %grid : i64
      %i2 = arith.addi %i1, %grid : i64
      %i3 = arith.addi %i2, %grid : i64
      %p0 = llvm.getelementptr %in[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, vector<4xi32>
      %p1 = llvm.getelementptr %in[%i1] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, vector<4xi32>
      %p2 = llvm.getelementptr %in[%i2] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, vector<4xi32>
      %p3 = llvm.getelementptr %in[%i3] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, vector<4xi32>
      %v0 = llvm.load %p0 {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
      %v1 = llvm.load %p1 {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
      %v2 = llvm.load %p2 {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
      %v3 = llvm.load %p3 {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
      %q0 = llvm.getelementptr %out[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, vector<4xi32>
      %q1 = llvm.getelementptr %out[%i1] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, vector<4xi32>
      %q2 = llvm.getelementptr %out[%i2] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, vector<4xi32>
      %q3 = llvm.getelementptr %out[%i3] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, vector<4xi32>
      llvm.store %v0, %q0 {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
      llvm.store %v1, %q1 {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
      llvm.store %v2, %q2 {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
      llvm.store %v3, %q3 {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
    }
    %single = arith.addi %together, %thread : i64
    scf.for %i = %single to %vectors step %grid : i64 {
      %p = llvm.getelementptr %in[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, vector<4xi32>
      %v = llvm.load %p {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
      %q = llvm.getelementptr %out[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, vector<4xi32>
      llvm.store %v, %q {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
    }
    %done = arith.andi %bytes, %lm16 : i64
    %begin = arith.addi %done, %thread : i64
    scf.for %i = %begin to %bytes step %grid : i64 {
      %p = llvm.getelementptr %in[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
      %v = llvm.load %p : !llvm.ptr<1> -> i8
      %q = llvm.getelementptr %out[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
      llvm.store %v, %q : i8, !llvm.ptr<1>
    }
    llvm.return
  }
}
