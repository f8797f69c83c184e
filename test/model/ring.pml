// The ring of one stream in a CTA: a load warp fills stages ahead of the compute warps, across instructions.
//
// A stage has two barriers. `full` completes when the load warp has armed it and the bytes have arrived; `empty` when every compute
// warp has given the stage back. Nobody sees more of a barrier than the parity of its phase, so a waiter that is two phases late
// would be fooled; that this cannot happen is what the model shows. Instructions take 0 to 2 tiles, counted alike by both roles.
//
// Clauses (include/dataflow/Schedule/Schedule.h): V11.
//
// Broken twins: EARLY_GIVE, a warp gives a stage back before it has read it; NO_EMPTY, the load warp does not wait for the stage;
// RESTART_PARITY, the parities start again with each instruction.

#define DEPTH 2
#define WARPS 2
#define TILES 5

byte stage[DEPTH];                 // number of the tile that lies there
bit full_phase[DEPTH], empty_phase[DEPTH];
byte empty_pending[DEPTH];         // arrivals missing in the present phase
bit armed[DEPTH], arrived[DEPTH];  // of the present phase of `full`
byte instruction[4];               // tiles of each instruction

inline complete_full(s) {
  if
  :: armed[s] && arrived[s] -> armed[s] = 0; arrived[s] = 0; full_phase[s] = 1 - full_phase[s]
  :: else
  fi
}

proctype Copy(byte s; byte tile) { // the copy engine
  stage[s] = tile;
  d_step { arrived[s] = 1; complete_full(s) }
}

proctype Load() {
  byte i, k, counter;
  for (i : 0 .. 3) {
    for (k : 1 .. instruction[i]) {
#ifndef NO_EMPTY
      // The first pass over the ring meets barriers that never completed a phase: parity 1 is then taken as complete.
      (empty_phase[counter % DEPTH] != (1 - ((counter / DEPTH) % 2)) || counter < DEPTH);
#endif
      d_step { armed[counter % DEPTH] = 1; complete_full(counter % DEPTH) }
      run Copy(counter % DEPTH, counter);
      counter++;
    }
#ifdef RESTART_PARITY
    counter = 0;
#endif
  }
}

proctype Compute() {
  byte i, k, counter, seen;
  for (i : 0 .. 3) {
    for (k : 1 .. instruction[i]) {
      (full_phase[counter % DEPTH] != ((counter / DEPTH) % 2));
#ifndef EARLY_GIVE
      seen = stage[counter % DEPTH];
      assert(seen == counter);
#endif
      d_step {
        empty_pending[counter % DEPTH]--;
        if
        :: empty_pending[counter % DEPTH] == 0 ->
           empty_pending[counter % DEPTH] = WARPS; empty_phase[counter % DEPTH] = 1 - empty_phase[counter % DEPTH]
        :: else
        fi
      }
#ifdef EARLY_GIVE
      seen = stage[counter % DEPTH];
      assert(seen == counter);
#endif
      counter++;
    }
  }
}

init {
  byte i, n, left;
  left = TILES;
  for (i : 0 .. 3) {
    select (n : 0 .. 2);
    if
    :: n > left -> n = left
    :: else
    fi
    instruction[i] = n;
    left = left - n;
  }
  for (i : 0 .. DEPTH - 1) { empty_pending[i] = WARPS }
  atomic { run Load(); for (i : 1 .. WARPS) { run Compute() } }
}
