// Reading a plan (ABI.h). One warp holds an instruction in one register: lane k has word k.
//
// Control block, in shared memory:
//     0  epoch of this launch
//     8  records of the watchdog
//    16  barrier: a draw is there
//    24  barrier: the draw was taken
//    32  draw that was handed out: place of its first instruction, number of instructions (0: there are no more)
//    40  timeline: instructions recorded by the load role, by the compute role
//    48  timeline: nanoseconds that they have waited for rings in the present instruction
//    56  timeline: when the compute threads' present instruction was there, and when its operands were, low halves
//    64  barrier: a record is to be published
//    72  barrier: its flags were read
//    80  its flags, one a lane

// What a lane has of an operand: the two halves of its record.
!operand = !llvm.struct<(vector<4xi32>, vector<4xi32>)>

llvm.func internal @dfk_control(%offset: i32) -> !llvm.ptr<3> {
  %at = llvm.call @dfk_control_at() : () -> i32
  %0 = arith.addi %at, %offset : i32
  %1 = llvm.call @dfk_shared(%0) : (i32) -> !llvm.ptr<3>
  llvm.return %1 : !llvm.ptr<3>
}

llvm.func internal @dfk_section(%p: !llvm.ptr, %section: i32) -> !llvm.ptr<1> {
  %c3 = arith.constant 3 : i32
  %c64 = arith.constant 64 : i32
  %offset = arith.shli %section, %c3 : i32
  %at = arith.addi %offset, %c64 : i32
  %pointer = llvm.call @dfk_parameter(%p, %at) : (!llvm.ptr, i32) -> !llvm.ptr<1>
  llvm.return %pointer : !llvm.ptr<1>
}

