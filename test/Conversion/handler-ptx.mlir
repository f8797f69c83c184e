// RUN: df-opt %s --dataflow-specialize-program --dataflow-handlers-to-llvm | df-translate --dataflow-to-ptx | FileCheck %s
// RUN: df-opt %S/../../examples/hello/ragged_sum.mlir --dataflow-specialize-program --dataflow-handlers-to-llvm | df-translate --dataflow-to-ptx | FileCheck %s --check-prefix=EXAMPLE -DENTRY='sum_piece$0$entry'
// RUN: df-opt %S/../../examples/mla-decode/mla_decode.mlir --dataflow-specialize-program --dataflow-handlers-to-llvm | df-translate --dataflow-to-ptx | FileCheck %s --check-prefix=EXAMPLE -DENTRY='attend$0$entry'
// RUN: df-opt %S/../../examples/mla-decode/mla_decode.mlir --dataflow-specialize-program="params=heads=16,element=f8E4M3FN" --dataflow-handlers-to-llvm | df-translate --dataflow-to-ptx | FileCheck %s --check-prefix=EXAMPLE -DENTRY='attend$0$entry'
// RUN: df-opt %S/../../examples/mla-decode/mla_decode_dense.mlir --dataflow-specialize-program="params=heads=16,element=bf16" --dataflow-handlers-to-llvm | df-translate --dataflow-to-ptx | FileCheck %s --check-prefix=EXAMPLE -DENTRY='attend$0$entry'
// All functions of the math dialect compile without a library, and the module passes the lints.

// EXAMPLE-NOT: .extern .func
// EXAMPLE: .entry [[ENTRY]]
// EXAMPLE-NOT: call

// CHECK-NOT: .extern .func
// CHECK: .entry all$0$entry
// CHECK: ex2.approx.f32
// CHECK-NOT: call
dataflow.program @functions(%x: tensor<?x64xf32>, %y: tensor<?x64xf64>, %out: tensor<?x64xf32>, %out2: tensor<?x64xf64>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  dataflow.tasks @t(i = %n)
  dataflow.finalize @all tasks @t operands(%x, %y : tensor<?x64xf32>, tensor<?x64xf64>)
      outs(%out, %out2 : tensor<?x64xf32>, tensor<?x64xf64>) : () -> ()
  dataflow.handler @all(%i: index, %x: tensor<?x64xf32>, %y: tensor<?x64xf64>, %out: tensor<?x64xf32>,
                        %out2: tensor<?x64xf64>) -> (tensor<?x64xf32>, tensor<?x64xf64>) {
    %0 = tensor.extract_slice %x[%i, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
    %1 = math.exp %0 : tensor<64xf32>
    %2 = math.exp2 %1 : tensor<64xf32>
    %3 = math.expm1 %2 : tensor<64xf32>
    %4 = math.log %3 : tensor<64xf32>
    %5 = math.log2 %4 : tensor<64xf32>
    %6 = math.log10 %5 : tensor<64xf32>
    %7 = math.log1p %6 : tensor<64xf32>
    %8 = math.sin %7 : tensor<64xf32>
    %9 = math.cos %8 : tensor<64xf32>
    %10 = math.tan %9 : tensor<64xf32>
    %11 = math.atan %10 : tensor<64xf32>
    %12 = math.atan2 %11, %0 : tensor<64xf32>
    %13 = math.asin %12 : tensor<64xf32>
    %14 = math.acos %13 : tensor<64xf32>
    %15 = math.sinh %14 : tensor<64xf32>
    %16 = math.cosh %15 : tensor<64xf32>
    %17 = math.tanh %16 : tensor<64xf32>
    %18 = math.asinh %17 : tensor<64xf32>
    %19 = math.acosh %18 : tensor<64xf32>
    %20 = math.atanh %19 : tensor<64xf32>
    %21 = math.erf %20 : tensor<64xf32>
    %22 = math.erfc %21 : tensor<64xf32>
    %23 = math.sqrt %22 : tensor<64xf32>
    %24 = math.rsqrt %23 : tensor<64xf32>
    %25 = math.cbrt %24 : tensor<64xf32>
    %26 = math.powf %25, %0 : tensor<64xf32>
    %27 = math.floor %26 : tensor<64xf32>
    %28 = math.ceil %27 : tensor<64xf32>
    %29 = math.round %28 : tensor<64xf32>
    %30 = math.roundeven %29 : tensor<64xf32>
    %31 = math.trunc %30 : tensor<64xf32>
    %32 = math.copysign %31, %0 : tensor<64xf32>
    %33 = math.absf %32 : tensor<64xf32>
    %34 = math.fma %33, %0, %1 : tensor<64xf32>
    %35 = arith.maximumf %34, %0 : tensor<64xf32>
    %36 = arith.minnumf %35, %1 : tensor<64xf32>
    %37 = arith.truncf %36 : tensor<64xf32> to tensor<64xf16>
    %38 = math.tanh %37 : tensor<64xf16>
    %39 = arith.extf %38 : tensor<64xf16> to tensor<64xf32>
    %new = tensor.insert_slice %39 into %out[%i, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<?x64xf32>
    %40 = tensor.extract_slice %y[%i, 0] [1, 64] [1, 1] : tensor<?x64xf64> to tensor<64xf64>
    %41 = math.exp %40 : tensor<64xf64>
    %42 = math.exp2 %41 : tensor<64xf64>
    %43 = math.log %42 : tensor<64xf64>
    %44 = math.sin %43 : tensor<64xf64>
    %45 = math.tanh %44 : tensor<64xf64>
    %46 = math.powf %45, %40 : tensor<64xf64>
    %47 = math.sqrt %46 : tensor<64xf64>
    %48 = arith.maximumf %47, %40 : tensor<64xf64>
    // A table of constants.
    %table = arith.constant dense<[0.5, 0.25, 3.0, 7.0]> : tensor<4xf64>
    %c4 = arith.constant 4 : index
    %j = arith.remui %i, %c4 : index
    %entry = tensor.extract %table[%j] : tensor<4xf64>
    %entries = tensor.splat %entry : tensor<64xf64>
    %49 = arith.mulf %48, %entries : tensor<64xf64>
    %new2 = tensor.insert_slice %49 into %out2[%i, 0] [1, 64] [1, 1] : tensor<64xf64> into tensor<?x64xf64>
    dataflow.yield %new, %new2 : tensor<?x64xf32>, tensor<?x64xf64>
  }
}
