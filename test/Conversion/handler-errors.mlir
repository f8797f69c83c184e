// RUN: df-opt %s --dataflow-specialize-program --dataflow-handlers-to-llvm --split-input-file --verify-diagnostics
// What has no lowering for the device is an error that names the operation and the function.

dataflow.program @remainder(%x: tensor<?x8xf64>, %out: tensor<?x8xf64>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf64>
  dataflow.tasks @t(i = %n)
  dataflow.finalize @f tasks @t operands(%x : tensor<?x8xf64>) outs(%out : tensor<?x8xf64>) : () -> ()
  dataflow.handler @f(%i: index, %x: tensor<?x8xf64>, %out: tensor<?x8xf64>) -> (tensor<?x8xf64>) {
    %a = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<?x8xf64> to tensor<8xf64>
    // expected-error @below {{'llvm.frem' op cannot be compiled for the device on type 'f64', in 'f$0'}}
    %b = arith.remf %a, %a : tensor<8xf64>
    %r = tensor.insert_slice %b into %out[%i, 0] [1, 8] [1, 1] : tensor<8xf64> into tensor<?x8xf64>
    dataflow.yield %r : tensor<?x8xf64>
  }
}

// -----

dataflow.program @wide(%x: tensor<?x8xf64>, %out: tensor<?x8xf64>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf64>
  dataflow.tasks @t(i = %n)
  dataflow.finalize @f tasks @t operands(%x : tensor<?x8xf64>) outs(%out : tensor<?x8xf64>) : () -> ()
  dataflow.handler @f(%i: index, %x: tensor<?x8xf64>, %out: tensor<?x8xf64>) -> (tensor<?x8xf64>) {
    %a = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<?x8xf64> to tensor<8xf64>
    // expected-error @below {{'math.erf' op cannot be compiled for the device on type 'f64', in 'f$0'}}
    %b = math.erf %a : tensor<8xf64>
    %r = tensor.insert_slice %b into %out[%i, 0] [1, 8] [1, 1] : tensor<8xf64> into tensor<?x8xf64>
    dataflow.yield %r : tensor<?x8xf64>
  }
}

// -----

dataflow.program @dynamic(%x: tensor<?x?xf32>, %out: tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  dataflow.tasks @t(i = %n)
  dataflow.finalize @f tasks @t operands(%x : tensor<?x?xf32>) outs(%out : tensor<?x8xf32>) : () -> ()
  dataflow.handler @f(%i: index, %x: tensor<?x?xf32>, %out: tensor<?x8xf32>) -> (tensor<?x8xf32>) {
    %c1 = arith.constant 1 : index
    %w = tensor.dim %x, %c1 : tensor<?x?xf32>
    // expected-error @below {{a tensor of dynamic size needs a buffer here, which the device code generator does not allocate; make its shape static}}
    %a = tensor.extract_slice %x[%i, 0] [1, %w] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
    %b = arith.addf %a, %a : tensor<?xf32>
    %d = tensor.extract_slice %b[0] [8] [1] : tensor<?xf32> to tensor<8xf32>
    %r = tensor.insert_slice %d into %out[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<?x8xf32>
    dataflow.yield %r : tensor<?x8xf32>
  }
}

// -----

// The second column of the output would not keep its ones.
dataflow.program @column(%x: tensor<?x8xf32>, %out: tensor<?x8x2xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  dataflow.tasks @t(i = %n)
  dataflow.finalize @f tasks @t operands(%x : tensor<?x8xf32>) outs(%out : tensor<?x8x2xf32>) : () -> ()
  dataflow.handler @f(%i: index, %x: tensor<?x8xf32>, %out: tensor<?x8x2xf32>) -> (tensor<?x8x2xf32>) {
    %one = arith.constant 1.0 : f32
    %a = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
    %ones = tensor.splat %one : tensor<8x2xf32>
    // expected-error @below {{writes only a part of output 0, whose other elements would be lost: its map is affine_map<(d0) -> (d0, 0)>}}
    %b = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d, 0)>], iterator_types = ["parallel"]}
        ins(%a : tensor<8xf32>) outs(%ones : tensor<8x2xf32>) {
    ^bb0(%v: f32, %o: f32):
      linalg.yield %v : f32
    } -> tensor<8x2xf32>
    %r = tensor.insert_slice %b into %out[%i, 0, 0] [1, 8, 2] [1, 1, 1] : tensor<8x2xf32> into tensor<?x8x2xf32>
    dataflow.yield %r : tensor<?x8x2xf32>
  }
}
