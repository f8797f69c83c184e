//===- FollowingPart.h - Parts that may do a finalize, too ------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A compute part with fragments whose attribute `following` names the handler
// of a finalize may do the work of that one on what the part's own handler
// makes, instead of handing it over:
//
//   dataflow.part @sum_compute of @sum compute(%i: index, %x: tensor<..>,
//       %scale: tensor<..>, %y: tensor<..>, %follows: i1)
//       -> (tensor<64xf32>, tensor<..>) attributes {following = @write,
//       fragments}
//
// Behind the arguments of its handler it has the tensors that the finalize
// reads, those that it writes, and whether it has to do it; behind the results
// of its handler those of the finalize. Where the last argument is true, the
// results for the handler are stored nowhere. The verifier of the part tests
// this; rule D8 of `dataflow-verify-kernel` what its body does.
//
//===----------------------------------------------------------------------===//

#ifndef DATAFLOW_IR_FOLLOWINGPART_H
#define DATAFLOW_IR_FOLLOWINGPART_H

#include "dataflow/IR/Dataflow.h"

namespace mlir::df {

inline constexpr StringLiteral kFollowingAttrName = "following";

/// The name of the finalize's handler; null for other parts.
inline FlatSymbolRefAttr getFollowing(PartOp part) {
  return part->getAttrOfType<FlatSymbolRefAttr>(kFollowingAttrName);
}

/// Of a part with a following finalize: whether it has to be done.
inline BlockArgument getFollows(PartOp part) {
  return part.getBody().getArguments().back();
}

/// Likewise: the tensors that the finalize writes.
inline ArrayRef<BlockArgument> getFollowingOutputs(PartOp part) {
  size_t fields = part.lookupHandler().getSignature().getNumResults();
  ArrayRef<BlockArgument> arguments = part.getBody().getArguments();
  return arguments.drop_back().take_back(part.getResultTypes().size() - fields);
}

} // namespace mlir::df

#endif // DATAFLOW_IR_FOLLOWINGPART_H
