// A ticket list over three launches: CTA c begins with ticket c, every further ticket is the number of CTAs plus what an atomic add
// gave. Launch e uses counter e % 2, and its last starter clears the other one for the next launch. Every draw of the list is made
// exactly once a launch, and draw 1 waits for draw 0 by a flag with the epoch.
//
// Clauses (include/dataflow/Schedule/Schedule.h): V2, V7, V15.
//
// Broken twins: ONE_COUNTER, the same counter for all launches, cleared by the last starter; NO_CLEAR, nobody clears.

#define CTAS 2
#define DRAWS 4
#define LAUNCHES 3

byte epoch, started, counter[2], ended;
byte made[DRAWS];
byte flag;

#ifdef ONE_COUNTER
#define MINE 0
#define OTHER 0
#else
#define MINE (mine % 2)
#define OTHER (1 - mine % 2)
#endif

proctype Cta(byte me) {
  byte mine, seen, ticket;
  mine = epoch + 1;
  d_step { seen = started; started = started + 1 }
  if
  :: seen == CTAS - 1 ->
     started = 0; epoch = mine;
#ifndef NO_CLEAR
     counter[OTHER] = 0;
#endif
  :: else
  fi
  ticket = me;
  do
  :: ticket < DRAWS ->
     if
     :: ticket == 0 -> flag = mine
     :: ticket == 1 -> (flag == mine)
     :: else
     fi
     made[ticket]++;
     d_step { ticket = CTAS + counter[MINE]; counter[MINE] = counter[MINE] + 1 }
  :: else -> break
  od
  ended++
}

init {
  byte n, t;
  for (n : 1 .. LAUNCHES) {
    ended = 0;
    atomic { run Cta(0); run Cta(1) }
    (ended == CTAS);
    for (t : 0 .. DRAWS - 1) { assert(made[t] == n) }
  }
}
