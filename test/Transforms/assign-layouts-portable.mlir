// RUN: df-opt %s --split-input-file --dataflow-split-roles --dataflow-assign-layouts --dataflow-verify-kernel | FileCheck %s
// RUN: df-opt %s --split-input-file --dataflow-split-roles --dataflow-assign-layouts --remark-policy=all --remark-format=emitRemark --remarks-filter="dataflow" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// What the fragment path does not take stays portable: a remark names the operation and the reason, streams stay row-major.

// REMARK: remark: [Missed] assign-layouts | Category:dataflow | Function=wide | Remark="stays portable because of 'linalg.contract': the tensor cores take two operands of one 8-bit or 16-bit floating-point type and sum in f32, got f32, f32 and f32"
// REMARK: remark: [Passed] assign-layouts | Category:dataflow | Function=copy | Remark="laid out over 2 warpgroups
// REMARK: LaidOut=1, Portable=1, SwizzledStreams=0
// CHECK-LABEL: dataflow.program @types
// CHECK: dataflow.stream @a depth {{[0-9]+}} of tensor<64x64xf32>{{( evict_first)?$}}
// CHECK: dataflow.part @wide_compute of @wide compute
// CHECK-NOT: fragments
// CHECK: dataflow.part @copy_compute of @copy compute
// CHECK-SAME: attributes {fragments}
dataflow.program @types(%a: tensor<64x64xf32>, %c: tensor<64x64xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @wide tasks @one operands(%a : tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) : () -> ()
  dataflow.finalize @copy tasks @one operands(%a : tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) : () -> ()
  dataflow.handler @wide(%a: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %x = tensor.extract_slice %a[0, 0] [64, 64] [1, 1] : tensor<64x64xf32> to tensor<64x64xf32>
    %s = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
        ins(%x, %x : tensor<64x64xf32>, tensor<64x64xf32>) outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
    %r = tensor.insert_slice %s into %c[0, 0] [64, 64] [1, 1] : tensor<64x64xf32> into tensor<64x64xf32>
    dataflow.yield %r : tensor<64x64xf32>
  }
  dataflow.handler @copy(%a: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %r = arith.negf %a : tensor<64x64xf32>
    %s = tensor.insert_slice %r into %c[0, 0] [64, 64] [1, 1] : tensor<64x64xf32> into tensor<64x64xf32>
    dataflow.yield %s : tensor<64x64xf32>
  }
}

// -----

// REMARK: Function=rows | Remark="stays portable because of 'dataflow.dot': a product of 40 x 24 needs a multiple of 64 in one dimension and of 8 in the other"
// CHECK-LABEL: dataflow.program @shapes
dataflow.program @shapes(%a: tensor<40x64xf16>, %b: tensor<24x64xf16>, %c: tensor<40x24xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @rows tasks @one operands(%a, %b : tensor<40x64xf16>, tensor<24x64xf16>) outs(%c : tensor<40x24xf32>) : () -> ()
  dataflow.handler @rows(%a: tensor<40x64xf16>, %b: tensor<24x64xf16>, %c: tensor<40x24xf32>) -> tensor<40x24xf32> {
    %zero = arith.constant dense<0.0> : tensor<40x24xf32>
    %s = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
        ins(%a, %b : tensor<40x64xf16>, tensor<24x64xf16>) outs(%zero : tensor<40x24xf32>) -> tensor<40x24xf32>
    %r = tensor.insert_slice %s into %c[0, 0] [40, 24] [1, 1] : tensor<40x24xf32> into tensor<40x24xf32>
    dataflow.yield %r : tensor<40x24xf32>
  }
}

// -----

// Narrow elements with the contracted dimension first cannot be read from shared memory.
// REMARK: Function=first | Remark="stays portable because of 'dataflow.dot': operands of 8-bit elements must have the contracted dimension last"
// CHECK-LABEL: dataflow.program @majors
dataflow.program @majors(%a: tensor<64x128xf8E5M2>, %b: tensor<128x64xf8E5M2>, %c: tensor<64x64xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @first tasks @one operands(%a, %b : tensor<64x128xf8E5M2>, tensor<128x64xf8E5M2>) outs(%c : tensor<64x64xf32>) : () -> ()
  dataflow.handler @first(%a: tensor<64x128xf8E5M2>, %b: tensor<128x64xf8E5M2>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %s = linalg.matmul ins(%a, %b : tensor<64x128xf8E5M2>, tensor<128x64xf8E5M2>) outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
    %r = tensor.insert_slice %s into %c[0, 0] [64, 64] [1, 1] : tensor<64x64xf32> into tensor<64x64xf32>
    dataflow.yield %r : tensor<64x64xf32>
  }
}

// -----

