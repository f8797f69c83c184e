// RUN: not df-translate --dataflow-to-plan %s 2>&1 | FileCheck %s --check-prefix=SEVERAL
// RUN: not df-translate --dataflow-to-plan --schedule=third %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: df-translate --dataflow-to-plan --schedule=second %s | df-translate --plan-to-dataflow | FileCheck %s --check-prefix=SECOND
// RUN: not df-translate --plan-to-dataflow %s 2>&1 | FileCheck %s --check-prefix=FOREIGN
// RUN: echo "module {}" | not df-translate --dataflow-to-plan 2>&1 | FileCheck %s --check-prefix=NONE
// Which schedule is packed, and files that are no plans.

// SEVERAL: error: has 2 schedules, name one
// SEVERAL: note: schedule @first of @p
// SEVERAL: note: schedule @second of @p
// UNKNOWN: error: has no dataflow.schedule @third
// SECOND: dataflow.schedule @plan of @p on #dataflow.topology<ctas = 2>
// SECOND: dataflow.instruction "store" task 1
// FOREIGN: error: {{.*}}magic
// NONE: error: has no dataflow.schedule; run dataflow-plan first

dataflow.schedule @first of @p on #dataflow.topology<ctas = 1> static solver "hand"
    attributes {fingerprint = 1 : i64, stages = [#dataflow.stage_info<name = "store", kind = finalize>]} {
  dataflow.queue cta 0 {
    dataflow.instruction "store" task 0
  }
}
dataflow.schedule @second of @p on #dataflow.topology<ctas = 2> static solver "hand"
    attributes {fingerprint = 1 : i64, stages = [#dataflow.stage_info<name = "store", kind = finalize>]} {
  dataflow.queue cta 1 {
    dataflow.instruction "store" task 1 at [1]
  }
}
