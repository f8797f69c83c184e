// RUN: df-opt %s --split-input-file --verify-diagnostics

// Every constraint of the ops of the schedule group is enforced. The splits are
// named after the constraints.

// schedule_c1: a schedule is its program's
dataflow.program @p() {
  // expected-error@+1 {{'dataflow.schedule' op is of program 'q', but lies in 'p'}}
  dataflow.schedule @s of @q on #dataflow.topology<ctas = 1> static solver "hand" {
  }
}

// -----

// schedule_c1: a schedule without a program says what the stages are
// expected-error@+1 {{'dataflow.schedule' op outside a program needs 'fingerprint' and 'stages'}}
dataflow.schedule @s of @p on #dataflow.topology<ctas = 1> static solver "hand" attributes {fingerprint = 0 : i64} {
}

// -----

// schedule_c2: a cta has one queue
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  // expected-note@+1 {{the first is here}}
  dataflow.queue cta 0 {
  }
  // expected-error@+1 {{'dataflow.queue' op is the second of cta 0}}
  dataflow.queue cta 0 {
  }
}

// -----

// schedule_c2: a queue is of a cta that there is
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  // expected-error@+1 {{'dataflow.queue' op cta must be below 4, got 4}}
  dataflow.queue cta 4 {
  }
}

// -----

// schedule_c3: a static schedule has no list
// expected-note@+1 {{the schedule is here}}
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  // expected-error@+1 {{'dataflow.queue' op is a ticket list, but the schedule is static}}
  dataflow.queue ticket {
  }
}

// -----

// schedule_c3: a ticket schedule has no queues of ctas
// expected-note@+1 {{the schedule is here}}
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> ticket solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  // expected-error@+1 {{'dataflow.queue' op has a cta, but the schedule has a ticket list}}
  dataflow.queue cta 0 {
  }
}

// -----

// schedule_c3: a ticket schedule has one list
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> ticket solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  // expected-note@+1 {{the first is here}}
  dataflow.queue ticket {
  }
  // expected-error@+1 {{'dataflow.queue' op is the second of a ticket schedule, which has one}}
  dataflow.queue ticket {
  }
}

// -----

// schedule_c4: all have an id or none
// expected-error@+1 {{'dataflow.schedule' op has 2 instructions, but 1 of them have an id}}
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.queue cta 0 {
    dataflow.instruction "a" task 0
    dataflow.instruction "a" task 1 id 0
  }
}

// -----

// schedule_c4: ids are told apart
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.queue cta 0 {
    dataflow.instruction "a" task 0 id 0
    // expected-error@+1 {{'dataflow.instruction' op has id 0, as another instruction has}}
    dataflow.instruction "a" task 1 id 0
  }
}

// -----

// schedule_c4: ids are below the number
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.queue cta 0 {
    // expected-error@+1 {{'dataflow.instruction' op id must be below the number of instructions, 1, got 1}}
    dataflow.instruction "a" task 0 id 1
  }
}

// -----

// schedule_c4: ids of transfers are told apart
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.slot @s0 of "a"
  dataflow.queue cta 0 {
    dataflow.instruction "a" task 0
    dataflow.transfer @s0 to [@s0] id 1
    // expected-error@+1 {{'dataflow.transfer' op has id 1, as another transfer has}}
    dataflow.transfer @s0 to [@s0] id 1
  }
}

// -----

// schedule_c4: ids of releases are told apart
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.slot @s0 of "a"
  dataflow.queue cta 0 {
    dataflow.instruction "a" task 0
    dataflow.release @s0 to 0 id 1
    // expected-error@+1 {{'dataflow.release' op has id 1, as another release has}}
    dataflow.release @s0 to 0 id 1
  }
}

// -----

// schedule_c5: inputs exist
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.slot @s0 of "a"
  dataflow.queue cta 0 {
    // expected-error@+1 {{'dataflow.instruction' op names the unknown slot @s1}}
    dataflow.instruction "a" task 0 ins [@s1]
  }
}

// -----

// schedule_c5: outputs exist
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.slot @s0 of "a"
  dataflow.queue cta 0 {
    // expected-error@+1 {{'dataflow.instruction' op names the unknown slot @s1}}
    dataflow.instruction "a" task 0 outs [@s0, @s1]
  }
}

// -----

// schedule_c5: a source exists
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.slot @s0 of "a"
  dataflow.queue cta 0 {
    dataflow.instruction "a" task 0
    // expected-error@+1 {{'dataflow.transfer' op names the unknown slot @s1}}
    dataflow.transfer @s1 to [@s0]
  }
}

// -----

// schedule_c5: destinations exist
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.slot @s0 of "a"
  dataflow.queue cta 0 {
    dataflow.instruction "a" task 0
    // expected-error@+1 {{'dataflow.transfer' op names the unknown slot @s1}}
    dataflow.transfer @s0 to [@s1]
  }
}

// -----

