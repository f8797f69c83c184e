// RUN: df-opt %s --split-input-file --verify-diagnostics --dataflow-specialize-program
// Extents that do not fit name the argument and the dimension.

// expected-error @+1 {{attribute 'dataflow.extents' must be a dictionary}}
dataflow.program @extents(%x: tensor<?x8xf32>) params {element = f32, n = 4 : index}
    attributes {dataflow.extents = 5} {
}

// -----

// expected-error @+1 {{'dataflow.extents' names 'z', which is no argument of the program}}
dataflow.program @extents(%x: tensor<?x8xf32>) params {element = f32, n = 4 : index}
    attributes {dataflow.extents = {z = [1]}} {
}

// -----

// expected-error @+1 {{'dataflow.extents' of argument 'x' must be a list of 2 extents, got [1]}}
dataflow.program @extents(%x: tensor<?x8xf32>) params {element = f32, n = 4 : index}
    attributes {dataflow.extents = {x = [1]}} {
}

// -----

// expected-error @+1 {{dimension 1 of argument 'x' is to be an index parameter, a number or -1, but is "element"}}
dataflow.program @extents(%x: tensor<?x8xf32>) params {element = f32, n = 4 : index}
    attributes {dataflow.extents = {x = [-1, "element"]}} {
}

// -----

// expected-error @+1 {{dimension 0 of argument 'x' is to be an index parameter, a number or -1, but is -2}}
dataflow.program @extents(%x: tensor<?x8xf32>) params {element = f32, n = 4 : index}
    attributes {dataflow.extents = {x = [-2, 1]}} {
}

// -----

// expected-error @+1 {{dimension 1 of argument 'x' is to be 4, but its type says 8}}
dataflow.program @extents(%x: tensor<?x8xf32>) params {element = f32, n = 4 : index}
    attributes {dataflow.extents = {x = [-1, "n"]}} {
}
