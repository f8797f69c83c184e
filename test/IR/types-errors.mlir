// RUN: df-opt %s --split-input-file --verify-diagnostics

// Every constraint of the types, and of the attributes that are no requests, is
// enforced. The splits are named after the constraints.

// record_c1: a record has at least one field
// expected-error@+1 {{record has no fields}}
func.func private @f(!dataflow.record<>)

// -----

// record_c2: field names are not empty
// expected-error@+1 {{record has a field with an empty name}}
func.func private @f(!dataflow.record<"": f32>)

// -----

// record_c2: field names are distinct
// expected-error@+1 {{record has two fields named 'a'}}
func.func private @f(!dataflow.record<a: f32, a: i32>)

// -----

// record_c3: a field is a number or a ranked tensor of numbers
// expected-error@+1 {{field 'a' must be an integer, a float or a ranked tensor of such, got 'index'}}
func.func private @f(!dataflow.record<a: index>)

// -----

// record_c3: a tensor has a rank
// expected-error@+1 {{field 'a' must be an integer, a float or a ranked tensor of such, got 'tensor<*xf32>'}}
func.func private @f(!dataflow.record<a: tensor<*xf32>>)

// -----

// channel: the arity is a known word
// expected-error@+1 {{expected one of one, pieces, tiles, keyed, collected, got 'many'}}
func.func private @f(!dataflow.channel<!dataflow.record<a: f32>, many>)

// -----

// topology_c1: at least one CTA
// expected-error@+1 {{ctas must be 1 to 65536, got 0}}
func.func private @f() attributes {a = #dataflow.topology<ctas = 0>}

// -----

// topology_c1: at most 65536 CTAs
// expected-error@+1 {{ctas must be 1 to 65536, got 65537}}
func.func private @f() attributes {a = #dataflow.topology<ctas = 65537>}

// -----

// topology_c2: cluster sizes are powers of two up to 16
// expected-error@+1 {{cluster_size must be 1, 2, 4, 8 or 16, got 3}}
func.func private @f() attributes {a = #dataflow.topology<ctas = 6, cluster_size = 3>}

// -----

// topology_c2: clusters fill the device
// expected-error@+1 {{cluster_size 4 does not divide ctas, 6}}
func.func private @f() attributes {a = #dataflow.topology<ctas = 6, cluster_size = 4>}

// -----

// topology_c3: only what is there can be reserved
// expected-error@+1 {{reserved_bytes, 131072, exceeds shared_bytes, 1024}}
func.func private @f() attributes {a = #dataflow.topology<ctas = 1, shared_bytes = 1024>}

// -----

// variant_c1: a number of tiles is at least 1
// expected-error@+1 {{variant tiles needs a value of at least 1, got 0}}
func.func private @f() attributes {a = #dataflow.variant<tiles>}

// -----

// variant_c1: other variants have no number
// expected-error@+1 {{variant generic takes no value, got 2}}
func.func private @f() attributes {a = #dataflow.variant<generic = 2>}

// -----

// stage_info_c1: a stage has a name
// expected-error@+1 {{stage_info has an empty name}}
func.func private @f() attributes {a = #dataflow.stage_info<name = "", kind = map>}

// -----

// stage_info_c2: a record has at least one slice
// expected-error@+1 {{stage_info of "s" needs at least 1 slice, got 0}}
func.func private @f() attributes {a = #dataflow.stage_info<name = "s", kind = map, slices = 0>}
