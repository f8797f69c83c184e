// Copies of records by all compute threads. Nothing here waits.

// %bytes bytes; the spans do not overlap. Four vectors of a thread are in flight.
llvm.func internal @dfk_copy(%to: !llvm.ptr, %from: !llvm.ptr, %bytes: i64) {
  %l0 = arith.constant 0 : i64
  %l15 = arith.constant 15 : i64
  %to_address = llvm.ptrtoint %to : !llvm.ptr to i64
  %from_address = llvm.ptrtoint %from : !llvm.ptr to i64
  %0 = arith.ori %to_address, %from_address : i64
  %1 = arith.ori %0, %bytes : i64
  %2 = arith.andi %1, %l15 : i64
  %aligned = arith.cmpi eq, %2, %l0 : i64
  %thread = llvm.call @dfk_thread() : () -> i32
  %threads = llvm.call @dfk_threads() : () -> i32
  %first = arith.extui %thread : i32 to i64
  %step = arith.extui %threads : i32 to i64
  scf.if %aligned {
    %l4 = arith.constant 4 : i64
    %vectors = arith.shrui %bytes, %l4 : i64
    %turn = arith.muli %step, %l4 : i64
    %turns = arith.divui %vectors, %turn : i64
    %together = arith.muli %turns, %turn : i64
    scf.for %i = %first to %together step %turn : i64 {
      %i1 = arith.addi %i, %step : i64
      %i2 = arith.addi %i1, %step : i64
      %i3 = arith.addi %i2, %step : i64
      %p0 = llvm.getelementptr %from[%i] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xi32>
      %p1 = llvm.getelementptr %from[%i1] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xi32>
      %p2 = llvm.getelementptr %from[%i2] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xi32>
      %p3 = llvm.getelementptr %from[%i3] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xi32>
      %v0 = llvm.load %p0 {alignment = 16 : i64} : !llvm.ptr -> vector<4xi32>
      %v1 = llvm.load %p1 {alignment = 16 : i64} : !llvm.ptr -> vector<4xi32>
      %v2 = llvm.load %p2 {alignment = 16 : i64} : !llvm.ptr -> vector<4xi32>
      %v3 = llvm.load %p3 {alignment = 16 : i64} : !llvm.ptr -> vector<4xi32>
      %q0 = llvm.getelementptr %to[%i] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xi32>
      %q1 = llvm.getelementptr %to[%i1] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xi32>
      %q2 = llvm.getelementptr %to[%i2] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xi32>
      %q3 = llvm.getelementptr %to[%i3] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xi32>
      llvm.store %v0, %q0 {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr
      llvm.store %v1, %q1 {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr
      llvm.store %v2, %q2 {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr
      llvm.store %v3, %q3 {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr
    }
    %rest = arith.addi %together, %first : i64
    scf.for %i = %rest to %vectors step %step : i64 {
      %p = llvm.getelementptr %from[%i] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xi32>
      %v = llvm.load %p {alignment = 16 : i64} : !llvm.ptr -> vector<4xi32>
      %q = llvm.getelementptr %to[%i] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xi32>
      llvm.store %v, %q {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr
    }
  } else {
    scf.for %i = %first to %bytes step %step : i64 {
      %p = llvm.getelementptr %from[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      %v = llvm.load %p : !llvm.ptr -> i8
      %q = llvm.getelementptr %to[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      llvm.store %v, %q : i8, !llvm.ptr
    }
  }
  llvm.return
}

// Where byte %at of a dense field lies in a record that is cut into slices: of each %block bytes, every %part bytes belong to
// the next slice, %pitch bytes further on.
llvm.func internal @dfk_sliced(%at: i64, %block: i64, %part: i64, %pitch: i64) -> i64 {
  %outer = arith.divui %at, %block : i64
  %begin = arith.muli %outer, %block : i64
  %rest = arith.subi %at, %begin : i64
  %slice = arith.divui %rest, %part : i64
  %skipped = arith.muli %slice, %part : i64
  %inside = arith.subi %rest, %skipped : i64
  %row = arith.muli %outer, %part : i64
  %column = arith.muli %slice, %pitch : i64
  %0 = arith.addi %row, %column : i64
  %1 = arith.addi %0, %inside : i64
  llvm.return %1 : i64
}

// One piece of %unit bytes, 16, 4 or 1, aligned to that.
llvm.func internal @dfk_copy_unit(%to: !llvm.ptr, %from: !llvm.ptr, %unit: i64) {
  %l4 = arith.constant 4 : i64
  %l16 = arith.constant 16 : i64
  %by16 = arith.cmpi eq, %unit, %l16 : i64
  %by4 = arith.cmpi eq, %unit, %l4 : i64
  scf.if %by16 {
    %v = llvm.load %from {alignment = 16 : i64} : !llvm.ptr -> vector<4xi32>
    llvm.store %v, %to {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr
  } else {
    scf.if %by4 {
      %v = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> i32
      llvm.store %v, %to {alignment = 4 : i64} : i32, !llvm.ptr
    } else {
      %v = llvm.load %from : !llvm.ptr -> i8
      llvm.store %v, %to : i8, !llvm.ptr
    }
  }
  llvm.return
}

// The bytes [%skip, %skip + %bytes) of a field, as %from has it, to the start of the field that %to has. %unit divides
// everything: 16, 4 or 1.
llvm.func internal @dfk_copy_field(%to: !llvm.ptr, %to_block: i64, %to_part: i64, %to_pitch: i64, %from: !llvm.ptr,
                                   %from_block: i64, %from_part: i64, %from_pitch: i64, %skip: i64, %bytes: i64, %unit: i64) {
  %thread = llvm.call @dfk_thread() : () -> i32
  %threads = llvm.call @dfk_threads() : () -> i32
  %thread64 = arith.extui %thread : i32 to i64
  %threads64 = arith.extui %threads : i32 to i64
  %first = arith.muli %thread64, %unit : i64
  %step = arith.muli %threads64, %unit : i64
  scf.for %i = %first to %bytes step %step : i64 {
    %source = arith.addi %i, %skip : i64
    %source_at = llvm.call @dfk_sliced(%source, %from_block, %from_part, %from_pitch) : (i64, i64, i64, i64) -> i64
    %target_at = llvm.call @dfk_sliced(%i, %to_block, %to_part, %to_pitch) : (i64, i64, i64, i64) -> i64
    %p = llvm.getelementptr %from[%source_at] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %q = llvm.getelementptr %to[%target_at] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    llvm.call @dfk_copy_unit(%q, %p, %unit) : (!llvm.ptr, !llvm.ptr, i64) -> ()
  }
  llvm.return
}

// Where a field, %offset bytes behind the begin of its record, of each of %count operands from %first on lies: addresses to %to.
llvm.func internal @dfk_stack_addresses(%p: !llvm.ptr, %first: i32, %count: i32, %to: !llvm.ptr, %offset: i64) {
  %thread = llvm.call @dfk_thread() : () -> i32
  %threads = llvm.call @dfk_threads() : () -> i32
  scf.for %i = %thread to %count step %threads : i32 {
    %index = arith.addi %first, %i : i32
    %operand = llvm.call @dfk_operand(%p, %index) : (!llvm.ptr, i32) -> !llvm.ptr<1>
    %base = llvm.call @dfk_operand_address(%p, %operand) : (!llvm.ptr, !llvm.ptr<1>) -> !llvm.ptr
    %at = llvm.getelementptr %base[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %place = llvm.getelementptr %to[%i] : (!llvm.ptr, i32) -> !llvm.ptr, i64
    llvm.store %at, %place : !llvm.ptr, !llvm.ptr
  }
  llvm.return
}

// One field of %count operands from %first on, %bytes bytes each, dense and one behind the other to %to. In a record the field
// begins at %offset. Consecutive threads copy consecutive pieces, whichever record they are of.
llvm.func internal @dfk_stack_field(%p: !llvm.ptr, %first: i32, %count: i32, %to: !llvm.ptr, %offset: i64, %block: i64, %part: i64,
                                    %pitch: i64, %bytes: i64, %unit: i64) {
  %thread = llvm.call @dfk_thread() : () -> i32
  %threads = llvm.call @dfk_threads() : () -> i32
  %thread64 = arith.extui %thread : i32 to i64
  %threads64 = arith.extui %threads : i32 to i64
  %count64 = arith.extui %count : i32 to i64
  %pieces = arith.divui %bytes, %unit : i64
  %all = arith.muli %count64, %pieces : i64
  scf.for %i = %thread64 to %all step %threads64 : i64 {
    %record = arith.divui %i, %pieces : i64
    %before = arith.muli %record, %pieces : i64
    %piece = arith.subi %i, %before : i64
    %inside = arith.muli %piece, %unit : i64
    %record32 = arith.trunci %record : i64 to i32
    %index = arith.addi %first, %record32 : i32
    %operand = llvm.call @dfk_operand(%p, %index) : (!llvm.ptr, i32) -> !llvm.ptr<1>
    %base = llvm.call @dfk_operand_address(%p, %operand) : (!llvm.ptr, !llvm.ptr<1>) -> !llvm.ptr
    %spread = llvm.call @dfk_sliced(%inside, %block, %part, %pitch) : (i64, i64, i64, i64) -> i64
    %at = arith.addi %offset, %spread : i64
    %from = llvm.getelementptr %base[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %dense = arith.muli %i, %unit : i64
    %place = llvm.getelementptr %to[%dense] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    llvm.call @dfk_copy_unit(%place, %from, %unit) : (!llvm.ptr, !llvm.ptr, i64) -> ()
  }
  llvm.return
}
