// Records that are used up before they are stored: the handler of an instruction may do the work of the one behind it, which
// is the only one that gets its record (dataflow/Schedule/Following.h). That one is then executed without its handler: what it
// waits for and what it releases stays as the plan says.
//
// Behind the counters of the streams, a compute thread has three cells more, all of which become registers:
//     0  the present instruction, this lane's word
//     1  the one behind it in the queue or draw; zeros where there is none
//     2  whether the handler of the present one has done the work of that one

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

// Whether the instruction behind the present one is of %stage and reads, as its only operand and for the same slices, the only
// record of the present one, which is sent nowhere. Who asks does its work if so. The same in all threads of the CTA.
llvm.func internal @dfk_is_followed(%p: !llvm.ptr, %counters: !llvm.ptr, %stage: i32) -> i1 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %c16 = arith.constant 16 : i32
  %c17 = arith.constant 17 : i32
  %c18 = arith.constant 18 : i32
  %c19 = arith.constant 19 : i32
  %c20 = arith.constant 20 : i32
  %c22 = arith.constant 22 : i32
  %low = arith.constant 0xFFFF : i32
  %none = arith.constant -1 : i32
  %false = arith.constant false
  %present = llvm.call @dfk_cell(%counters, %c0) : (!llvm.ptr, i32) -> !llvm.ptr
  %behind = llvm.call @dfk_cell(%counters, %c1) : (!llvm.ptr, i32) -> !llvm.ptr
  %ahead = llvm.call @dfk_cell(%counters, %c2) : (!llvm.ptr, i32) -> !llvm.ptr
  %w = llvm.load %present : !llvm.ptr -> i32
  %next = llvm.load %behind : !llvm.ptr -> i32
  // EXIT has the number of a stage as well, so look at the opcode, too.
  %opcode_flags = llvm.call @dfk_word(%next, %c0) : (i32, i32) -> i32
  %stage_variant = llvm.call @dfk_word(%next, %c1) : (i32, i32) -> i32
  %reads = llvm.call @dfk_word(%next, %c18) : (i32, i32) -> i32
  %its_slices = llvm.call @dfk_word(%next, %c16) : (i32, i32) -> i32
  %slices = llvm.call @dfk_word(%w, %c16) : (i32, i32) -> i32
  %writes = llvm.call @dfk_word(%w, %c20) : (i32, i32) -> i32
  %sends = llvm.call @dfk_word(%w, %c22) : (i32, i32) -> i32
  %opcode = arith.andi %opcode_flags, %low : i32
  %its_stage = arith.andi %stage_variant, %low : i32
  %is_call = arith.cmpi eq, %opcode, %c1 : i32
  %is_stage = arith.cmpi eq, %its_stage, %stage : i32
  %reads_one = arith.cmpi eq, %reads, %c1 : i32
  %writes_one = arith.cmpi eq, %writes, %c1 : i32
  %keeps = arith.cmpi eq, %sends, %c0 : i32
  %alike = arith.cmpi eq, %its_slices, %slices : i32
  %0 = arith.andi %is_call, %is_stage : i1
  %1 = arith.andi %reads_one, %writes_one : i1
  %2 = arith.andi %keeps, %alike : i1
  %3 = arith.andi %0, %1 : i1
  %fits = arith.andi %2, %3 : i1
  %follows = scf.if %fits -> i1 {
    %first_output = llvm.call @dfk_word(%w, %c19) : (i32, i32) -> i32
    %first_operand = llvm.call @dfk_word(%next, %c17) : (i32, i32) -> i32
    %output = llvm.call @dfk_output(%p, %first_output) : (!llvm.ptr, i32) -> !llvm.ptr<1>
    %operand = llvm.call @dfk_operand(%p, %first_operand) : (!llvm.ptr, i32) -> !llvm.ptr<1>
    %written = llvm.call @dfk_load(%output, %c0) : (!llvm.ptr<1>, i32) -> i32
    %read = llvm.call @dfk_load(%operand, %c0) : (!llvm.ptr<1>, i32) -> i32
    %row = llvm.call @dfk_load(%operand, %c4) : (!llvm.ptr<1>, i32) -> i32
    %flags = llvm.call @dfk_load16(%operand, %c8) : (!llvm.ptr<1>, i32) -> i32
    %same = arith.cmpi eq, %written, %read : i32
    %whole = arith.cmpi eq, %row, %none : i32
    %waits = arith.andi %flags, %c1 : i32
    %ready = arith.cmpi eq, %waits, %c0 : i32
    %4 = arith.andi %same, %whole : i1
    %5 = arith.andi %4, %ready : i1
    %uniform = llvm.call @dfk_any(%5) : (i1) -> i1
    scf.yield %uniform : i1
  } else {
    scf.yield %false : i1
  }
  %word = arith.extui %follows : i1 to i32
  llvm.store %word, %ahead : i32, !llvm.ptr
  llvm.return %follows : i1
}