// schedule_c5: what is released exists
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.slot @s0 of "a"
  dataflow.queue cta 0 {
    dataflow.instruction "a" task 0
    // expected-error@+1 {{'dataflow.release' op names the unknown slot @s1}}
    dataflow.release @s1 to 0
  }
}

// -----

// schedule_c6: a slot is of a stage
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  // expected-error@+1 {{'dataflow.slot' op names the unknown stage "b"}}
  dataflow.slot @s0 of "b"
}

// -----

// schedule_c6: a slot is of a stage with records
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  // expected-error@+1 {{'dataflow.slot' op stage "z" is a finalize, which has no record}}
  dataflow.slot @s0 of "z"
}

// -----

// schedule_c6: an instruction is of a stage
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.queue cta 0 {
    // expected-error@+1 {{'dataflow.instruction' op names the unknown stage "b"}}
    dataflow.instruction "b" task 0
  }
}

// -----

// schedule_c6: an instruction calls a handler
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.queue cta 0 {
    // expected-error@+1 {{'dataflow.instruction' op stage "r" is a reshard, which has no handler}}
    dataflow.instruction "r" task 0
  }
}

// -----

// schedule_c7: a release is to an instruction
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.slot @s0 of "a"
  dataflow.queue cta 0 {
    dataflow.instruction "a" task 0
    // expected-error@+1 {{'dataflow.release' op is to instruction 1, but the schedule has 1}}
    dataflow.release @s0 to 1
  }
}

// -----

// schedule_c8: a slot's barrier exists
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  // expected-error@+1 {{'dataflow.slot' op names barrier 0, but the schedule has 0}}
  dataflow.slot @s0 of "a" barrier 0
}

// -----

// schedule_c8: a release's barrier exists
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.barrier cta 0 arrivals 1
  dataflow.slot @s0 of "a"
  dataflow.queue cta 0 {
    dataflow.instruction "a" task 0
    // expected-error@+1 {{'dataflow.release' op names barrier 1, but the schedule has 1}}
    dataflow.release @s0 to 0 barrier 1
  }
}

// -----

// schedule_c8: a barrier is of a cta that there is
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  // expected-error@+1 {{'dataflow.barrier' op cta must be below 4, got 7}}
  dataflow.barrier cta 7 arrivals 1
}

// -----

// schedule_c8: flags are counted
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" flags 2 attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  // expected-error@+1 {{'dataflow.slot' op has flag 2, but the schedule has 2}}
  dataflow.slot @s0 of "a" in global flag 2
}

// -----

// schedule_c9: a slot's cta is there
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  // expected-error@+1 {{'dataflow.slot' op cta must be below 4, got 4}}
  dataflow.slot @s0 of "a" cta 4
}

// -----

// schedule_c10: only a list is drawn from
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.queue cta 0 {
    // expected-error@+1 {{'dataflow.instruction' op begins a draw, but is in the queue of a cta}}
    dataflow.instruction "a" task 0 draw
  }
}

// -----

// schedule_c10: a list begins with a draw
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> ticket solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.queue ticket {
    // expected-error@+1 {{'dataflow.instruction' op is the first of a ticket list and must begin a draw}}
    dataflow.instruction "a" task 0
  }
}

// -----

// slot_c1: slices are not empty
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  // expected-error@+1 {{'dataflow.slot' op slices must be [begin, end) with begin below end, got [2, 2]}}
  dataflow.slot @s0 of "a" slices [2, 2]
}

// -----

// slot_c2: an offset is in a space
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  // expected-error@+1 {{'dataflow.slot' op has offset 16, but no space}}
  dataflow.slot @s0 of "a" offset 16
}

// -----

// slot_c3: a phase is of a barrier
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  // expected-error@+1 {{'dataflow.slot' op has phase 1, but no barrier}}
  dataflow.slot @s0 of "a" phase 1
}

// -----

// slot_c4: barriers tell of shared memory
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.barrier cta 0 arrivals 1
  // expected-error@+1 {{'dataflow.slot' op is in global memory, but has a barrier}}
  dataflow.slot @s0 of "a" in global barrier 0
}

// -----

// slot_c4: flags tell of global memory
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" flags 1 attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  // expected-error@+1 {{'dataflow.slot' op is in shared memory, but has a flag}}
  dataflow.slot @s0 of "a" in shared flag 0
}

// -----

// barrier_c1: somebody arrives
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  // expected-error@+1 {{'dataflow.barrier' op attribute 'arrivals' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive}}
  dataflow.barrier cta 0 arrivals 0
}

// -----

// queue_c1: only what a CTA does is in a queue
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4> static solver "hand" attributes {fingerprint = 0 : i64, stages = []} {
  // expected-error@+1 {{'dataflow.queue' op holds instructions, transfers and releases only}}
  dataflow.queue cta 0 {
    // expected-note@+1 {{but this op is in it}}
    %n = arith.constant 1 : index
  }
}

// -----

