//===- ScheduleConversionTest.cpp - Schedules survive the IR --------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Object -> op -> text -> op -> object gives an equal object after every step
// of the planner and for every solver.
//
//===----------------------------------------------------------------------===//

#include "dataflow/Transforms/ScheduleConversion.h"
#include "dataflow/Schedule/Schedulers.h"
#include "dataflow/Transforms/ProgramImport.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::df;

static const char *const kProgram = R"mlir(
dataflow.program @sum(%x: tensor<?x?xf32>, %lengths: tensor<?xi32>, %sums: tensor<?xf32>)
    attributes {dataflow.inputs = {lengths = dense<[700, 0, 3, 64, 5000]> : tensor<5xi64>},
                dataflow.topology = #dataflow.topology<ctas = 8, cluster_size = 2, shared_bytes = 96, reserved_bytes = 0>} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %lengths, %c0 : tensor<?xi32>
  dataflow.tasks @rows(row = %n)
  dataflow.range @columns of @rows length %lengths[row] tile 64 : tensor<?xi32>
  %parts = dataflow.map @piece tasks @rows over @columns operands(%x : tensor<?x?xf32>)
      : () -> !dataflow.channel<!dataflow.record<s: f32>, pieces>
  %whole = dataflow.reduce @add(%parts)
      : (!dataflow.channel<!dataflow.record<s: f32>, pieces>) -> !dataflow.channel<!dataflow.record<s: f32>> identity {
    %zero = arith.constant 0.0 : f32
    dataflow.yield %zero : f32
  }
  dataflow.finalize @store(%whole) tasks @rows outs(%sums : tensor<?xf32>)
      : (!dataflow.channel<!dataflow.record<s: f32>>) -> ()
  dataflow.handler @piece(%row: index, %begin: index, %end: index, %x: tensor<?x?xf32>) -> f32
      attributes {cost = {tile_bytes = 256}} {
    %zero = arith.constant 0.0 : f32
    dataflow.yield %zero : f32
  }
  dataflow.handler @add(%a: f32, %b: f32) -> f32 {
    %c = arith.addf %a, %b : f32
    dataflow.yield %c : f32
  }
  dataflow.handler @store(%row: index, %s: f32, %sums: tensor<?xf32>) -> tensor<?xf32> {
    %r = tensor.insert %s into %sums[%row] : tensor<?xf32>
    dataflow.yield %r : tensor<?xf32>
  }
}
)mlir";

namespace {

class ScheduleConversionTest : public ::testing::Test {
protected:
  void SetUp() override {
    context.loadDialect<DataflowDialect, arith::ArithDialect,
                        tensor::TensorDialect>();
    module = parseSourceString<ModuleOp>(kProgram, &context);
    ASSERT_TRUE(module);
    program = *module->getOps<ProgramOp>().begin();
    FailureOr<dfrt::Problem> imported = importProblem(program);
    ASSERT_TRUE(succeeded(imported));
    problem = std::move(*imported);
  }

  FailureOr<ScheduleOp> exported(const dfrt::Schedule &schedule) {
    ScheduleFrame frame;
    frame.name = "plan";
    frame.program = program.getSymName();
    frame.topology = TopologyAttr::get(&context, problem.topology);
    for (StageOpInterface stage : program.getStages())
      frame.stages.push_back(stage.getStageName());
    OpBuilder builder = OpBuilder::atBlockEnd(&program.getBody().front());
    return exportSchedule(builder, program.getLoc(), frame, schedule);
  }

  void expectRoundTrip(const dfrt::Schedule &schedule, const char *state) {
    SCOPED_TRACE(state);
    FailureOr<ScheduleOp> op = exported(schedule);
    ASSERT_TRUE(succeeded(op));
    ASSERT_TRUE(succeeded(mlir::verify(*module)));
    FailureOr<dfrt::Schedule> direct = importSchedule(*op);
    ASSERT_TRUE(succeeded(direct));
    EXPECT_TRUE(*direct == schedule);

    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    op->erase();
    OwningOpRef<ModuleOp> again = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(again) << text;
    ProgramOp copy = *again->getOps<ProgramOp>().begin();
    ASSERT_TRUE(copy.getSchedule());
    FailureOr<dfrt::Schedule> read = importSchedule(copy.getSchedule());
    ASSERT_TRUE(succeeded(read));
    EXPECT_TRUE(*read == schedule) << text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  ProgramOp program;
  dfrt::Problem problem;
};

TEST_F(ScheduleConversionTest, EveryStateOfEverySolver) {
  for (uint32_t clusterSize : {1, 2, 4, 8})
    for (uint64_t sharedBytes : {16, 48, 96, 4096})
      for (const dfrt::Solver &solver : dfrt::solvers()) {
        SCOPED_TRACE(std::string(solver.name) + ", cluster " +
                     std::to_string(clusterSize) + ", shared " +
                     std::to_string(sharedBytes));
        problem.topology.clusterSize = clusterSize;
        problem.topology.sharedBytes = sharedBytes;
        dfrt::ScheduleOptions options;
        dfrt::Expected<dfrt::Schedule> schedule =
            solver.run(problem, options, nullptr);
        ASSERT_TRUE(bool(schedule)) << schedule.status().message();
        expectRoundTrip(*schedule, "solver");
        ASSERT_TRUE(selectTransports(problem, options, *schedule).ok());
        expectRoundTrip(*schedule, "selectTransports");
        ASSERT_TRUE(planSlots(problem, *schedule).ok());
        expectRoundTrip(*schedule, "planSlots");
        ASSERT_TRUE(insertReleases(problem, *schedule).ok());
        expectRoundTrip(*schedule, "insertReleases");
      }
}

TEST_F(ScheduleConversionTest, KeepsForeignNumbers) {
  dfrt::ScheduleOptions options;
  dfrt::Expected<dfrt::Schedule> schedule =
      dfrt::makeSchedule(problem, options);
  ASSERT_TRUE(bool(schedule));
  // Queues in another order than the instructions that they hold.
  std::reverse(schedule->queues.begin(), schedule->queues.end());
  expectRoundTrip(*schedule, "queues reversed");
}

TEST_F(ScheduleConversionTest, RefusesWhatHasNoForm) {
  dfrt::Expected<dfrt::Schedule> schedule =
      dfrt::makeSchedule(problem, dfrt::ScheduleOptions());
  ASSERT_TRUE(bool(schedule));
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  dfrt::Schedule broken = *schedule;
  broken.queues.front().instructions.pop_back();
  EXPECT_TRUE(failed(exported(broken)));
  EXPECT_EQ(message, "1 instructions are in no queue");
  broken = *schedule;
  broken.slots.front().stage = 7;
  EXPECT_TRUE(failed(exported(broken)));
  EXPECT_EQ(message, "slot 0 has the record of stage 7 of 3");
}

} // namespace
