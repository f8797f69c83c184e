// RUN: df-opt %s --split-input-file --dataflow-verify-kernel --verify-diagnostics

// Every rule of dataflow-verify-kernel, with cases that break it.

// D1: the same stream
dataflow.program @p(%x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @four(n = %c4, k = %c4)
  dataflow.finalize @h tasks @four operands(%x, %m : tensor<?x64xf32>, tensor<?xi1>) outs(%y : tensor<16x64xf32>) : () -> ()
  dataflow.handler @h(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    dataflow.yield %y : tensor<16x64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<16x64xf32>
    dataflow.stream @t depth 2 of tensor<16x64xf32>
    dataflow.part @l of @h load(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      // expected-error@+1 {{D1: fills stream 's', but the compute part takes from 't'}}
      dataflow.fill @s, %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      // expected-note@+1 {{this op is to match it}}
      %t = dataflow.take @t : tensor<16x64xf32>
      dataflow.give @t
      dataflow.yield %y : tensor<16x64xf32>
    }
  }
}

// -----

// D1: of nested loops with the same bounds, the same counter
dataflow.program @p(%x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @four(n = %c4, k = %c4)
  dataflow.finalize @h tasks @four operands(%x, %m : tensor<?x64xf32>, tensor<?xi1>) outs(%y : tensor<16x64xf32>) : () -> ()
  dataflow.handler @h(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    dataflow.yield %y : tensor<16x64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<16x64xf32>
    dataflow.part @l of @h load(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      scf.for %i = %c0 to %c8 step %c1 {
        scf.for %j = %c0 to %c8 step %c1 {
          %b = tensor.extract %m[%i] : tensor<?xi1>
          // expected-error@+1 {{D1: does not have the condition of the compute part's branch}}
          scf.if %b {
            dataflow.fill @s, %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
          }
        }
      }
      dataflow.yield
    }
    dataflow.part @c of @h compute(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      scf.for %i = %c0 to %c8 step %c1 {
        scf.for %j = %c0 to %c8 step %c1 {
          %b = tensor.extract %m[%j] : tensor<?xi1>
          // expected-note@+1 {{this op is to match it}}
          scf.if %b {
            %t = dataflow.take @s : tensor<16x64xf32>
            dataflow.give @s
          }
        }
      }
      dataflow.yield %y : tensor<16x64xf32>
    }
  }
}

// -----

// D1: as many fills as takes
dataflow.program @p(%x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @four(n = %c4, k = %c4)
  dataflow.finalize @h tasks @four operands(%x, %m : tensor<?x64xf32>, tensor<?xi1>) outs(%y : tensor<16x64xf32>) : () -> ()
  dataflow.handler @h(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    dataflow.yield %y : tensor<16x64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<16x64xf32>
    dataflow.stream @t depth 2 of tensor<16x64xf32>
    dataflow.part @l of @h load(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      dataflow.fill @s, %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      // expected-error@+1 {{D1: has nothing that matches it in the compute part}}
      dataflow.fill @s, %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %t = dataflow.take @s : tensor<16x64xf32>
      dataflow.give @s
      dataflow.yield %y : tensor<16x64xf32>
    }
  }
}

// -----

// D1: as many takes as fills
dataflow.program @p(%x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @four(n = %c4, k = %c4)
  dataflow.finalize @h tasks @four operands(%x, %m : tensor<?x64xf32>, tensor<?xi1>) outs(%y : tensor<16x64xf32>) : () -> ()
  dataflow.handler @h(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    dataflow.yield %y : tensor<16x64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<16x64xf32>
    dataflow.stream @t depth 2 of tensor<16x64xf32>
    dataflow.part @l of @h load(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      dataflow.fill @s, %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %t = dataflow.take @s : tensor<16x64xf32>
      dataflow.give @s
      // expected-error@+1 {{D1: has nothing that matches it in the load part}}
      %u = dataflow.take @s : tensor<16x64xf32>
      dataflow.give @s
      dataflow.yield %y : tensor<16x64xf32>
    }
  }
}

// -----