// Entry %index of a section whose entries have %bytes bytes.
llvm.func internal @dfk_entry(%p: !llvm.ptr, %section: i32, %index: i32, %bytes: i32) -> !llvm.ptr<1> {
  %base = llvm.call @dfk_section(%p, %section) : (!llvm.ptr, i32) -> !llvm.ptr<1>
  %index64 = arith.extui %index : i32 to i64
  %bytes64 = arith.extui %bytes : i32 to i64
  %offset = arith.muli %index64, %bytes64 : i64
  %entry = llvm.getelementptr %base[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  llvm.return %entry : !llvm.ptr<1>
}

llvm.func internal @dfk_load(%entry: !llvm.ptr<1>, %offset: i32) -> i32 {
  %at = llvm.getelementptr %entry[%offset] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
  %value = llvm.load %at {alignment = 4 : i64} : !llvm.ptr<1> -> i32
  llvm.return %value : i32
}

llvm.func internal @dfk_load64(%entry: !llvm.ptr<1>, %offset: i32) -> i64 {
  %at = llvm.getelementptr %entry[%offset] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
  %value = llvm.load %at {alignment = 8 : i64} : !llvm.ptr<1> -> i64
  llvm.return %value : i64
}

llvm.func internal @dfk_load16(%entry: !llvm.ptr<1>, %offset: i32) -> i32 {
  %at = llvm.getelementptr %entry[%offset] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
  %value = llvm.load %at {alignment = 2 : i64} : !llvm.ptr<1> -> i16
  %wide = arith.extui %value : i16 to i32
  llvm.return %wide : i32
}

// This lane's word of instruction %index.
llvm.func internal @dfk_instruction(%p: !llvm.ptr, %index: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c128 = arith.constant 128 : i32
  %entry = llvm.call @dfk_entry(%p, %c1, %index, %c128) : (!llvm.ptr, i32, i32, i32) -> !llvm.ptr<1>
  %lane = llvm.call @dfk_lane() : () -> i32
  %offset = arith.shli %lane, %c2 : i32
  %word = llvm.call @dfk_load(%entry, %offset) : (!llvm.ptr<1>, i32) -> i32
  llvm.return %word : i32
}

// Word %k of the instruction %w, what lane %k has. A reduction over the warp, since the assembler knows that its result is the
// same in all lanes (of a shuffle it does not), and keeps branches on it free of what divergence costs.
llvm.func internal @dfk_word(%w: i32, %k: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %all = arith.constant -1 : i32
  %lane = llvm.call @dfk_lane() : () -> i32
  %mine = arith.cmpi eq, %lane, %k : i32
  %part = arith.select %mine, %w, %c0 : i32
  %word = nvvm.redux.sync or %part, %all : i32 -> i32
  llvm.return %word : i32
}

// Words %k and %k + 1.
llvm.func internal @dfk_word64(%w: i32, %k: i32) -> i64 {
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i64
  %next = arith.addi %k, %c1 : i32
  %low = llvm.call @dfk_word(%w, %k) : (i32, i32) -> i32
  %high = llvm.call @dfk_word(%w, %next) : (i32, i32) -> i32
  %low64 = arith.extui %low : i32 to i64
  %high64 = arith.extui %high : i32 to i64
  %shifted = arith.shli %high64, %c32 : i64
  %word = arith.ori %shifted, %low64 : i64
  llvm.return %word : i64
}

// Where %offset lies in the slot arena of a space (1: shared memory of this CTA, 2: global).
llvm.func internal @dfk_place(%p: !llvm.ptr, %space: i32, %offset: i64) -> !llvm.ptr {
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %is_shared = arith.cmpi eq, %space, %c1 : i32
  %place = scf.if %is_shared -> !llvm.ptr {
    %at = llvm.call @dfk_slot_shared(%offset) : (i64) -> !llvm.ptr<3>
    %0 = llvm.addrspacecast %at : !llvm.ptr<3> to !llvm.ptr
    scf.yield %0 : !llvm.ptr
  } else {
    %slots = llvm.call @dfk_parameter(%p, %c32) : (!llvm.ptr, i32) -> !llvm.ptr<1>
    %at = llvm.getelementptr %slots[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    %0 = llvm.addrspacecast %at : !llvm.ptr<1> to !llvm.ptr
    scf.yield %0 : !llvm.ptr
  }
  llvm.return %place : !llvm.ptr
}

llvm.func internal @dfk_slot_shared(%offset: i64) -> !llvm.ptr<3> {
  %reserved = llvm.call @dfk_reserved() : () -> i32
  %low = arith.trunci %offset : i64 to i32
  %at = arith.addi %reserved, %low : i32
  %slot = llvm.call @dfk_shared(%at) : (i32) -> !llvm.ptr<3>
  llvm.return %slot : !llvm.ptr<3>
}

llvm.func internal @dfk_operand(%p: !llvm.ptr, %index: i32) -> !llvm.ptr<1> {
  %c2 = arith.constant 2 : i32
  %c32 = arith.constant 32 : i32
  %entry = llvm.call @dfk_entry(%p, %c2, %index, %c32) : (!llvm.ptr, i32, i32, i32) -> !llvm.ptr<1>
  llvm.return %entry : !llvm.ptr<1>
}

llvm.func internal @dfk_operand_address(%p: !llvm.ptr, %operand: !llvm.ptr<1>) -> !llvm.ptr {
  %c10 = arith.constant 10 : i32
  %c16 = arith.constant 16 : i32
  %space = llvm.call @dfk_load16(%operand, %c10) : (!llvm.ptr<1>, i32) -> i32
  %offset = llvm.call @dfk_load64(%operand, %c16) : (!llvm.ptr<1>, i32) -> i64
  %place = llvm.call @dfk_place(%p, %space, %offset) : (!llvm.ptr, i32, i64) -> !llvm.ptr
  llvm.return %place : !llvm.ptr
}

// The record of operand %base + lane of the instruction %w, zeros where there is none: a warp has up to 32 operands in
// registers, and nobody waits for the plan once more when they are there.
llvm.func internal @dfk_lane_operand(%p: !llvm.ptr, %w: i32, %base: i32) -> !operand {
  %c16 = arith.constant 16 : i32
  %c17 = arith.constant 17 : i32
  %c18 = arith.constant 18 : i32
  %zeros = arith.constant dense<0> : vector<4xi32>
  %first = llvm.call @dfk_word(%w, %c17) : (i32, i32) -> i32
  %count = llvm.call @dfk_word(%w, %c18) : (i32, i32) -> i32
  %lane = llvm.call @dfk_lane() : () -> i32
  %mine = arith.addi %base, %lane : i32
  %there = arith.cmpi ult, %mine, %count : i32
  %halves:2 = scf.if %there -> (vector<4xi32>, vector<4xi32>) {
    %index = arith.addi %first, %mine : i32
    %operand = llvm.call @dfk_operand(%p, %index) : (!llvm.ptr, i32) -> !llvm.ptr<1>
    %behind = llvm.getelementptr %operand[%c16] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %a = llvm.load %operand {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
    %b = llvm.load %behind {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
    scf.yield %a, %b : vector<4xi32>, vector<4xi32>
  } else {
    scf.yield %zeros, %zeros : vector<4xi32>, vector<4xi32>
  }
  %none = llvm.mlir.poison : !operand
  %0 = llvm.insertvalue %halves#0, %none[0] : !operand
  %1 = llvm.insertvalue %halves#1, %0[1] : !operand
  llvm.return %1 : !operand
}

// Where the record of such an operand lies, the first slice that its slot holds, and the row.
llvm.func internal @dfk_lane_place(%p: !llvm.ptr, %record: !operand) -> !llvm.struct<(ptr, i32, i32)> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c16 = arith.constant 16 : i32
  %low = arith.constant 0xFFFF : i32
  %l32 = arith.constant 32 : i64
  %a = llvm.extractvalue %record[0] : !operand
  %b = llvm.extractvalue %record[1] : !operand
  %flags_space = llvm.extractelement %a[%c2 : i32] : vector<4xi32>
  %slice_word = llvm.extractelement %a[%c3 : i32] : vector<4xi32>
  %row = llvm.extractelement %a[%c1 : i32] : vector<4xi32>
  %lower = llvm.extractelement %b[%c0 : i32] : vector<4xi32>
  %upper = llvm.extractelement %b[%c1 : i32] : vector<4xi32>
  %space = arith.shrui %flags_space, %c16 : i32
  %slice = arith.andi %slice_word, %low : i32
  %lower64 = arith.extui %lower : i32 to i64
  %upper64 = arith.extui %upper : i32 to i64
  %shifted = arith.shli %upper64, %l32 : i64
  %offset = arith.ori %shifted, %lower64 : i64
  %place = llvm.call @dfk_place(%p, %space, %offset) : (!llvm.ptr, i32, i64) -> !llvm.ptr
  %none = llvm.mlir.poison : !llvm.struct<(ptr, i32, i32)>
  %0 = llvm.insertvalue %place, %none[0] : !llvm.struct<(ptr, i32, i32)>
  %1 = llvm.insertvalue %slice, %0[1] : !llvm.struct<(ptr, i32, i32)>
  %2 = llvm.insertvalue %row, %1[2] : !llvm.struct<(ptr, i32, i32)>
  llvm.return %2 : !llvm.struct<(ptr, i32, i32)>
}

// Place and first slice of operand %number of the present instruction, one of the first 32. Lane l knows those of operand l; all
// lanes of the warp ask for the same operand.
llvm.func internal @dfk_near_place(%number: i32, %place: !llvm.ptr, %slice: i32) -> !llvm.struct<(ptr, i32)> {
  %c31 = arith.constant 31 : i32
  %all = arith.constant -1 : i32
  %l32 = arith.constant 32 : i64
  %address = llvm.ptrtoint %place : !llvm.ptr to i64
  %lower = arith.trunci %address : i64 to i32
  %high = arith.shrui %address, %l32 : i64
  %upper = arith.trunci %high : i64 to i32
  %its_lower = nvvm.shfl.sync idx %all, %lower, %number, %c31 : i32 -> i32
  %its_upper = nvvm.shfl.sync idx %all, %upper, %number, %c31 : i32 -> i32
  %its_slice = nvvm.shfl.sync idx %all, %slice, %number, %c31 : i32 -> i32
  %lower64 = arith.extui %its_lower : i32 to i64
  %upper64 = arith.extui %its_upper : i32 to i64
  %shifted = arith.shli %upper64, %l32 : i64
  %its_address = arith.ori %shifted, %lower64 : i64
  %its_place = llvm.inttoptr %its_address : i64 to !llvm.ptr
  %none = llvm.mlir.poison : !llvm.struct<(ptr, i32)>
  %0 = llvm.insertvalue %its_place, %none[0] : !llvm.struct<(ptr, i32)>
  %1 = llvm.insertvalue %its_slice, %0[1] : !llvm.struct<(ptr, i32)>
  llvm.return %1 : !llvm.struct<(ptr, i32)>
}

// The same of any operand. The operands of the instruction begin at %first in the plan.
llvm.func internal @dfk_operand_place(%p: !llvm.ptr, %first: i32, %number: i32, %place: !llvm.ptr, %slice: i32) -> !llvm.struct<(ptr, i32)> {
  %c32 = arith.constant 32 : i32
  %is_near = arith.cmpi ult, %number, %c32 : i32
  %found = scf.if %is_near -> !llvm.struct<(ptr, i32)> {
    %0 = llvm.call @dfk_near_place(%number, %place, %slice) : (i32, !llvm.ptr, i32) -> !llvm.struct<(ptr, i32)>
    scf.yield %0 : !llvm.struct<(ptr, i32)>
  } else {
    %index = arith.addi %first, %number : i32
    %operand = llvm.call @dfk_operand(%p, %index) : (!llvm.ptr, i32) -> !llvm.ptr<1>
    %its_place = llvm.call @dfk_operand_address(%p, %operand) : (!llvm.ptr, !llvm.ptr<1>) -> !llvm.ptr
    %its_slice = llvm.call @dfk_operand_slice(%operand) : (!llvm.ptr<1>) -> i32
    %none = llvm.mlir.poison : !llvm.struct<(ptr, i32)>
    %0 = llvm.insertvalue %its_place, %none[0] : !llvm.struct<(ptr, i32)>
    %1 = llvm.insertvalue %its_slice, %0[1] : !llvm.struct<(ptr, i32)>
    scf.yield %1 : !llvm.struct<(ptr, i32)>
  }
  llvm.return %found : !llvm.struct<(ptr, i32)>
}

// The same for its row, -1 for a whole record.
llvm.func internal @dfk_operand_row(%p: !llvm.ptr, %first: i32, %number: i32, %row: i32) -> i32 {
  %c4 = arith.constant 4 : i32
  %c31 = arith.constant 31 : i32
  %c32 = arith.constant 32 : i32
  %all = arith.constant -1 : i32
  %is_near = arith.cmpi ult, %number, %c32 : i32
  %found = scf.if %is_near -> i32 {
    %its_row = nvvm.shfl.sync idx %all, %row, %number, %c31 : i32 -> i32
    scf.yield %its_row : i32
  } else {
    %index = arith.addi %first, %number : i32
    %operand = llvm.call @dfk_operand(%p, %index) : (!llvm.ptr, i32) -> !llvm.ptr<1>
    %its_row = llvm.call @dfk_load(%operand, %c4) : (!llvm.ptr<1>, i32) -> i32
    scf.yield %its_row : i32
  }
  llvm.return %found : i32
}

// The first slice that the slot of an operand holds.
llvm.func internal @dfk_operand_slice(%operand: !llvm.ptr<1>) -> i32 {
  %c12 = arith.constant 12 : i32
  %slice = llvm.call @dfk_load16(%operand, %c12) : (!llvm.ptr<1>, i32) -> i32
  llvm.return %slice : i32
}

// How many of the operands from %first on, at most %limit, are records of %stage.
llvm.func internal @dfk_operand_run(%p: !llvm.ptr, %first: i32, %limit: i32, %stage: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c16 = arith.constant 16 : i32
  %c48 = arith.constant 48 : i32
  %false = arith.constant false
  %run = scf.while (%n = %c0) : (i32) -> i32 {
    %inside = arith.cmpi ult, %n, %limit : i32
    %more = scf.if %inside -> i1 {
      %index = arith.addi %first, %n : i32
      %operand = llvm.call @dfk_operand(%p, %index) : (!llvm.ptr, i32) -> !llvm.ptr<1>
      %number = llvm.call @dfk_load(%operand, %c0) : (!llvm.ptr<1>, i32) -> i32
      %slot = llvm.call @dfk_entry(%p, %c4, %number, %c48) : (!llvm.ptr, i32, i32, i32) -> !llvm.ptr<1>
      %its = llvm.call @dfk_load16(%slot, %c16) : (!llvm.ptr<1>, i32) -> i32
      %same = arith.cmpi eq, %its, %stage : i32
      scf.yield %same : i1
    } else {
      scf.yield %false : i1
    }
    scf.condition(%more) %n : i32
  } do {
  ^bb0(%n: i32):
    %next = arith.addi %n, %c1 : i32
    scf.yield %next : i32
  }
  llvm.return %run : i32
}

llvm.func internal @dfk_output(%p: !llvm.ptr, %index: i32) -> !llvm.ptr<1> {
  %c3 = arith.constant 3 : i32
  %c16 = arith.constant 16 : i32
  %entry = llvm.call @dfk_entry(%p, %c3, %index, %c16) : (!llvm.ptr, i32, i32, i32) -> !llvm.ptr<1>
  llvm.return %entry : !llvm.ptr<1>
}

llvm.func internal @dfk_output_address(%p: !llvm.ptr, %output: !llvm.ptr<1>) -> !llvm.ptr {
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %space = llvm.call @dfk_load16(%output, %c4) : (!llvm.ptr<1>, i32) -> i32
  %offset = llvm.call @dfk_load64(%output, %c8) : (!llvm.ptr<1>, i32) -> i64
  %place = llvm.call @dfk_place(%p, %space, %offset) : (!llvm.ptr, i32, i64) -> !llvm.ptr
  llvm.return %place : !llvm.ptr
}

llvm.func internal @dfk_output_slice(%output: !llvm.ptr<1>) -> i32 {
  %c6 = arith.constant 6 : i32
  %slice = llvm.call @dfk_load16(%output, %c6) : (!llvm.ptr<1>, i32) -> i32
  llvm.return %slice : i32
}
