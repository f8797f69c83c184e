// Transport global: a record in a global slot and a flag that holds the number of the launch, the epoch, over three launches that
// nobody resets anything between. The epoch lives in the workspace: a CTA reads it, then counts itself as started; the last to start
// writes the new epoch for the next launch. CTAs start in any order, and a late one may start when others have ended.
//
// Clauses (include/dataflow/Schedule/Schedule.h): V6, V12, V13.
//
// Broken twins: READ_LATE, a CTA counts itself before it reads the epoch; ANY_FLAG, a reader takes any flag that is not 0;
// FLAG_FIRST, the flag is written before the record.

#define CTAS 2
#define LAUNCHES 3

byte epoch, started;
byte record, flag;
byte ended;

proctype Cta(byte me; byte launch) {
  byte mine, seen;
#ifdef READ_LATE
  started++;
  if
  :: started == CTAS -> started = 0; epoch = epoch + 1
  :: else
  fi
  mine = epoch + 1;
#else
  mine = epoch + 1;
  d_step { seen = started; started = started + 1 } // atomic add
  if
  :: seen == CTAS - 1 -> started = 0; epoch = mine
  :: else
  fi
#endif
  assert(mine == launch);
  if
  :: me == 0 ->
#ifdef FLAG_FIRST
     flag = mine; record = 10 + launch;
#else
     record = 10 + launch; flag = mine;
#endif
  :: else ->
#ifdef ANY_FLAG
     (flag != 0);
#else
     (flag == mine);
#endif
     assert(record == 10 + launch)
  fi
  ended++
}

init {
  byte n;
  for (n : 1 .. LAUNCHES) {
    ended = 0;
    atomic { run Cta(0, n); run Cta(1, n) }
    (ended == CTAS); // a stream runs one launch after the other
  }
}