// D1: the same number of iterations
dataflow.program @p(%x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @four(n = %c4, k = %c4)
  dataflow.finalize @h tasks @four operands(%x, %m : tensor<?x64xf32>, tensor<?xi1>) outs(%y : tensor<16x64xf32>) : () -> ()
  dataflow.handler @h(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    dataflow.yield %y : tensor<16x64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<16x64xf32>
    dataflow.stream @t depth 2 of tensor<16x64xf32>
    dataflow.part @l of @h load(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      // expected-error@+1 {{D1: does not have the bounds of the compute part's loop}}
      scf.for %i = %c0 to %n step %c1 {
        dataflow.fill @s, %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      }
      dataflow.yield
    }
    dataflow.part @c of @h compute(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      // expected-note@+1 {{this op is to match it}}
      scf.for %i = %c0 to %c8 step %c1 {
        %t = dataflow.take @s : tensor<16x64xf32>
        dataflow.give @s
      }
      dataflow.yield %y : tensor<16x64xf32>
    }
  }
}

// -----

// D1: the same field of the instruction
dataflow.program @p(%x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @four(n = %c4, k = %c4)
  dataflow.finalize @h tasks @four operands(%x, %m : tensor<?x64xf32>, tensor<?xi1>) outs(%y : tensor<16x64xf32>) : () -> ()
  dataflow.handler @h(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    dataflow.yield %y : tensor<16x64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<16x64xf32>
    dataflow.stream @t depth 2 of tensor<16x64xf32>
    dataflow.part @l of @h load(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      // expected-error@+1 {{D1: does not have the bounds of the compute part's loop}}
      scf.for %i = %c0 to %n step %c1 {
        dataflow.fill @s, %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      }
      dataflow.yield
    }
    dataflow.part @c of @h compute(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      // expected-note@+1 {{this op is to match it}}
      scf.for %i = %c0 to %k step %c1 {
        %t = dataflow.take @s : tensor<16x64xf32>
        dataflow.give @s
      }
      dataflow.yield %y : tensor<16x64xf32>
    }
  }
}

// -----

// D1: the same step, computed
dataflow.program @p(%x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @four(n = %c4, k = %c4)
  dataflow.finalize @h tasks @four operands(%x, %m : tensor<?x64xf32>, tensor<?xi1>) outs(%y : tensor<16x64xf32>) : () -> ()
  dataflow.handler @h(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    dataflow.yield %y : tensor<16x64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<16x64xf32>
    dataflow.stream @t depth 2 of tensor<16x64xf32>
    dataflow.part @l of @h load(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %a = arith.addi %n, %c1 : index
      // expected-error@+1 {{D1: does not have the bounds of the compute part's loop}}
      scf.for %i = %c0 to %n step %a {
        dataflow.fill @s, %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      }
      dataflow.yield
    }
    dataflow.part @c of @h compute(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %a = arith.addi %n, %c8 : index
      // expected-note@+1 {{this op is to match it}}
      scf.for %i = %c0 to %n step %a {
        %t = dataflow.take @s : tensor<16x64xf32>
        dataflow.give @s
      }
      dataflow.yield %y : tensor<16x64xf32>
    }
  }
}

// -----

// D1: a loop is no single access
dataflow.program @p(%x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @four(n = %c4, k = %c4)
  dataflow.finalize @h tasks @four operands(%x, %m : tensor<?x64xf32>, tensor<?xi1>) outs(%y : tensor<16x64xf32>) : () -> ()
  dataflow.handler @h(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    dataflow.yield %y : tensor<16x64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<16x64xf32>
    dataflow.stream @t depth 2 of tensor<16x64xf32>
    dataflow.part @l of @h load(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      // expected-error@+1 {{D1: does not match the compute part}}
      scf.for %i = %c0 to %c1 step %c1 {
        dataflow.fill @s, %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      }
      dataflow.yield
    }
    dataflow.part @c of @h compute(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      // expected-note@+1 {{this op is to match it}}
      %t = dataflow.take @s : tensor<16x64xf32>
      dataflow.give @s
      dataflow.yield %y : tensor<16x64xf32>
    }
  }
}

// -----

