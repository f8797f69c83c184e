//===- PlanTranslation.cpp - Plan translations by name --------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `--dataflow-to-plan` and `--plan-to-dataflow` for tools that translate.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Target/Plan.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Tools/mlir-translate/Translation.h"

using namespace mlir;
using namespace mlir::df;

void mlir::df::registerScheduleDialects(DialectRegistry &registry) {
  // Dialects of handler bodies: a program comes with its code.
  registry.insert<DataflowDialect, affine::AffineDialect, arith::ArithDialect,
                  func::FuncDialect, index::IndexDialect, linalg::LinalgDialect,
                  math::MathDialect, scf::SCFDialect, tensor::TensorDialect>();
  registerFuncHandlerExtension(registry);
}

void mlir::df::registerToPlanTranslation(
    std::function<std::string()> scheduleName) {
  TranslateFromMLIRRegistration(
      "dataflow-to-plan", "pack a schedule as plan bytes",
      [scheduleName](Operation *root, raw_ostream &output) -> LogicalResult {
        FailureOr<std::vector<uint8_t>> bytes =
            exportPlan(root, scheduleName ? scheduleName() : "");
        if (failed(bytes))
          return failure();
        output.write(reinterpret_cast<const char *>(bytes->data()),
                     bytes->size());
        return success();
      },
      registerScheduleDialects);
}

void mlir::df::registerFromPlanTranslation() {
  TranslateToMLIRRegistration(
      "plan-to-dataflow", "read plan bytes as a schedule",
      [](StringRef bytes, MLIRContext *context) -> OwningOpRef<Operation *> {
        OwningOpRef<ModuleOp> module =
            importPlan(ArrayRef(reinterpret_cast<const uint8_t *>(bytes.data()),
                                bytes.size()),
                       context);
        return OwningOpRef<Operation *>(module.release());
      },
      [](DialectRegistry &registry) { registry.insert<DataflowDialect>(); });
}
