// RUN: df-opt %s --dataflow-schedule-program --split-input-file --verify-diagnostics
// The constants of the cost model are those of the planner, and numbers.

// expected-error@+1 {{member "speed" of 'dataflow.costs' is not known}}
dataflow.program @empty() attributes {dataflow.topology = #dataflow.topology<ctas = 2>, dataflow.costs = {speed = 1.0 : f64}} {
}

// -----

// expected-error@+1 {{member "bandwidth" of 'dataflow.costs' must be an f64, got 1 : i64}}
dataflow.program @empty() attributes {dataflow.topology = #dataflow.topology<ctas = 2>, dataflow.costs = {bandwidth = 1 : i64}} {
}

// -----

// expected-error@+1 {{cost bandwidth is 0}}
dataflow.program @empty() attributes {dataflow.topology = #dataflow.topology<ctas = 2>, dataflow.costs = {bandwidth = 0.0 : f64}} {
}

// -----

// expected-error@+1 {{member "readRates" of 'dataflow.costs' must be array<f64: ...> of pairs, got array<f64: 1.000000e+00>}}
dataflow.program @empty() attributes {dataflow.topology = #dataflow.topology<ctas = 2>, dataflow.costs = {readRates = array<f64: 1.0>}} {
}

// -----

// expected-error@+1 {{cost readRates has 1}}
dataflow.program @empty() attributes {dataflow.topology = #dataflow.topology<ctas = 2>, dataflow.costs = {readRates = array<f64: 2.0, 9.0, 1.0, 9.0>}} {
}

// -----

// expected-error@+1 {{'dataflow.costs' must be a dictionary}}
dataflow.program @empty() attributes {dataflow.topology = #dataflow.topology<ctas = 2>, dataflow.costs = 1.0 : f64} {
}