// D1: the same condition
dataflow.program @p(%x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @four(n = %c4, k = %c4)
  dataflow.finalize @h tasks @four operands(%x, %m : tensor<?x64xf32>, tensor<?xi1>) outs(%y : tensor<16x64xf32>) : () -> ()
  dataflow.handler @h(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    dataflow.yield %y : tensor<16x64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<16x64xf32>
    dataflow.stream @t depth 2 of tensor<16x64xf32>
    dataflow.part @l of @h load(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %b = tensor.extract %m[%c0] : tensor<?xi1>
      // expected-error@+1 {{D1: does not have the condition of the compute part's branch}}
      scf.if %b {
        dataflow.fill @s, %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      }
      dataflow.yield
    }
    dataflow.part @c of @h compute(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %b = tensor.extract %m[%n] : tensor<?xi1>
      // expected-note@+1 {{this op is to match it}}
      scf.if %b {
        %t = dataflow.take @s : tensor<16x64xf32>
        dataflow.give @s
      }
      dataflow.yield %y : tensor<16x64xf32>
    }
  }
}

// -----

// D1: the same side of a branch
dataflow.program @p(%x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @four(n = %c4, k = %c4)
  dataflow.finalize @h tasks @four operands(%x, %m : tensor<?x64xf32>, tensor<?xi1>) outs(%y : tensor<16x64xf32>) : () -> ()
  dataflow.handler @h(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    dataflow.yield %y : tensor<16x64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<16x64xf32>
    dataflow.stream @t depth 2 of tensor<16x64xf32>
    dataflow.part @l of @h load(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %b = tensor.extract %m[%c0] : tensor<?xi1>
      scf.if %b {
        // expected-error@+1 {{D1: has nothing that matches it in the compute part}}
        dataflow.fill @s, %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      }
      dataflow.yield
    }
    dataflow.part @c of @h compute(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %b = tensor.extract %m[%c0] : tensor<?xi1>
      scf.if %b {
      } else {
        %t = dataflow.take @s : tensor<16x64xf32>
        dataflow.give @s
      }
      dataflow.yield %y : tensor<16x64xf32>
    }
  }
}

// -----

// D1: numbers that loops carry
dataflow.program @p(%x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @four(n = %c4, k = %c4)
  dataflow.finalize @h tasks @four operands(%x, %m : tensor<?x64xf32>, tensor<?xi1>) outs(%y : tensor<16x64xf32>) : () -> ()
  dataflow.handler @h(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    dataflow.yield %y : tensor<16x64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<16x64xf32>
    dataflow.stream @t depth 2 of tensor<16x64xf32>
    dataflow.part @l of @h load(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %c0) -> (index) {
        %q = arith.addi %a, %c1 : index
        // expected-error@+1 {{D1: does not have the bounds of the compute part's loop}}
        scf.for %j = %c0 to %a step %c1 {
          dataflow.fill @s, %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
        }
        scf.yield %q : index
      }
      dataflow.yield
    }
    dataflow.part @c of @h compute(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %c0) -> (index) {
        %q = arith.addi %a, %c8 : index
        // expected-note@+1 {{this op is to match it}}
        scf.for %j = %c0 to %a step %c1 {
          %t = dataflow.take @s : tensor<16x64xf32>
          dataflow.give @s
        }
        scf.yield %q : index
      }
      dataflow.yield %y : tensor<16x64xf32>
    }
  }
}

// -----

// These agree: bounds, conditions and carried numbers are the same.
dataflow.program @p(%x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @four(n = %c4, k = %c4)
  dataflow.finalize @h tasks @four operands(%x, %m : tensor<?x64xf32>, tensor<?xi1>) outs(%y : tensor<16x64xf32>) : () -> ()
  dataflow.handler @h(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    dataflow.yield %y : tensor<16x64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<16x64xf32>
    dataflow.stream @t depth 2 of tensor<16x64xf32>
    dataflow.part @l of @h load(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %c0) -> (index) {
        %q = arith.addi %a, %c1 : index
        scf.for %j = %c0 to %a step %c1 {
          dataflow.fill @s, %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
        }
        scf.yield %q : index
      }
      %b = tensor.extract %m[%n] : tensor<?xi1>
      scf.if %b {
        dataflow.fill @t, %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      }
      dataflow.yield
    }
    dataflow.part @c of @h compute(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %c0) -> (index) {
        %q = arith.addi %a, %c1 : index
        scf.for %j = %c0 to %a step %c1 {
          %t = dataflow.take @s : tensor<16x64xf32>
          dataflow.give @s
        }
        scf.yield %q : index
      }
      %b = tensor.extract %m[%n] : tensor<?xi1>
      scf.if %b {
        %t = dataflow.take @t : tensor<16x64xf32>
        dataflow.give @t
      }
      dataflow.yield %y : tensor<16x64xf32>
    }
  }
}

