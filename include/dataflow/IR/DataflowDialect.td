//===- DataflowDialect.td ----------------------------------*- tablegen -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect itself, the base classes of its types, attributes and ops, and
// the enums that they share with the planner (same names, same numbers).
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_IR_DATAFLOWDIALECT_TD
#define DATAFLOW_IR_DATAFLOWDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Dataflow_Dialect : Dialect {
  let name = "dataflow";
  let cppNamespace = "::mlir::df";
  let summary = "Operators whose amount of work is known only when they run";
  let description = [{
    The *program group* says what is computed: task domains, ranges whose length
    is part of the input, and an acyclic graph of stages that exchange typed
    records over channels. The code of a stage is a handler with a body of
    ordinary `linalg`, `tensor`, `arith`, `math` and `scf` ops.

    The *schedule group* says where and when: one op for every record of a plan.
    A solver makes it from a program and one batch; it can also be written by
    hand.

    The *device group* says how one CTA works: which warps do which part of a
    handler, and the rings in shared memory between them.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

class Dataflow_Type<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<Dataflow_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

class Dataflow_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Dataflow_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

class Dataflow_Op<string opMnemonic, list<Trait> traits = []>
    : Op<Dataflow_Dialect, opMnemonic, traits>;

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

class Dataflow_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::df";
  let genSpecializedAttr = 0;
}

def Dataflow_Arity : Dataflow_Enum<"Arity", "records of a stage for one task", [
  I32EnumAttrCase<"one", 0>,
  I32EnumAttrCase<"pieces", 1>,
  I32EnumAttrCase<"tiles", 2>,
  I32EnumAttrCase<"keyed", 3>,
  I32EnumAttrCase<"collected", 4>
]>;

def Dataflow_StageKind : Dataflow_Enum<"StageKind", "kind of a stage", [
  I32EnumAttrCase<"map", 0>,
  I32EnumAttrCase<"reduce", 1>,
  I32EnumAttrCase<"reshard", 2>,
  I32EnumAttrCase<"finalize", 3>
]>;

def Dataflow_ReshardKind
    : Dataflow_Enum<"ReshardKind", "what a reshard does to the records", [
  I32EnumAttrCase<"move", 0>,
  I32EnumAttrCase<"collect", 1>,
  I32EnumAttrCase<"rekey", 2>
]>;

def Dataflow_VariantKind
    : Dataflow_Enum<"VariantKind", "what a handler is specialised for", [
  I32EnumAttrCase<"generic", 0>,
  I32EnumAttrCase<"tiles", 1>,
  I32EnumAttrCase<"exact", 2>,
  I32EnumAttrCase<"sliced", 3>,
  I32EnumAttrCase<"bounded", 4>
]>;

def Dataflow_Space : Dataflow_Enum<"Space", "memory that holds a slot", [
  I32EnumAttrCase<"unplaced", 0>,
  I32EnumAttrCase<"shared", 1>,
  I32EnumAttrCase<"global", 2>
]>;

def Dataflow_Discipline
    : Dataflow_Enum<"Discipline", "how instructions reach the CTAs", [
  I32EnumAttrCase<"fixed", 0, "static">,
  I32EnumAttrCase<"ticket", 1>
]>;

def Dataflow_MemoryKind
    : Dataflow_Enum<"MemoryKind", "where records are to be stored", [
  I32EnumAttrCase<"automatic", 0>,
  I32EnumAttrCase<"shared", 1>,
  I32EnumAttrCase<"global", 2>
]>;

def Dataflow_HandoffKind
    : Dataflow_Enum<"HandoffKind", "how a record reaches the next handler", [
  I32EnumAttrCase<"resident", 0>
]>;

def Dataflow_LayoutFamily
    : Dataflow_Enum<"LayoutFamily", "physical layout of a staged tensor", [
  I32EnumAttrCase<"row_major", 0>,
  I32EnumAttrCase<"swizzle_32", 1>,
  I32EnumAttrCase<"swizzle_64", 2>,
  I32EnumAttrCase<"swizzle_128", 3>
]>;

def Dataflow_MergePrecision
    : Dataflow_Enum<"MergePrecision", "precision in which parts are merged", [
  I32EnumAttrCase<"automatic", 0>,
  I32EnumAttrCase<"f16", 1>,
  I32EnumAttrCase<"f32", 2>,
  I32EnumAttrCase<"bf16", 3>
]>;

def Dataflow_ConsumerOrder
    : Dataflow_Enum<"ConsumerOrder", "order in which a consumer reads", [
  I32EnumAttrCase<"ascending", 0>,
  I32EnumAttrCase<"as_arrived", 1>
]>;

// Ops print these as bare words.
def Dataflow_ReshardKindAttr
    : EnumAttr<Dataflow_Dialect, Dataflow_ReshardKind, "reshard_kind">;
def Dataflow_SpaceAttr : EnumAttr<Dataflow_Dialect, Dataflow_Space, "space">;
def Dataflow_DisciplineAttr
    : EnumAttr<Dataflow_Dialect, Dataflow_Discipline, "discipline">;

#endif // DATAFLOW_IR_DATAFLOWDIALECT_TD
