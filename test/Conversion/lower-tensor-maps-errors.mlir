// RUN: df-opt %s --dataflow-parts-to-llvm --verify-diagnostics
// A layout that tensor maps cannot make is an error at the fill, with the reason.

dataflow.program @maps(%rows: tensor<?x192xf16>, %y: tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?xi32>
  dataflow.tasks @tasks(task = %n)
  %counts = dataflow.map @read tasks @tasks operands(%rows : tensor<?x192xf16>) : () -> !dataflow.channel<!dataflow.record<n: i32>>
  dataflow.finalize @store(%counts) tasks @tasks outs(%y : tensor<?xi32>) : (!dataflow.channel<!dataflow.record<n: i32>>) -> ()
  dataflow.handler @read(%task: index, %rows: tensor<?x192xf16>) -> i32 {
    %number = arith.constant 1 : i32
    dataflow.yield %number : i32
  }
  dataflow.handler @store(%task: index, %n: i32, %y: tensor<?xi32>) -> tensor<?xi32> {
    %r = tensor.insert %n into %y[%task] : tensor<?xi32>
    dataflow.yield %r : tensor<?xi32>
  }
  dataflow.kernel @kernel {
    // expected-note @below {{the stream has a layout}}
    dataflow.stream @rows depth 2 of tensor<32x192xf16> layout <swizzle = 128, row_group = 3072, chunk = 1024>
    dataflow.part @read_load of @read load(%task: index, %rows: tensor<?x192xf16>) {
      // expected-error @below {{cannot be made of copies through a tensor map: source and tile are not known to be whole groups of 8 rows}}
      dataflow.fill @rows, %rows[%task, 0] [32, 192] [1, 1] : tensor<?x192xf16> to tensor<32x192xf16>
      dataflow.yield
    }
    dataflow.part @read_compute of @read compute(%task: index, %rows: tensor<?x192xf16>) -> i32 {
      %0 = dataflow.take @rows : tensor<32x192xf16, #dataflow.shared<swizzle = 128, row_group = 3072, chunk = 1024>>
      dataflow.give @rows
      %number = arith.constant 1 : i32
      dataflow.yield %number : i32
    }
  }
}