// -----

// D2: one tile at a time
dataflow.program @p(%x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @four(n = %c4, k = %c4)
  dataflow.finalize @h tasks @four operands(%x, %m : tensor<?x64xf32>, tensor<?xi1>) outs(%y : tensor<16x64xf32>) : () -> ()
  dataflow.handler @h(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    dataflow.yield %y : tensor<16x64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<16x64xf32>
    dataflow.stream @t depth 2 of tensor<16x64xf32>
    dataflow.part @l of @h load(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      dataflow.fill @s, %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      dataflow.fill @s, %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      // expected-note@+1 {{the tile is taken here}}
      %t = dataflow.take @s : tensor<16x64xf32>
      // expected-error@+1 {{D2: takes from stream 's' before the last tile was given back}}
      %u = dataflow.take @s : tensor<16x64xf32>
      dataflow.give @s
      dataflow.give @s
      dataflow.yield %y : tensor<16x64xf32>
    }
  }
}

// -----

// D2: also in a loop
dataflow.program @p(%x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @four(n = %c4, k = %c4)
  dataflow.finalize @h tasks @four operands(%x, %m : tensor<?x64xf32>, tensor<?xi1>) outs(%y : tensor<16x64xf32>) : () -> ()
  dataflow.handler @h(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    dataflow.yield %y : tensor<16x64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<16x64xf32>
    dataflow.stream @t depth 2 of tensor<16x64xf32>
    dataflow.part @l of @h load(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      dataflow.fill @s, %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      scf.for %i = %c0 to %n step %c1 {
        dataflow.fill @s, %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      }
      dataflow.yield
    }
    dataflow.part @c of @h compute(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      // expected-note@+1 {{the tile is taken here}}
      %t = dataflow.take @s : tensor<16x64xf32>
      scf.for %i = %c0 to %n step %c1 {
        // expected-error@+1 {{D2: uses stream 's' before the last tile was given back}}
        %u = dataflow.take @s : tensor<16x64xf32>
        dataflow.give @s
      }
      dataflow.give @s
      dataflow.yield %y : tensor<16x64xf32>
    }
  }
}

// -----

// D2: nothing is given back twice
dataflow.program @p(%x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @four(n = %c4, k = %c4)
  dataflow.finalize @h tasks @four operands(%x, %m : tensor<?x64xf32>, tensor<?xi1>) outs(%y : tensor<16x64xf32>) : () -> ()
  dataflow.handler @h(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    dataflow.yield %y : tensor<16x64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<16x64xf32>
    dataflow.stream @t depth 2 of tensor<16x64xf32>
    dataflow.part @l of @h load(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      dataflow.fill @s, %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %t = dataflow.take @s : tensor<16x64xf32>
      dataflow.give @s
      // expected-error@+1 {{D2: gives back to stream 's', but no tile was taken from it in this block}}
      dataflow.give @s
      dataflow.yield %y : tensor<16x64xf32>
    }
  }
}

// -----

// D2: every tile is given back
dataflow.program @p(%x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @four(n = %c4, k = %c4)
  dataflow.finalize @h tasks @four operands(%x, %m : tensor<?x64xf32>, tensor<?xi1>) outs(%y : tensor<16x64xf32>) : () -> ()
  dataflow.handler @h(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    dataflow.yield %y : tensor<16x64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<16x64xf32>
    dataflow.stream @t depth 2 of tensor<16x64xf32>
    dataflow.part @l of @h load(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      dataflow.fill @s, %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      // expected-error@+1 {{D2: the tile of stream 's' is not given back in its block}}
      %t = dataflow.take @s : tensor<16x64xf32>
      dataflow.yield %y : tensor<16x64xf32>
    }
  }
}

// -----

