//===- StageTest.cpp --------------------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a pass learns from a stage through its interface.
//
//===----------------------------------------------------------------------===//

#include "dataflow/IR/Dataflow.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::df;

namespace {

const char *program = R"(
  !part = !dataflow.record<sum: f32, row: tensor<4xf32>>
  dataflow.program @p(%x: tensor<?xf32>, %y: tensor<?xf32>) {
    %n = arith.constant 4 : index
    dataflow.tasks @rows(row = %n)
    dataflow.range @columns of @rows length %n tile 1
    %tiles = dataflow.map @make tasks @rows each @columns
        operands(%x : tensor<?xf32>) requests [#dataflow.memory<shared>]
        : () -> !dataflow.channel<!part, tiles>
    %all = dataflow.reshard "all" collect(%tiles)
        : (!dataflow.channel<!part, tiles>)
        -> !dataflow.channel<!part, collected>
    dataflow.finalize @store as "end"(%all) tasks @rows
        outs(%y : tensor<?xf32>)
        : (!dataflow.channel<!part, collected>) -> ()
    func.func @make(%a0: index, %a1: index, %a2: index, %a3: tensor<?xf32>)
        -> (f32, tensor<4xf32>) {
      %z = arith.constant 0.0 : f32
      %r = tensor.splat %z : tensor<4xf32>
      return %z, %r : f32, tensor<4xf32>
    }
    dataflow.handler @store(%row: index, %s: tensor<?xf32>, %r: tensor<?x4xf32>,
                            %y: tensor<?xf32>) -> tensor<?xf32> {
      dataflow.yield %y : tensor<?xf32>
    }
  })";

class Stages : public testing::Test {
protected:
  Stages() {
    DialectRegistry registry;
    registry
        .insert<DataflowDialect, func::FuncDialect, tensor::TensorDialect>();
    registerFuncHandlerExtension(registry);
    context.appendDialectRegistry(registry);
    module = parseSourceString<ModuleOp>(program, &context);
    if (module)
      op = *module->getOps<ProgramOp>().begin();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  ProgramOp op;
};

TEST_F(Stages, ComeInProgramOrder) {
  ASSERT_TRUE(op);
  SmallVector<StageOpInterface> stages = op.getStages();
  ASSERT_EQ(stages.size(), 3u);
  EXPECT_EQ(stages[0].getStageName(), "make");
  EXPECT_EQ(stages[1].getStageName(), "all");
  EXPECT_EQ(stages[2].getStageName(), "end");
  EXPECT_EQ(stages[1].getStageKind(), StageKind::reshard);
  EXPECT_EQ(stages[2].getProducer(0), stages[1]);
}

TEST_F(Stages, KnowTheirDomainRangeAndHandler) {
  ASSERT_TRUE(op);
  SmallVector<StageOpInterface> stages = op.getStages();
  // A reshard has the domain of what is behind it.
  EXPECT_EQ(stages[1].lookupTasks().getSymName(), "rows");
  EXPECT_EQ(stages[0].lookupRange().getSymName(), "columns");
  EXPECT_TRUE(stages[0].isPerTile());
  EXPECT_FALSE(stages[2].lookupRange());
  EXPECT_FALSE(stages[1].lookupHandler());
  EXPECT_TRUE(isa<HandlerOp>(stages[2].lookupHandler().getOperation()));
}

TEST_F(Stages, AcceptAFunctionAsHandler) {
  ASSERT_TRUE(op);
  HandlerOpInterface handler = op.getStages()[0].lookupHandler();
  ASSERT_TRUE(handler);
  EXPECT_TRUE(isa<func::FuncOp>(handler.getOperation()));
  EXPECT_EQ(handler.getHandlerName().getValue(), "make");
  EXPECT_EQ(handler.getSignature(), op.getStages()[0].getExpectedSignature());
  EXPECT_EQ(handler.getHandlerBody().getNumArguments(), 4u);
}

TEST_F(Stages, StackCollectedFields) {
  ASSERT_TRUE(op);
  FunctionType type = op.getStages()[2].getExpectedSignature();
  Type f32 = Float32Type::get(&context);
  ASSERT_EQ(type.getNumInputs(), 4u);
  EXPECT_EQ(type.getInput(1),
            RankedTensorType::get({ShapedType::kDynamic}, f32));
  EXPECT_EQ(type.getInput(2),
            RankedTensorType::get({ShapedType::kDynamic, 4}, f32));
}

TEST_F(Stages, GiveTheirRequestsByKind) {
  ASSERT_TRUE(op);
  StageOpInterface stage = op.getStages()[0];
  auto memory = stage.getRequest<MemoryAttr>();
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory.getKind(), MemoryKind::shared);
  EXPECT_TRUE(memory.isObeyedByPlanner());
  EXPECT_FALSE(stage.getRequest<PipelineAttr>());
  EXPECT_FALSE(PipelineAttr::get(&context, 2, 1, 1).isObeyedByPlanner());
  auto handoff = HandoffAttr::get(&context, HandoffKind::resident, 1);
  EXPECT_TRUE(handoff.isObeyedByPlanner());
}

TEST_F(Stages, FindArgumentsByName) {
  ASSERT_TRUE(op);
  EXPECT_EQ(op.getArgument("y"), op.getBody().getArgument(1));
  EXPECT_EQ(op.getArgumentName(op.getBody().getArgument(0)), "x");
  EXPECT_FALSE(op.getArgument("z"));
}

} // namespace