// queue_c2: a transfer is issued by an instruction
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.slot @s0 of "a"
  dataflow.queue cta 0 {
    // expected-error@+1 {{'dataflow.transfer' op does not follow an instruction}}
    dataflow.transfer @s0 to [@s0]
  }
}

// -----

// queue_c2: a release is sent by an instruction
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.slot @s0 of "a"
  dataflow.queue cta 0 {
    // expected-error@+1 {{'dataflow.release' op does not follow an instruction}}
    dataflow.release @s0 to 0
    dataflow.instruction "a" task 0
  }
}

// -----

// instruction_c1: tiles do not run backwards
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.slot @s0 of "a"
  dataflow.queue cta 0 {
    // expected-error@+1 {{'dataflow.instruction' op tiles must be [begin, end) with begin at most end, got [3, 2]}}
    dataflow.instruction "a" task 0 tiles [3, 2]
  }
}

// -----

// instruction_c1: slices are not empty
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.slot @s0 of "a"
  dataflow.queue cta 0 {
    // expected-error@+1 {{'dataflow.instruction' op slices must be [begin, end) with begin below end, got [3, 2]}}
    dataflow.instruction "a" task 0 slices [3, 2]
  }
}

// -----

// instruction_c2: each input has a row
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.slot @s0 of "a"
  dataflow.queue cta 0 {
    // expected-error@+1 {{'dataflow.instruction' op has 1 inputs, but 2 rows}}
    "dataflow.instruction"() <{stage = "a", task = 0 : i64, ins = [@s0], outs = [], rows = array<i64: 1, 2>}> : () -> ()
  }
}

// -----

// instruction_c2: each input is waited for or not
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.slot @s0 of "a"
  dataflow.queue cta 0 {
    // expected-error@+1 {{'dataflow.instruction' op has 1 inputs, but 0 wait marks}}
    "dataflow.instruction"() <{stage = "a", task = 0 : i64, ins = [@s0], outs = [], waits = array<i1>}> : () -> ()
  }
}

// -----

// instruction_c2: rows are numbered from 0
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.slot @s0 of "a"
  dataflow.queue cta 0 {
    // expected-error@+1 {{'dataflow.instruction' op row must be -1 or an unsigned 32-bit number, got -2}}
    dataflow.instruction "a" task 0 ins [@s0 row -2]
  }
}

// -----

// instruction_c3: outputs are slots
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.slot @s0 of "a"
  dataflow.queue cta 0 {
    // expected-error@+1 {{'dataflow.instruction' op attribute 'outs' failed to satisfy constraint: flat symbol ref array attribute}}
    dataflow.instruction "a" task 0 outs [@s0, 1]
  }
}

// -----

// instruction_c4: at most four coordinates
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.slot @s0 of "a"
  dataflow.queue cta 0 {
    // expected-error@+1 {{'dataflow.instruction' op has 5 coordinates, at most 4 are supported}}
    dataflow.instruction "a" task 0 at [1, 2, 3, 4, 5]
  }
}

// -----

// instruction_c5: a range has two ends
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.slot @s0 of "a"
  dataflow.queue cta 0 {
    // expected-error@+1 {{'dataflow.instruction' op range must be [begin, end], got 1 numbers}}
    dataflow.instruction "a" task 0 range [1]
  }
}

// -----

// transfer_c1: a transfer goes somewhere
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.slot @s0 of "a"
  dataflow.queue cta 0 {
    dataflow.instruction "a" task 0
    // expected-error@+1 {{'dataflow.transfer' op has no destination}}
    dataflow.transfer @s0 to []
  }
}

// -----

// transfer_c1: only a multicast goes to several
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.slot @s0 of "a"
  dataflow.queue cta 0 {
    dataflow.instruction "a" task 0
    // expected-error@+1 {{'dataflow.transfer' op via #dataflow.global has one destination, got 2}}
    dataflow.transfer @s0 to [@s0, @s0] via #dataflow.global
  }
}

// -----

// release_c1: a phase is of a barrier
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4, cluster_size = 2> static solver "hand" attributes {fingerprint = 0 : i64, stages = [
    #dataflow.stage_info<name = "a", kind = map>, #dataflow.stage_info<name = "r", kind = reshard>,
    #dataflow.stage_info<name = "z", kind = finalize>]} {
  dataflow.slot @s0 of "a"
  dataflow.queue cta 0 {
    dataflow.instruction "a" task 0
    // expected-error@+1 {{'dataflow.release' op has phase 1, but no barrier}}
    dataflow.release @s0 to 0 phase 1
  }
}

// -----

// schedule_slots: a slot has one name
dataflow.schedule @s of @p on #dataflow.topology<ctas = 4> static solver "hand" attributes {fingerprint = 0 : i64, stages = [#dataflow.stage_info<name = "a", kind = map>]} {
  // expected-note@+1 {{see existing symbol definition here}}
  dataflow.slot @s0 of "a"
  // expected-error@+1 {{redefinition of symbol named 's0'}}
  dataflow.slot @s0 of "a"
}
