//===- ToyPasses.cpp - Somebody else's lowerings --------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Toy.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace toy;

namespace {

struct LowerSquares : PassWrapper<LowerSquares, OperationPass<df::ProgramOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerSquares)
  StringRef getArgument() const override { return "toy-lower-squares"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect>();
  }
  void runOnOperation() override {
    getOperation().walk([](SquareOp op) {
      OpBuilder builder(op);
      op.replaceAllUsesWith(
          arith::MulFOp::create(builder, op.getLoc(), op.getX(), op.getX())
              .getResult());
      op.erase();
    });
  }
};

struct RouteMailboxes
    : PassWrapper<RouteMailboxes, OperationPass<df::ScheduleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RouteMailboxes)
  explicit RouteMailboxes(uint32_t reach) : reach(reach) {}
  StringRef getArgument() const override { return "toy-route-mailboxes"; }

  void runOnOperation() override {
    df::ScheduleOp schedule = getOperation();
    dfrt::Topology topology = schedule.getTopology().getTopology();
    auto mailbox = MailboxAttr::get(&getContext(), reach);
    // Who waits for what: the CTAs that read a slot are those of the queues
    // whose instructions have it as an operand.
    llvm::DenseMap<StringAttr, SmallVector<uint32_t>> readers;
    for (auto queue : schedule.getOps<df::QueueOp>())
      queue.walk([&](df::InstructionOp instruction) {
        for (auto slot : instruction.getIns().getAsRange<FlatSymbolRefAttr>())
          readers[slot.getAttr()].push_back(*queue.getCta());
      });
    // A route that does not exist is no error here.
    ScopedDiagnosticHandler quiet(&getContext(), [](Diagnostic &) {});
    for (auto queue : schedule.getOps<df::QueueOp>())
      queue.walk([&](df::TransferOp transfer) {
        if (!isa_and_nonnull<df::GlobalAttr>(transfer.getViaAttr()))
          return;
        SmallVector<uint32_t> destinations;
        for (auto slot :
             transfer.getDestinations().getAsRange<FlatSymbolRefAttr>())
          llvm::append_range(destinations, readers[slot.getAttr()]);
        if (succeeded(
                mailbox.verifyRoute(topology, *queue.getCta(), destinations,
                                    [&] { return transfer.emitError(); })))
          transfer.setViaAttr(mailbox);
      });
  }

private:
  uint32_t reach;
};

struct LowerMailboxes
    : PassWrapper<LowerMailboxes, OperationPass<df::ScheduleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerMailboxes)
  StringRef getArgument() const override { return "toy-lower-mailboxes"; }
  void runOnOperation() override {
    getOperation().walk([&](df::TransferOp transfer) {
      if (isa_and_nonnull<MailboxAttr>(transfer.getViaAttr()))
        transfer.setViaAttr(df::GlobalAttr::get(&getContext()));
    });
  }
};

} // namespace

std::unique_ptr<Pass> toy::createLowerSquares() {
  return std::make_unique<LowerSquares>();
}

std::unique_ptr<Pass> toy::createRouteMailboxes(uint32_t reach) {
  return std::make_unique<RouteMailboxes>(reach);
}

std::unique_ptr<Pass> toy::createLowerMailboxes() {
  return std::make_unique<LowerMailboxes>();
}
