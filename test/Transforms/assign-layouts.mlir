// RUN: df-opt %s --split-input-file --dataflow-split-roles --dataflow-assign-layouts --dataflow-verify-kernel | FileCheck %s
// RUN: df-opt %s --split-input-file --dataflow-split-roles --dataflow-assign-layouts --remark-policy=all --remark-format=emitRemark --remarks-filter="dataflow" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// Products become dataflow.dot, whatever stands around them; layouts of other tiles follow.

// A product of two operands with the contracted dimension last; bias, soft cap and rounding behind it.
// CHECK-LABEL: dataflow.program @narrow
dataflow.program @narrow(%a: tensor<1024x512xbf16>, %b: tensor<1024x512xbf16>, %bias: tensor<1024xf32>, %c: tensor<1024x1024xbf16>) {
  %c8 = arith.constant 8 : index
  dataflow.tasks @tiles(row = %c8, column = %c8)
  dataflow.finalize @tile tasks @tiles operands(%a, %b, %bias : tensor<1024x512xbf16>, tensor<1024x512xbf16>, tensor<1024xf32>)
      outs(%c : tensor<1024x1024xbf16>) : () -> ()
  dataflow.handler @tile(%row: index, %column: index, %a: tensor<1024x512xbf16>, %b: tensor<1024x512xbf16>, %bias: tensor<1024xf32>,
                         %c: tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16> {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c512 = arith.constant 512 : index
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %m = arith.muli %row, %c128 : index
    %n = arith.muli %column, %c128 : index
    %sum = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero) -> tensor<128x128xf32> {
      %x = tensor.extract_slice %a[%m, %k] [128, 64] [1, 1] : tensor<1024x512xbf16> to tensor<128x64xbf16>
      %y = tensor.extract_slice %b[%n, %k] [128, 64] [1, 1] : tensor<1024x512xbf16> to tensor<128x64xbf16>
      %s = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
          ins(%x, %y : tensor<128x64xbf16>, tensor<128x64xbf16>) outs(%acc : tensor<128x128xf32>) -> tensor<128x128xf32>
      scf.yield %s : tensor<128x128xf32>
    }
    %shift = tensor.extract_slice %bias[%n] [128] [1] : tensor<1024xf32> to tensor<128xf32>
    %empty = tensor.empty() : tensor<128x128xf32>
    %biased = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                              iterator_types = ["parallel", "parallel"]}
        ins(%sum, %shift : tensor<128x128xf32>, tensor<128xf32>) outs(%empty : tensor<128x128xf32>) {
    ^bb0(%s: f32, %v: f32, %o: f32):
      %x = arith.addf %s, %v : f32
      linalg.yield %x : f32
    } -> tensor<128x128xf32>
    %capped = math.tanh %biased : tensor<128x128xf32>
    %rounded = arith.truncf %capped : tensor<128x128xf32> to tensor<128x128xbf16>
    %r = tensor.insert_slice %rounded into %c[%m, %n] [128, 128] [1, 1] : tensor<128x128xbf16> into tensor<1024x1024xbf16>
    dataflow.yield %r : tensor<1024x1024xbf16>
  }
}
// CHECK: dataflow.kernel @kernel consumers 1
// CHECK-NEXT: dataflow.stream @a depth {{.*}} of tensor<128x64xbf16> layout <swizzle = 128
// CHECK-NEXT: dataflow.stream @b depth {{.*}} of tensor<128x64xbf16> layout <swizzle = 128
// CHECK: dataflow.part @tile_compute of @tile compute
// CHECK-SAME: attributes {fragments}
// CHECK: %[[ZERO:.*]] = tensor.splat %{{.*}} : tensor<128x128xf32, #dataflow.fragment<accumulator [128, 128] m 0>>
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[ZERO]])
// CHECK:   %[[X:.*]] = dataflow.take @a : tensor<128x64xbf16, #dataflow.shared<swizzle = 128
// CHECK:   %[[Y:.*]] = dataflow.take @b : tensor<128x64xbf16, #dataflow.shared<swizzle = 128
// CHECK:   dataflow.dot %[[X]] contract 1, %[[Y]] contract 1, %[[ACC]] : tensor<128x64xbf16
// The bias is loaded as the columns of the result lie.
// CHECK: %[[SHIFT:.*]] = tensor.extract_slice
// CHECK-NEXT: dataflow.convert_layout %[[SHIFT]] : tensor<128xf32> to tensor<128xf32, #dataflow.fragment<[128] block [8] registers [0:1] lanes [0:2, 0:4, _, _, _] warps [_, _]>>
// CHECK: math.tanh %{{.*}} : tensor<128x128xf32, #dataflow.fragment<accumulator [128, 128] m 0>>
// CHECK: %[[ROUNDED:.*]] = arith.truncf
// CHECK: %[[STORED:.*]] = dataflow.convert_layout %[[ROUNDED]] : tensor<128x128xbf16, #dataflow.fragment<accumulator [128, 128] m 0>> to tensor<128x128xbf16>
// CHECK: tensor.insert_slice %[[STORED]]
// REMARK: [Passed] assign-layouts | Category:dataflow | Function=tile | Remark="wgmma with M = 128, N = 128, K = 64: A in its stage, B in its stage"
// REMARK: [Passed] assign-layouts | Category:dataflow | Function=tile | Remark="laid out over a warpgroup: cost
// REMARK: [Passed] assign-layouts | Category:dataflow | Function=narrow | LaidOut=1, Portable=0, SwizzledStreams=2

