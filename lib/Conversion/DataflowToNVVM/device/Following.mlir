// Records that are used up before they are stored: the handler of an instruction may do the work of the one behind it, which
// is the only one that gets its record (dataflow/Schedule/Following.h). That one is then executed without its handler: what it
// waits for and what it releases stays as the plan says.
//
// Behind the counters of the streams, a compute thread has four cells more, all of which become registers:
//     0  the present instruction, this lane's word
//     1  the one behind it in the queue or draw; zeros where there is none
//     2  whether the handler of the present one has done the work of that one
//     3  how many records were left to the publishing warp (Publish.mlir)

llvm.func internal @dfk_cell(%counters: !llvm.ptr, %number: i32) -> !llvm.ptr {
  %streams = llvm.call @dfk_streams() : () -> i32
  %index = arith.addi %streams, %number : i32
  %cell = llvm.getelementptr %counters[%index] : (!llvm.ptr, i32) -> !llvm.ptr, i32
  llvm.return %cell : !llvm.ptr
}

// Begins the instruction %w, behind which there is %next. Says whether its work is done already.
llvm.func internal @dfk_begin_instruction(%counters: !llvm.ptr, %w: i32, %next: i32) -> i1 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %present = llvm.call @dfk_cell(%counters, %c0) : (!llvm.ptr, i32) -> !llvm.ptr
  %behind = llvm.call @dfk_cell(%counters, %c1) : (!llvm.ptr, i32) -> !llvm.ptr
  %ahead = llvm.call @dfk_cell(%counters, %c2) : (!llvm.ptr, i32) -> !llvm.ptr
  llvm.store %w, %present : i32, !llvm.ptr
  llvm.store %next, %behind : i32, !llvm.ptr
  %word = llvm.load %ahead : !llvm.ptr -> i32
  llvm.store %c0, %ahead : i32, !llvm.ptr
  %done = arith.cmpi ne, %word, %c0 : i32
  llvm.return %done : i1
}

// Whether the instruction behind the present one is of %stage, of the same task and slices, and reads one operand, while the
// present one writes one record and sends it nowhere. The operand is that record then (docs/rationale/following.md), so nothing
// of the plan is looked up. Who asks does the work of the next instruction if so. The same in all threads of the CTA.
llvm.func internal @dfk_is_followed(%p: !llvm.ptr, %counters: !llvm.ptr, %stage: i32) -> i1 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c16 = arith.constant 16 : i32
  %c18 = arith.constant 18 : i32
  %c20 = arith.constant 20 : i32
  %c22 = arith.constant 22 : i32
  %low = arith.constant 0xFFFF : i32
  %present = llvm.call @dfk_cell(%counters, %c0) : (!llvm.ptr, i32) -> !llvm.ptr
  %behind = llvm.call @dfk_cell(%counters, %c1) : (!llvm.ptr, i32) -> !llvm.ptr
  %ahead = llvm.call @dfk_cell(%counters, %c2) : (!llvm.ptr, i32) -> !llvm.ptr
  %w = llvm.load %present : !llvm.ptr -> i32
  %next = llvm.load %behind : !llvm.ptr -> i32
  // EXIT has the number of a stage as well, so look at the opcode, too.
  %opcode_flags = llvm.call @dfk_word(%next, %c0) : (i32, i32) -> i32
  %stage_variant = llvm.call @dfk_word(%next, %c1) : (i32, i32) -> i32
  %reads = llvm.call @dfk_word(%next, %c18) : (i32, i32) -> i32
  %writes = llvm.call @dfk_word(%w, %c20) : (i32, i32) -> i32
  %sends = llvm.call @dfk_word(%w, %c22) : (i32, i32) -> i32
  // Words 2 and 3 are the task, word 16 the slices: each lane compares its own.
  %lane = llvm.call @dfk_lane() : () -> i32
  %is2 = arith.cmpi eq, %lane, %c2 : i32
  %is3 = arith.cmpi eq, %lane, %c3 : i32
  %is16 = arith.cmpi eq, %lane, %c16 : i32
  %of_task = arith.ori %is2, %is3 : i1
  %compares = arith.ori %of_task, %is16 : i1
  %unequal = arith.cmpi ne, %w, %next : i32
  %differs = arith.andi %compares, %unequal : i1
  %other = llvm.call @dfk_any(%differs) : (i1) -> i1
  %opcode = arith.andi %opcode_flags, %low : i32
  %its_stage = arith.andi %stage_variant, %low : i32
  %is_call = arith.cmpi eq, %opcode, %c1 : i32
  %is_stage = arith.cmpi eq, %its_stage, %stage : i32
  %reads_one = arith.cmpi eq, %reads, %c1 : i32
  %writes_one = arith.cmpi eq, %writes, %c1 : i32
  %keeps = arith.cmpi eq, %sends, %c0 : i32
  %true = arith.constant true
  %alike = arith.xori %other, %true : i1
  %0 = arith.andi %is_call, %is_stage : i1
  %1 = arith.andi %reads_one, %writes_one : i1
  %2 = arith.andi %keeps, %alike : i1
  %3 = arith.andi %0, %1 : i1
  %follows = arith.andi %2, %3 : i1
  %word = arith.extui %follows : i1 to i32
  llvm.store %word, %ahead : i32, !llvm.ptr
  llvm.return %follows : i1
}
