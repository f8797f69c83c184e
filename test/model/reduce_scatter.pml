// Reduce-scatter: three CTAs hold a part of one task. Each publishes its part slice by slice in global slots, then finalises one
// slice from all three parts, in fixed order. Over two launches with epochs in the flags. Every CTA publishes before it waits, so
// the circle of waits is no cycle.
//
// Clauses (include/dataflow/Schedule/Schedule.h): V4, V6, V7, V13, V15.
//
// Broken twins: WAIT_FIRST, a CTA waits for the others' parts before it publishes its own; OWN_ONLY, it waits for one part only.

#define P 3
#define LAUNCHES 2

byte part[P];  // the part of each CTA (all its slices)
byte flag[P];
byte result[P]; // of slice c
byte ended;

inline publish(me, launch) { part[me] = launch * 10 + me; flag[me] = launch }
inline gather(me, launch) {
#ifdef OWN_ONLY
  (flag[me] == launch);
#else
  (flag[0] == launch); (flag[1] == launch); (flag[2] == launch);
#endif
  result[me] = part[0] + part[1] + part[2];
  assert(result[me] == 3 * 10 * launch + 3)
}

proctype Cta(byte me; byte launch) {
#ifdef WAIT_FIRST
  gather(me, launch);
  publish(me, launch);
#else
  publish(me, launch);
  gather(me, launch);
#endif
  ended++
}

init {
  byte n;
  for (n : 1 .. LAUNCHES) {
    ended = 0;
    atomic { run Cta(0, n); run Cta(1, n); run Cta(2, n) }
    (ended == P);
  }
}