// -----

// 8-bit elements, widened by the program: the product is of the narrow ones. More columns than rows of wgmma: transposed would pad.
// CHECK-LABEL: dataflow.program @eight
dataflow.program @eight(%a: tensor<64x512xf8E4M3FN>, %b: tensor<1024x512xf8E4M3FN>, %c: tensor<64x1024xf32>) {
  %c8 = arith.constant 8 : index
  dataflow.tasks @tiles(column = %c8)
  dataflow.finalize @tile tasks @tiles operands(%a, %b : tensor<64x512xf8E4M3FN>, tensor<1024x512xf8E4M3FN>)
      outs(%c : tensor<64x1024xf32>) : () -> ()
  dataflow.handler @tile(%column: index, %a: tensor<64x512xf8E4M3FN>, %b: tensor<1024x512xf8E4M3FN>, %c: tensor<64x1024xf32>)
      -> tensor<64x1024xf32> {
    %c128 = arith.constant 128 : index
    %zero = arith.constant dense<0.0> : tensor<64x40xf32>
    %n = arith.muli %column, %c128 : index
    %x = tensor.extract_slice %a[0, 0] [64, 128] [1, 1] : tensor<64x512xf8E4M3FN> to tensor<64x128xf8E4M3FN>
    %y = tensor.extract_slice %b[%n, 0] [40, 128] [1, 1] : tensor<1024x512xf8E4M3FN> to tensor<40x128xf8E4M3FN>
    %xf = arith.extf %x : tensor<64x128xf8E4M3FN> to tensor<64x128xf32>
    %yf = arith.extf %y : tensor<40x128xf8E4M3FN> to tensor<40x128xf32>
    %s = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
        ins(%xf, %yf : tensor<64x128xf32>, tensor<40x128xf32>) outs(%zero : tensor<64x40xf32>) -> tensor<64x40xf32>
    %r = tensor.insert_slice %s into %c[0, %n] [64, 40] [1, 1] : tensor<64x40xf32> into tensor<64x1024xf32>
    dataflow.yield %r : tensor<64x1024xf32>
  }
}
// CHECK: dataflow.part @tile_compute
// CHECK: dataflow.dot %{{.*}} contract 1, %{{.*}} contract 1, %{{.*}} : tensor<64x128xf8E4M3FN, #dataflow.shared<swizzle = 128{{.*}}>>, tensor<40x128xf8E4M3FN, #dataflow.shared<swizzle = 128{{.*}}>>, tensor<64x40xf32, #dataflow.fragment<accumulator [64, 40] m 0>>

// -----

