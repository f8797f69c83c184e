// RUN: df-opt %s --dataflow-verify-device --split-input-file --verify-diagnostics

// A module that is right, so that each of the others has one fault.
gpu.module @right attributes {dataflow.kernel = {symbol = "k", threads = 384 : i64, parameter_bytes = 256 : i64}} {
  llvm.func internal @dfk_sync() {
    %c1 = arith.constant 1 : i32
    %c256 = arith.constant 256 : i32
    nvvm.barrier id = %c1 number_of_threads = %c256
    llvm.return
  }
  llvm.func internal @dfk_fill_queue(%b: !llvm.ptr<7>, %m: !llvm.ptr<3>, %parity: i32) {
    nvvm.mbarrier.arrive %b {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>
    %done = nvvm.mbarrier.try_wait %m, %parity {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<3>, i32 -> i1
    llvm.return
  }
  llvm.func @k(%p: !llvm.ptr {llvm.byval = !llvm.array<256 x i8>, nvvm.grid_constant})
      attributes {nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384, 1, 1>} {
    llvm.call @dfk_sync() : () -> ()
    llvm.return
  }
}

// -----

// expected-error @below {{[G1] holds no kernel k}}
gpu.module @no_kernel attributes {dataflow.kernel = {symbol = "k", threads = 384 : i64, parameter_bytes = 256 : i64}} {
  llvm.func @k(%p: !llvm.ptr) {
    llvm.return
  }
}

// -----

gpu.module @threads attributes {dataflow.kernel = {symbol = "k", threads = 256 : i64, parameter_bytes = 256 : i64}} {
  // expected-error @below {{[G1] kernel 'k' does not require 256 threads, as the module says}}
  llvm.func @k(%p: !llvm.ptr {llvm.byval = !llvm.array<256 x i8>, nvvm.grid_constant})
      attributes {nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384, 1, 1>} {
    llvm.return
  }
}

// -----

gpu.module @several attributes {dataflow.kernel = {symbol = "k", threads = 384 : i64, parameter_bytes = 256 : i64}} {
  // expected-error @below {{[G1] kernel 'k' does not say that one CTA fills an SM}}
  llvm.func @k(%p: !llvm.ptr {llvm.byval = !llvm.array<256 x i8>, nvvm.grid_constant})
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 384, 1, 1>} {
    llvm.return
  }
}

// -----

gpu.module @parameter attributes {dataflow.kernel = {symbol = "k", threads = 384 : i64, parameter_bytes = 320 : i64}} {
  // expected-error @below {{[G1] kernel 'k' does not take one grid constant of 320 bytes, as the module says}}
  llvm.func @k(%p: !llvm.ptr {llvm.byval = !llvm.array<256 x i8>, nvvm.grid_constant})
      attributes {nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384, 1, 1>} {
    llvm.return
  }
}

// -----

gpu.module @block attributes {dataflow.kernel = {symbol = "k", threads = 384 : i64, parameter_bytes = 256 : i64}} {
  llvm.func @k(%p: !llvm.ptr {llvm.byval = !llvm.array<256 x i8>, nvvm.grid_constant})
      attributes {nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384, 1, 1>} {
    // expected-error @below {{[G2] needs a number other than 0 and a number of threads}}
    nvvm.barrier
    llvm.return
  }
}

// -----

gpu.module @load_role attributes {dataflow.kernel = {symbol = "k", threads = 384 : i64, parameter_bytes = 256 : i64}} {
  llvm.func internal @dfk_sync() {
    %c1 = arith.constant 1 : i32
    %c256 = arith.constant 256 : i32
    // expected-error @below {{[G3] is executed by the load warp, through 'dfk_sync'}}
    nvvm.barrier id = %c1 number_of_threads = %c256
    llvm.return
  }
  llvm.func internal @dfk_draw() {
    llvm.call @dfk_sync() : () -> ()
    llvm.return
  }
  llvm.func @k(%p: !llvm.ptr {llvm.byval = !llvm.array<256 x i8>, nvvm.grid_constant})
      attributes {nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384, 1, 1>} {
    llvm.return
  }
}

// -----

gpu.module @remote attributes {dataflow.kernel = {symbol = "k", threads = 384 : i64, parameter_bytes = 256 : i64}} {
  llvm.func internal @send(%b: !llvm.ptr<7>) {
    // expected-error @below {{[G4] needs scope = #nvvm.mem_scope<cluster>: its barrier belongs to another CTA}}
    nvvm.mbarrier.arrive %b : !llvm.ptr<7>
    llvm.return
  }
  llvm.func @k(%p: !llvm.ptr {llvm.byval = !llvm.array<256 x i8>, nvvm.grid_constant})
      attributes {nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384, 1, 1>} {
    llvm.return
  }
}

// -----

gpu.module @wait attributes {dataflow.kernel = {symbol = "k", threads = 384 : i64, parameter_bytes = 256 : i64}} {
  llvm.func internal @await_own(%m: !llvm.ptr<3>, %parity: i32) {
    %done = nvvm.mbarrier.try_wait %m, %parity {dataflow.own_barrier} : !llvm.ptr<3>, i32 -> i1
    llvm.return
  }
  llvm.func internal @await(%m: !llvm.ptr<3>, %parity: i32) {
    // expected-error @below {{[G4] needs scope = #nvvm.mem_scope<cluster>: what ends the wait may come from another CTA}}
    %done = nvvm.mbarrier.try_wait %m, %parity : !llvm.ptr<3>, i32 -> i1
    llvm.return
  }
  llvm.func @k(%p: !llvm.ptr {llvm.byval = !llvm.array<256 x i8>, nvvm.grid_constant})
      attributes {nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384, 1, 1>} {
    llvm.return
  }
}

// -----

// This one cannot have the scope.
gpu.module @wait_parity attributes {dataflow.kernel = {symbol = "k", threads = 384 : i64, parameter_bytes = 256 : i64}} {
  llvm.func internal @await(%m: !llvm.ptr<3>, %parity: i32, %ticks: i32) {
    // expected-error @below {{[G4] needs scope = #nvvm.mem_scope<cluster>: what ends the wait may come from another CTA}}
    nvvm.mbarrier.try_wait.parity %m, %parity, %ticks : !llvm.ptr<3>, i32, i32
    llvm.return
  }
  llvm.func @k(%p: !llvm.ptr {llvm.byval = !llvm.array<256 x i8>, nvvm.grid_constant})
      attributes {nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384, 1, 1>} {
    llvm.return
  }
}

// -----

gpu.module @undefined attributes {dataflow.kernel = {symbol = "k", threads = 384 : i64, parameter_bytes = 256 : i64}} {
  llvm.func @elsewhere()
  llvm.func @k(%p: !llvm.ptr {llvm.byval = !llvm.array<256 x i8>, nvvm.grid_constant})
      attributes {nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384, 1, 1>} {
    // expected-error @below {{[G5] calls 'elsewhere', which is not defined in this module}}
    llvm.call @elsewhere() : () -> ()
    llvm.return
  }
}

// -----

gpu.module @traps attributes {dataflow.kernel = {symbol = "k", threads = 384 : i64, parameter_bytes = 256 : i64}} {
  llvm.func @k(%p: !llvm.ptr {llvm.byval = !llvm.array<256 x i8>, nvvm.grid_constant})
      attributes {nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384, 1, 1>} {
    // expected-error @below {{[G5] makes the assembler ignore setmaxnreg}}
    "llvm.intr.trap"() : () -> ()
    llvm.return
  }
}

// -----

gpu.module @left attributes {dataflow.kernel = {symbol = "k", threads = 384 : i64, parameter_bytes = 256 : i64}} {
  llvm.func @k(%p: !llvm.ptr {llvm.byval = !llvm.array<256 x i8>, nvvm.grid_constant})
      attributes {nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384, 1, 1>} {
    // expected-error @below {{[G6] is left in a device module, which holds gpu, llvm, nvvm, scf, cf, arith, math, vector, nvgpu only}}
    %t = tensor.empty() : tensor<4xf32>
    llvm.return
  }
}
