// Transport multicast: one CTA of a cluster sends a record to all three (itself included) at one offset. The issuer arms every
// destination's barrier by a remote arrive; a destination is written only when it has released the slot.
//
// Clauses (include/dataflow/Schedule/Schedule.h): V8, V10, V11, V17.
//
// Broken twins: ONE_ARMED, only the issuer's own barrier is armed by it (the others would wait for ever or miss bytes);
// ONE_READY, only the first receiver's release is waited for.

#define CTAS 3
#define ROUNDS 3

byte memory[CTAS];
bit phase[CTAS], armed[CTAS], arrived[CTAS];
byte released[CTAS]; // how many lifetimes each receiver has released

inline complete(c) {
  if
  :: armed[c] && arrived[c] -> armed[c] = 0; arrived[c] = 0; phase[c] = 1 - phase[c]
  :: else
  fi
}

proctype Deliver(byte c; byte value) {
  memory[c] = value;
  d_step { arrived[c] = 1; complete(c) }
}

proctype Issue() {
  byte n, c;
  for (n : 0 .. ROUNDS - 1) {
#ifdef ONE_READY
    (released[0] >= n);
#else
    (released[0] >= n && released[1] >= n && released[2] >= n);
#endif
    for (c : 0 .. CTAS - 1) {
#ifdef ONE_ARMED
      if
      :: c == 0 -> d_step { armed[c] = 1; complete(c) }
      :: else
      fi
#else
      d_step { armed[c] = 1; complete(c) }
#endif
    }
    atomic { run Deliver(0, n + 1); run Deliver(1, n + 1); run Deliver(2, n + 1) }
  }
}

proctype Receive(byte me) {
  byte n;
  for (n : 0 .. ROUNDS - 1) {
    (phase[me] != (n % 2));
    assert(memory[me] == n + 1);
    released[me]++;
  }
}

init { atomic { run Issue(); run Receive(0); run Receive(1); run Receive(2) } }
