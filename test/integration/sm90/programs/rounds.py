#!/usr/bin/env python3
# Part of the dataflow project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a program of many rounds, in each of which every part reads all parts
of the round before: hundreds of transfers one after the other, whose memory is
reused again and again.

  rounds.py ROUNDS   MLIR on standard output
"""

import sys

HEAD = """\
// {rounds} rounds: in each, every part becomes half of itself, a quarter of the mean of all, and a quarter of its
// row of x.
//
// x [parts, 64]; result [parts, 64]

!part = !dataflow.record<v: tensor<64xf32>>

dataflow.program @rounds(%x: tensor<?x64xf32>, %result: tensor<?x64xf32>) {{
  %c0 = arith.constant 0 : index
  %count = tensor.dim %x, %c0 : tensor<?x64xf32>
  dataflow.tasks @once()
  dataflow.range @parts of @once length %count tile 1
  %part0 = dataflow.map @start tasks @once each @parts operands(%x : tensor<?x64xf32>)
      : () -> !dataflow.channel<!part, tiles>
"""

ROUND = """\
  %all{k} = dataflow.reshard "all{k}" collect(%part{k}) : (!dataflow.channel<!part, tiles>) -> !dataflow.channel<!part, collected>
  %part{next} = dataflow.map @step as "step{next}"(%all{k}) tasks @once each @parts operands(%x : tensor<?x64xf32>)
      : (!dataflow.channel<!part, collected>) -> !dataflow.channel<!part, tiles>
"""

TAIL = """\
  dataflow.finalize @store(%part{rounds}) tasks @once each @parts outs(%result : tensor<?x64xf32>)
      : (!dataflow.channel<!part, tiles>) -> ()

  dataflow.handler @start(%begin: index, %end: index, %x: tensor<?x64xf32>) -> tensor<64xf32> {{
    %v = tensor.extract_slice %x[%begin, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
    dataflow.yield %v : tensor<64xf32>
  }}
  dataflow.handler @step(%begin: index, %end: index, %x: tensor<?x64xf32>, %all: tensor<?x64xf32>) -> tensor<64xf32> {{
    %c0 = arith.constant 0 : index
    %count = tensor.dim %all, %c0 : tensor<?x64xf32>
    %zeros = arith.constant dense<0.0> : tensor<64xf32>
    %total = linalg.reduce {{ arith.addf }} ins(%all : tensor<?x64xf32>) outs(%zeros : tensor<64xf32>) dimensions = [0]
    %n = arith.index_cast %count : index to i32
    %f = arith.sitofp %n : i32 to f32
    %four = arith.constant 4.0 : f32
    %divisor = arith.mulf %f, %four : f32
    %divisors = tensor.splat %divisor : tensor<64xf32>
    %mean = arith.divf %total, %divisors : tensor<64xf32>
    %own = tensor.extract_slice %all[%begin, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
    %new = tensor.extract_slice %x[%begin, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
    %half = arith.constant dense<0.5> : tensor<64xf32>
    %quarter = arith.constant dense<0.25> : tensor<64xf32>
    %a = arith.mulf %own, %half : tensor<64xf32>
    %b = arith.mulf %new, %quarter : tensor<64xf32>
    %c = arith.addf %a, %b : tensor<64xf32>
    %v = arith.addf %c, %mean : tensor<64xf32>
    dataflow.yield %v : tensor<64xf32>
  }}
  dataflow.handler @store(%begin: index, %end: index, %v: tensor<64xf32>, %result: tensor<?x64xf32>) -> tensor<?x64xf32> {{
    %r = tensor.insert_slice %v into %result[%begin, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<?x64xf32>
    dataflow.yield %r : tensor<?x64xf32>
  }}
}}
"""


def text(rounds):
    middle = [ROUND.format(k=k, next=k + 1) for k in range(rounds)]
    return "".join([HEAD.format(rounds=rounds), *middle, TAIL.format(rounds=rounds)])


if __name__ == "__main__":
    sys.stdout.write(text(int(sys.argv[1])))
