// Records that a warp of its own publishes (device/Publish.mlir): the first of two compute warps leaves the number of the record,
// each writes its part and arrives at one barrier; the publishing warp reads the number, says so at another barrier, and
// publishes. All waits look at a parity alone. Every record is published once, in order, when both parts are written.
//
// Clauses (include/dataflow/Schedule/Schedule.h): V12.
//
// Broken twins: NO_WAIT, a number is left before the last one was read; NO_MEETING, the compute warps do not meet between two
// records; NO_READ, the publishing warp does not say that it has read.

#define WARPS 2
#define RECORDS 4

byte arrived, posted;         // arrivals of the present phase, complete phases
byte taken;                   // complete phases of the other barrier
byte number;                  // what was left
byte written[RECORDS];        // warps that wrote their part
byte met, meetings;
bool published[RECORDS];

proctype Compute(byte warp) {
  byte n;
  for (n : 0 .. RECORDS - 1) {
    // The threads meet in front of every handler.
#ifndef NO_MEETING
    atomic {
      met++;
      if
      :: met == WARPS -> met = 0; meetings++
      :: else
      fi
    }
    (meetings > n);
#endif
    if
    :: warp == 0 ->
#ifndef NO_WAIT
       // Phase n - 1, which the first time counts as complete.
       (taken % 2 != (n + 1) % 2);
#endif
       number = n
    :: else
    fi;
    written[n]++;
    atomic {
      arrived++;
      if
      :: arrived == WARPS -> arrived = 0; posted++
      :: else
      fi
    }
  }
}

active proctype Publish() {
  byte n, mine;
  for (n : 0 .. RECORDS - 1) {
    (posted % 2 != n % 2);
    mine = number;
#ifndef NO_READ
    taken++;
#endif
    assert(mine == n);
    assert(written[mine] == WARPS);
    assert(!published[mine]);
    published[mine] = true
  }
}

init {
  atomic { run Compute(0); run Compute(1) }
}
