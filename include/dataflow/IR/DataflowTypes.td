//===- DataflowTypes.td ------------------------------------*- tablegen -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Records and channels.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_IR_DATAFLOWTYPES_TD
#define DATAFLOW_IR_DATAFLOWTYPES_TD

include "dataflow/IR/DataflowDialect.td"

def Dataflow_Record : Dataflow_Type<"Record", "record"> {
  let summary = "typed value that crosses a stage boundary";
  let description = [{
    Named fields of scalars and ranked tensors. Dynamic dimensions are allowed
    until the program is specialised.

    Constraints:
    - (C1) A record has at least one field.
    - (C2) Field names are distinct and not empty.
    - (C3) A field is an integer or a float, or a ranked tensor of such.

    Example:

    ```mlir
    !dataflow.record<max: tensor<32xf32>, sum: f32>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::StringAttr", "names of the fields">:$names,
    ArrayRefParameter<"::mlir::Type", "types of the fields">:$types);
  let assemblyFormat = "`<` custom<RecordFields>($names, $types) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    size_t size() const { return getTypes().size(); }
  }];
}

def Dataflow_Channel : Dataflow_Type<"Channel", "channel"> {
  let summary = "all records of one stage";
  let description = [{
    The arity says how many records belong to one task:

    - `one` (not printed): exactly one;
    - `pieces`: one for each piece of the task's range, however the planner
      cuts it; only a reduce can read them;
    - `tiles`: one for each tile of the task's range;
    - `keyed`: any number, in ascending order of where they came from;
    - `collected`: the records of all tiles, stacked along a new first
      dimension.

    Example:

    ```mlir
    !dataflow.channel<!dataflow.record<sum: f32>, pieces>
    ```
  }];
  let parameters = (ins
    TypeParameter<"::mlir::df::RecordType", "type of the records">:$record,
    EnumParameter<Dataflow_Arity>:$arity);
  let assemblyFormat = "`<` custom<ChannelBody>($record, $arity) `>`";
  let builders = [
    TypeBuilderWithInferredContext<(ins "::mlir::df::RecordType":$record,
      CArg<"::mlir::df::Arity", "::mlir::df::Arity::one">:$arity), [{
      return $_get(record.getContext(), record, arity);
    }]>
  ];
}

#endif // DATAFLOW_IR_DATAFLOWTYPES_TD
