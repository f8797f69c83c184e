// Transport cluster_shared: CTA 0 writes records into two slots of CTA 1, whose memory is the same, and CTA 1 gives the memory back
// by a release. Barriers have one arrival a phase. Copies are asynchronous. A CTA that has left has no memory any more: the exit
// barrier keeps both alive until both are done.
//
// Clauses (include/dataflow/Schedule/Schedule.h): V5, V6, V8, V10, V11, V14, V17.
//
// Broken twins: NO_RELEASE, the sender does not wait for the release; NO_EXIT, no exit barrier; NO_WAIT, the receiver does not wait.

#define ROUNDS 4

byte memory;                 // of CTA 1, where both slots lie
bit slot_phase, ack_phase;   // barrier of CTA 1 for arrivals, of CTA 0 for releases
bit armed, arrived;
bit gone[2];
byte at_exit;

inline complete() {
  if
  :: armed && arrived -> armed = 0; arrived = 0; slot_phase = 1 - slot_phase
  :: else
  fi
}

proctype Copy(byte value) {
  assert(!gone[0] && !gone[1]); // it reads the one's memory and writes the other's
  memory = value;
  d_step { arrived = 1; complete() }
}

inline leave(me) {
#ifndef NO_EXIT
  at_exit++;
  (at_exit == 2);
#endif
  gone[me] = 1
}

active proctype Sender() {
  byte n;
  for (n : 0 .. ROUNDS - 1) {
#ifndef NO_RELEASE
    (n == 0 || ack_phase != ((n - 1) % 2)); // release number n - 1 is phase n - 1
#endif
    assert(!gone[1]);
    d_step { armed = 1; complete() } // remote arrive.expect_tx
    run Copy(n + 1);
  }
  leave(0)
}

active proctype Receiver() {
  byte n;
  for (n : 0 .. ROUNDS - 1) {
#ifndef NO_WAIT
    (slot_phase != (n % 2));
#endif
    assert(memory == n + 1);
    if
    :: n < ROUNDS - 1 -> assert(!gone[0]); ack_phase = 1 - ack_phase // remote arrive
    :: else
    fi
  }
  leave(1)
}