// An element of a computed tile, a reduction by two operations, an output that is read back, elements that are gathered from a
// computed tile.
// REMARK: Function=element | Remark="stays portable because of 'tensor.extract': it takes one element of a tile out of registers"
// REMARK: Function=both | Remark="stays portable because of 'linalg.generic': it does not reduce by one sum, product, maximum, minimum, and, or"
// REMARK: Function=again | Remark="stays portable because of 'arith.negf': it reads an output that was written before"
// REMARK: Function=gather | Remark="stays portable because of 'tensor.extract': it takes elements of a tile out of registers"
// REMARK: LaidOut=0, Portable=4, SwizzledStreams=0
// CHECK-LABEL: dataflow.program @operations
// CHECK-NOT: dataflow.kernel
dataflow.program @operations(%a: tensor<64xf32>, %c: tensor<64xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @element tasks @one operands(%a : tensor<64xf32>) outs(%c : tensor<64xf32>) : () -> ()
  dataflow.finalize @both tasks @one operands(%a : tensor<64xf32>) outs(%c : tensor<64xf32>) : () -> ()
  dataflow.finalize @again tasks @one operands(%a : tensor<64xf32>) outs(%c : tensor<64xf32>) : () -> ()
  dataflow.finalize @gather tasks @one operands(%a : tensor<64xf32>) outs(%c : tensor<64xf32>) : () -> ()
  dataflow.handler @element(%a: tensor<64xf32>, %c: tensor<64xf32>) -> tensor<64xf32> {
    %c0 = arith.constant 0 : index
    %x = arith.negf %a : tensor<64xf32>
    %e = tensor.extract %x[%c0] : tensor<64xf32>
    %f = tensor.splat %e : tensor<64xf32>
    dataflow.yield %f : tensor<64xf32>
  }
  dataflow.handler @both(%a: tensor<64xf32>, %c: tensor<64xf32>) -> tensor<64xf32> {
    %zero = arith.constant dense<0.0> : tensor<f32>
    %s = linalg.reduce ins(%a : tensor<64xf32>) outs(%zero : tensor<f32>) dimensions = [0]
        (%x: f32, %o: f32) {
          %y = arith.mulf %o, %o : f32
          %z = arith.addf %x, %y : f32
          linalg.yield %z : f32
        }
    %e = tensor.extract %s[] : tensor<f32>
    %f = tensor.splat %e : tensor<64xf32>
    dataflow.yield %f : tensor<64xf32>
  }
  dataflow.handler @again(%a: tensor<64xf32>, %c: tensor<64xf32>) -> tensor<64xf32> {
    %x = arith.negf %a : tensor<64xf32>
    %y = tensor.insert_slice %x into %c[0] [64] [1] : tensor<64xf32> into tensor<64xf32>
    %z = arith.negf %y : tensor<64xf32>
    %r = tensor.insert_slice %z into %y[0] [64] [1] : tensor<64xf32> into tensor<64xf32>
    dataflow.yield %r : tensor<64xf32>
  }
  dataflow.handler @gather(%a: tensor<64xf32>, %c: tensor<64xf32>) -> tensor<64xf32> {
    %root = math.sqrt %a : tensor<64xf32>
    %c63 = arith.constant 63 : index
    %e = tensor.empty() : tensor<64xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<64xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %j = arith.subi %c63, %i : index
      %x = tensor.extract %root[%j] : tensor<64xf32>
      linalg.yield %x : f32
    } -> tensor<64xf32>
    dataflow.yield %r : tensor<64xf32>
  }
}

// -----

// Tiles of too many registers; two warpgroups are enough for the second, and then all parts have two.
// REMARK: Function=huge | Remark="stays portable because of 'dataflow.dot': tiles need 1024 registers a thread here, at most 188 are available"
// REMARK: Function=large | Remark="laid out over 2 warpgroups
// CHECK-LABEL: dataflow.program @registers
// CHECK: dataflow.kernel @kernel consumers 2
// CHECK: dataflow.dot {{.*}} tensor<128x256xf32, #dataflow.fragment<accumulator [128, 256] m {{[01]}} groups 2
dataflow.program @registers(%a: tensor<512x64xf16>, %b: tensor<256x64xf16>, %c: tensor<512x256xf32>) {
  dataflow.tasks @one()
  dataflow.finalize @huge tasks @one operands(%a, %b : tensor<512x64xf16>, tensor<256x64xf16>) outs(%c : tensor<512x256xf32>) : () -> ()
  dataflow.finalize @large tasks @one operands(%a, %b : tensor<512x64xf16>, tensor<256x64xf16>) outs(%c : tensor<512x256xf32>) : () -> ()
  dataflow.handler @huge(%a: tensor<512x64xf16>, %b: tensor<256x64xf16>, %c: tensor<512x256xf32>) -> tensor<512x256xf32> {
    %zero = arith.constant dense<0.0> : tensor<512x512xf32>
    %x = tensor.extract_slice %a[0, 0] [512, 64] [1, 1] : tensor<512x64xf16> to tensor<512x64xf16>
    %s = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
        ins(%x, %x : tensor<512x64xf16>, tensor<512x64xf16>) outs(%zero : tensor<512x512xf32>) -> tensor<512x512xf32>
    %m = arith.constant dense<0.0> : tensor<512xf32>
    %rows = linalg.reduce { arith.maximumf } ins(%s : tensor<512x512xf32>) outs(%m : tensor<512xf32>) dimensions = [1]
    %r = tensor.insert_slice %rows into %c[0, 0] [512, 1] [1, 1] : tensor<512xf32> into tensor<512x256xf32>
    dataflow.yield %r : tensor<512x256xf32>
  }
  dataflow.handler @large(%a: tensor<512x64xf16>, %b: tensor<256x64xf16>, %c: tensor<512x256xf32>) -> tensor<512x256xf32> {
    %zero = arith.constant dense<0.0> : tensor<128x256xf32>
    %x = tensor.extract_slice %a[0, 0] [128, 64] [1, 1] : tensor<512x64xf16> to tensor<128x64xf16>
    %both = tensor.extract_slice %b[0, 0] [256, 64] [1, 1] : tensor<256x64xf16> to tensor<256x64xf16>
    %s = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
        ins(%x, %both : tensor<128x64xf16>, tensor<256x64xf16>) outs(%zero : tensor<128x256xf32>) -> tensor<128x256xf32>
    %r = tensor.insert_slice %s into %c[0, 0] [128, 256] [1, 1] : tensor<128x256xf32> into tensor<512x256xf32>
    dataflow.yield %r : tensor<512x256xf32>
  }
}
