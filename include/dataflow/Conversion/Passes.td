//===- Passes.td - Passes that make device code -----------------*- tablegen -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One entry a pass, in alphabetical order. Constructors and option structs are
// generated; docs/generated holds the text below.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_CONVERSION_PASSES_TD
#define DATAFLOW_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertDataflowToNVVM
    : Pass<"convert-dataflow-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Make a persistent kernel of each program";
  let description = [{
    Puts a `gpu.module` behind every `dataflow.program` for each of its kernel
    specialisations. It holds one kernel, `@<program>_<specialisation>`, which
    reads a plan and executes its instructions, and everything that the kernel
    calls: the handlers and the device library. `dataflow.kernel` on the module
    says what a launch and a planner must know. The program stays as it is; it
    has to be specialised.

    Specialisations: `static` (a queue a CTA, all transports), `static_global`
    (the same without transports into shared memory) and `ticket` (a list from
    which CTAs draw; local and global transports). Without the option, those
    that `dataflow-select-specializations` has chosen or would choose.

    Remarks say which handlers have scratch in global memory, and which
    operations of handlers run on one thread.
  }];
  let options = [
    ListOption<"specializations", "specializations", "std::string",
               "Which kernels: static, static_global, ticket">,
    Option<"watchdog", "watchdog", "bool", /*default=*/"false",
           "Bound every wait; a kernel that waits too long says what for">,
    Option<"timeline", "timeline", "bool", /*default=*/"false",
           "Record when each instruction began and ended, where a launch asks">,
    Option<"threads", "threads", "uint32_t", /*default=*/"256",
           "Compute threads of a CTA, a multiple of 128">,
    Option<"maxBarriers", "max-barriers", "uint32_t", /*default=*/"512",
           "Barriers of a plan that a CTA has room for">,
    Option<"privateBytes", "private-bytes", "uint64_t", /*default=*/"98304",
           "Shared memory for scratch of handlers and folds; what does not fit "
           "goes to global memory">,
  ];
}

def HandlersToLLVM : Pass<"dataflow-handlers-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Show what becomes of the handlers of each program";
  let description = [{
    Replaces every `dataflow.program` by a module `@<program>_handlers` with a
    function in the LLVM dialect for each variant of each handler and for each
    identity. The programs have to be specialised.

    With `target=device` it is a `gpu.module` that compiles to PTX on its own:
    for each function `@f` there is a kernel `@f$entry` that calls it with all
    threads of a block, and its argument is the array of arguments in memory.
    Attributes of the module say what the functions need: `dataflow.scratch_bytes`
    and `dataflow.remarks`: which operations run on one thread, and why.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"device\"",
           "What the functions are for: device or cpu">
  ];
}

def PartsToLLVM : Pass<"dataflow-parts-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Show what becomes of the parts of each kernel";
  let description = [{
    Puts a `gpu.module` `@<program>_<kernel>` behind every program that
    `dataflow-split-roles` has cut, with a function in the LLVM dialect for each
    part. The rings lie at the begin of shared memory, their barriers behind
    them. What the functions call, `dfk_*`, is declared only: the device library
    is in the kernels of `convert-dataflow-to-nvvm`.
  }];
}

def SelectSpecializations
    : Pass<"dataflow-select-specializations", "::mlir::df::ProgramOp"> {
  let summary = "Choose the kernels that plans of a program may need";
  let description = [{
    Puts `dataflow.specializations`, a list of names, on the program:

    - `static_global` where requests keep all records out of other CTAs' shared
      memory (memory or transport global, transport local, resident hand-over),
      else `static`;
    - `ticket` unless a request asks for a transport into shared memory, which
      a list of draws does not have.

    `only` sets the list instead. Fails on names that there are not, or twice.
  }];
  let options = [
    ListOption<"only", "only", "std::string",
               "These: static, static_global, ticket">,
  ];
}

def VerifyDevice : Pass<"dataflow-verify-device", "::mlir::ModuleOp"> {
  let summary = "Test what the protocols of a kernel rely on";
  let description = [{
    For every gpu.module with `dataflow.kernel`:

    - (G1) It holds the kernel that is named, with as many threads, one CTA an
      SM, and one parameter of as many bytes, passed by value as a grid
      constant.
    - (G2) Every barrier of the block has a number other than 0 and a number of
      threads: no role waits for another one.
    - (G3) What the load warp executes meets no barrier of the block.
    - (G4) Operations on barriers in other CTAs' shared memory, and waits that
      they may end, have the scope of the cluster. A wait at whose barrier only
      its own CTA arrives says so with `dataflow.own_barrier`.
    - (G5) Every function that is called is defined here, and none traps.
    - (G6) No operation is left but those of gpu, llvm, nvvm, scf, cf, arith,
      math, vector and nvgpu, which is what compiling to PTX takes.
  }];
}

#endif // DATAFLOW_CONVERSION_PASSES_TD
