// Data as its own flag: a vector in a global slot is there as soon as its word is not the sentinel; its only reader writes the
// sentinel back. Over three launches without any reset from outside.
//
// Clauses (include/dataflow/Schedule/Schedule.h): V5, V6, V8.
//
// Broken twins: NO_RESTORE, the reader does not write the sentinel back; TWO_READERS, two CTAs read the same vector;
// SENTINEL_DATA, the data may look like the sentinel.

#define SENTINEL 255
#define LAUNCHES 3

byte word = SENTINEL;
byte ended;

inline read_word(launch) {
  (word != SENTINEL);
  assert(word == launch);
#ifndef NO_RESTORE
  word = SENTINEL;
#endif
}

proctype Writer(byte launch) {
#ifdef SENTINEL_DATA
  if
  :: word = launch
  :: word = SENTINEL
  fi
#else
  word = launch;
#endif
  ended++
}

proctype Reader(byte launch) {
  read_word(launch);
  ended++
}

init {
  byte n;
  for (n : 1 .. LAUNCHES) {
    ended = 0;
    atomic {
      run Reader(n); run Writer(n);
#ifdef TWO_READERS
      run Reader(n);
#endif
    }
#ifdef TWO_READERS
    (ended == 3);
#else
    (ended == 2);
#endif
  }
}
