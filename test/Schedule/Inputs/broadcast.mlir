dataflow.program @broadcast(%scale: tensor<1xf32>, %y: tensor<2xf32>)
    attributes {dataflow.inputs = {}} {
  %c2 = arith.constant 2 : index
  dataflow.tasks @one()
  dataflow.tasks @all(i = %c2)
  %head = dataflow.map @load tasks @one operands(%scale : tensor<1xf32>)
      : () -> !dataflow.channel<!dataflow.record<s: f32>>
  dataflow.finalize @store(%head) tasks @all outs(%y : tensor<2xf32>)
      : (!dataflow.channel<!dataflow.record<s: f32>>) -> ()
  dataflow.handler @load(%scale: tensor<1xf32>) -> f32 {
    %c0 = arith.constant 0 : index
    %s = tensor.extract %scale[%c0] : tensor<1xf32>
    dataflow.yield %s : f32
  }
  dataflow.handler @store(%i: index, %s: f32, %y: tensor<2xf32>) -> tensor<2xf32> {
    %r = tensor.insert %s into %y[%i] : tensor<2xf32>
    dataflow.yield %r : tensor<2xf32>
  }