// D3: no use behind the give, of a view neither
dataflow.program @p(%x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @four(n = %c4, k = %c4)
  dataflow.finalize @h tasks @four operands(%x, %m : tensor<?x64xf32>, tensor<?xi1>) outs(%y : tensor<16x64xf32>) : () -> ()
  dataflow.handler @h(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    dataflow.yield %y : tensor<16x64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<16x64xf32>
    dataflow.stream @t depth 2 of tensor<16x64xf32>
    dataflow.part @l of @h load(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      dataflow.fill @s, %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %e = tensor.empty() : tensor<16x32xf32>
      %t = dataflow.take @s : tensor<16x64xf32>
      %v = tensor.extract_slice %t[0, 0] [16, 32] [1, 1] : tensor<16x64xf32> to tensor<16x32xf32>
      // expected-error@+1 {{D3: gives the tile back before its last use}}
      dataflow.give @s
      // expected-note@+1 {{it is used here}}
      %sum = linalg.exp ins(%v : tensor<16x32xf32>) outs(%e : tensor<16x32xf32>) -> tensor<16x32xf32>
      dataflow.yield %y : tensor<16x64xf32>
    }
  }
}

// -----

// D3: a tile stays in its block
dataflow.program @p(%x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @four(n = %c4, k = %c4)
  dataflow.finalize @h tasks @four operands(%x, %m : tensor<?x64xf32>, tensor<?xi1>) outs(%y : tensor<16x64xf32>) : () -> ()
  dataflow.handler @h(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    dataflow.yield %y : tensor<16x64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<16x64xf32>
    dataflow.stream @t depth 2 of tensor<16x64xf32>
    dataflow.part @l of @h load(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      scf.for %i = %c0 to %n step %c1 {
        dataflow.fill @s, %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      }
      dataflow.yield
    }
    dataflow.part @c of @h compute(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %y) -> (tensor<16x64xf32>) {
        // expected-error@+1 {{D3: the tile is still used after its block}}
        %t = dataflow.take @s : tensor<16x64xf32>
        dataflow.give @s
        scf.yield %t : tensor<16x64xf32>
      }
      dataflow.yield %y : tensor<16x64xf32>
    }
  }
}

// -----

// D4: the load role computes addresses only
dataflow.program @p(%x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @four(n = %c4, k = %c4)
  dataflow.finalize @h tasks @four operands(%x, %m : tensor<?x64xf32>, tensor<?xi1>) outs(%y : tensor<16x64xf32>) : () -> ()
  dataflow.handler @h(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    dataflow.yield %y : tensor<16x64xf32>
  }
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<16x64xf32>
    dataflow.stream @t depth 2 of tensor<16x64xf32>
    dataflow.part @l of @h load(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      // expected-error@+1 {{D4: is more than an address needs, in a load part}}
      %z = linalg.exp ins(%y : tensor<16x64xf32>) outs(%y : tensor<16x64xf32>) -> tensor<16x64xf32>
      dataflow.fill @s, %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %t = dataflow.take @s : tensor<16x64xf32>
      dataflow.give @s
      dataflow.yield %y : tensor<16x64xf32>
    }
  }
}

// -----

// D5: shared memory is limited
dataflow.program @p(%x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>)
    attributes {dataflow.topology = #dataflow.topology<ctas = 1, shared_bytes = 8192, reserved_bytes = 0>} {
  %c4 = arith.constant 4 : index
  dataflow.tasks @four(n = %c4, k = %c4)
  dataflow.finalize @h tasks @four operands(%x, %m : tensor<?x64xf32>, tensor<?xi1>) outs(%y : tensor<16x64xf32>) : () -> ()
  dataflow.handler @h(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
    dataflow.yield %y : tensor<16x64xf32>
  }
  // expected-error@+1 {{D5: rings have 16384 bytes, shared memory has 8192}}
  dataflow.kernel @k {
    dataflow.stream @s depth 2 of tensor<16x64xf32>
    dataflow.stream @t depth 2 of tensor<16x64xf32>
    dataflow.part @l of @h load(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      dataflow.fill @s, %x[0, 0] [16, 64] [1, 1] : tensor<?x64xf32> to tensor<16x64xf32>
      dataflow.yield
    }
    dataflow.part @c of @h compute(%n: index, %k: index, %x: tensor<?x64xf32>, %m: tensor<?xi1>, %y: tensor<16x64xf32>) -> tensor<16x64xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %t = dataflow.take @s : tensor<16x64xf32>
      dataflow.give @s
      dataflow.yield %y : tensor<16x64xf32>
    }
  }
}