// A product of a product: its rows are in the registers that hold the first one's.
// CHECK-LABEL: dataflow.program @chain
dataflow.program @chain(%x: tensor<1024x64xf16>, %v: tensor<64x64xf16>, %w: tensor<64x64xf16>, %y: tensor<1024x64xf32>) {
  %c16 = arith.constant 16 : index
  dataflow.tasks @rows(row = %c16)
  dataflow.finalize @both tasks @rows operands(%x, %v, %w : tensor<1024x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>)
      outs(%y : tensor<1024x64xf32>) : () -> ()
  dataflow.handler @both(%row: index, %x: tensor<1024x64xf16>, %v: tensor<64x64xf16>, %w: tensor<64x64xf16>, %y: tensor<1024x64xf32>)
      -> tensor<1024x64xf32> {
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %m = arith.muli %row, %c64 : index
    %a = tensor.extract_slice %x[%m, 0] [64, 64] [1, 1] : tensor<1024x64xf16> to tensor<64x64xf16>
    %b = tensor.extract_slice %v[0, 0] [64, 64] [1, 1] : tensor<64x64xf16> to tensor<64x64xf16>
    %c = tensor.extract_slice %w[0, 0] [64, 64] [1, 1] : tensor<64x64xf16> to tensor<64x64xf16>
    %s = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
        ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
    %p = arith.maximumf %s, %zero : tensor<64x64xf32>
    %h = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xf16>
    %t = linalg.matmul ins(%h, %c : tensor<64x64xf16>, tensor<64x64xf16>) outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
    %r = tensor.insert_slice %t into %y[%m, 0] [64, 64] [1, 1] : tensor<64x64xf32> into tensor<1024x64xf32>
    dataflow.yield %r : tensor<1024x64xf32>
  }
}
// CHECK: dataflow.part @both_compute
// CHECK: %[[S:.*]] = dataflow.dot {{.*}} m 0>>
// CHECK: %[[P:.*]] = arith.maximumf %[[S]]
// CHECK: %[[H:.*]] = arith.truncf %[[P]]
// Nothing moves, nothing is staged; the second operand is read along its rows.
// CHECK-NOT: convert_layout
// CHECK: dataflow.dot %[[H]] contract 1, %{{.*}} contract 0, %{{.*}} : tensor<64x64xf16, #dataflow.fragment<accumulator [64, 64] m 0>>, tensor<64x64xf16, #dataflow.shared
// REMARK: Function=both | Remark="wgmma with M = 64, N = 64, K = 64: A in its stage, B in its stage"
// REMARK: Function=both | Remark="wgmma with M = 64, N = 64, K = 64: A in registers, B in its stage"

// -----

// No products and no streams: a kernel is made all the same, and tiles lie as memory is accessed. A sum of rows crosses lanes.
// CHECK-LABEL: dataflow.program @plain
dataflow.program @plain(%x: tensor<64x128xf32>, %y: tensor<64x128xf32>) {
  %c4 = arith.constant 4 : index
  dataflow.tasks @rows(row = %c4)
  dataflow.finalize @scale tasks @rows operands(%x : tensor<64x128xf32>) outs(%y : tensor<64x128xf32>) : () -> ()
  dataflow.handler @scale(%row: index, %x: tensor<64x128xf32>, %y: tensor<64x128xf32>) -> tensor<64x128xf32> {
    %zero = arith.constant dense<0.0> : tensor<1xf32>
    %a = tensor.extract_slice %x[%row, 0] [1, 128] [1, 1] : tensor<64x128xf32> to tensor<1x128xf32>
    %s = linalg.reduce { arith.addf } ins(%a : tensor<1x128xf32>) outs(%zero : tensor<1xf32>) dimensions = [1]
    %e = tensor.empty() : tensor<1x128xf32>
    %w = linalg.broadcast ins(%s : tensor<1xf32>) outs(%e : tensor<1x128xf32>) dimensions = [1]
    %q = arith.divf %a, %w : tensor<1x128xf32>
    %r = tensor.insert_slice %q into %y[%row, 0] [1, 128] [1, 1] : tensor<1x128xf32> into tensor<64x128xf32>
    dataflow.yield %r : tensor<64x128xf32>
  }
}
// CHECK: dataflow.kernel @kernel consumers 1
// CHECK-NEXT: dataflow.part @scale_compute of @scale compute
// CHECK: %[[A:.*]] = tensor.extract_slice
// CHECK: %[[F:.*]] = dataflow.convert_layout %[[A]] : tensor<1x128xf32> to tensor<1x128xf32, #dataflow.fragment<[1, 128] block [1, 128] registers [{{.*}}] lanes [1:4, 1:8, 1:16, 1:32, 1:64] warps [_, _]>>
// CHECK: linalg.generic {{.*}}"reduction"{{.*}} ins(%[[F]]
