// RUN: df-opt %s --verify-roundtrip | df-opt | FileCheck %s
// RUN: df-opt %s -mlir-print-op-generic | df-opt | FileCheck %s

// Records and channels of every arity, and the attributes that are no requests,
// are printed as they are written.

// CHECK-LABEL: @records
// CHECK-SAME: !dataflow.record<sum: f32>
// CHECK-SAME: !dataflow.record<max: tensor<?xf32>, count: i32, acc: tensor<4x?xbf16>>
// CHECK-SAME: !dataflow.record<"a b": f8E4M3FN>
func.func private @records(!dataflow.record<sum: f32>,
    !dataflow.record<max: tensor<?xf32>, count: i32, acc: tensor<4x?xbf16>>,
    !dataflow.record<"a b": f8E4M3FN>)

!r = !dataflow.record<x: f16>

// CHECK-LABEL: @channels
// CHECK-SAME: !dataflow.channel<!dataflow.record<x: f16>>,
// CHECK-SAME: !dataflow.channel<!dataflow.record<x: f16>>,
// CHECK-SAME: !dataflow.channel<!dataflow.record<x: f16>, pieces>
// CHECK-SAME: !dataflow.channel<!dataflow.record<x: f16>, tiles>
// CHECK-SAME: !dataflow.channel<!dataflow.record<x: f16>, keyed>
// CHECK-SAME: !dataflow.channel<!dataflow.record<x: f16>, collected>
func.func private @channels(!dataflow.channel<!r>, !dataflow.channel<!r, one>,
    !dataflow.channel<!r, pieces>, !dataflow.channel<!r, tiles>,
    !dataflow.channel<!r, keyed>, !dataflow.channel<!r, collected>)

// The record's mnemonic may be left out inside a channel.
// CHECK-LABEL: @short
// CHECK-SAME: !dataflow.channel<!dataflow.record<x: f16>, tiles>
func.func private @short(!dataflow.channel<<x: f16>, tiles>)

// CHECK-LABEL: @attributes
// CHECK-SAME: a = #dataflow.topology<ctas = 132>
// CHECK-SAME: b = #dataflow.topology<ctas = 4, cluster_size = 2, shared_bytes = 4096, reserved_bytes = 0>
// CHECK-SAME: c = [#dataflow.variant<generic>, #dataflow.variant<tiles = 2>, #dataflow.variant<exact = 100>, #dataflow.variant<sliced>]
// CHECK-SAME: d = #dataflow.stage_info<name = "s", kind = reduce>
// CHECK-SAME: e = #dataflow.stage_info<name = "s", kind = map, head_bytes = 16, slice_bytes = 32, slices = 4>
// CHECK-SAME: f = [#dataflow.local, #dataflow.cluster_shared, #dataflow.global, #dataflow.multicast]
func.func private @attributes() attributes {
  a = #dataflow.topology<ctas = 132, shared_bytes = 232448>,
  b = #dataflow.topology<cluster_size = 2, ctas = 4, shared_bytes = 4096, reserved_bytes = 0>,
  c = [#dataflow.variant<generic>, #dataflow.variant<tiles = 2>, #dataflow.variant<exact = 100>, #dataflow.variant<sliced>],
  d = #dataflow.stage_info<name = "s", kind = reduce>,
  e = #dataflow.stage_info<name = "s", kind = map, head_bytes = 16, slice_bytes = 32, slices = 4>,
  f = [#dataflow.local, #dataflow.cluster_shared, #dataflow.global, #dataflow.multicast]
}
