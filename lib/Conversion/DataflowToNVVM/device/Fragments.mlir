// What bodies on register fragments call (lib/Conversion/FragmentsToNVVM). The fact dfk_fragment_at says where their part of
// shared memory lies, from the start of shared memory.

// The window address of a place in shared memory.
llvm.func internal @dfk_window(%offset: i32) -> i32 {
  %at = llvm.call @dfk_shared(%offset) : (i32) -> !llvm.ptr<3>
  %address = llvm.ptrtoint %at : !llvm.ptr<3> to i32
  llvm.return %address : i32
}

llvm.func internal @dfk_fragment_pointer() -> !llvm.ptr<3> {
  %offset = llvm.call @dfk_fragment_at() : () -> i32
  %at = llvm.call @dfk_shared(%offset) : (i32) -> !llvm.ptr<3>
  llvm.return %at : !llvm.ptr<3>
}

llvm.func internal @dfk_fragment_window() -> i32 {
  %offset = llvm.call @dfk_fragment_at() : () -> i32
  %address = llvm.call @dfk_window(%offset) : (i32) -> i32
  llvm.return %address : i32
}

// A value that all lanes have, known to be the same in all of them.
llvm.func internal @dfk_uniform(%value: i32) -> i32 {
  %all = arith.constant -1 : i32
  %c0 = arith.constant 0 : i32
  %c31 = arith.constant 31 : i32
  %same = nvvm.shfl.sync idx %all, %value, %c0, %c31 : i32 -> i32
  llvm.return %same : i32
}

// Of 8 x 8 16-bit elements, of which lane l holds two of row l / 4, two of column l / 4.
llvm.func internal @dfk_transpose(%pair: i32) -> i32 {
  %0 = llvm.inline_asm has_side_effects "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", "=r,r" %pair : (i32) -> i32
  llvm.return %0 : i32
}

llvm.func internal @dfk_shuffle(%value: i32, %lane: i32) -> i32 {
  %all = arith.constant -1 : i32
  %c31 = arith.constant 31 : i32
  %theirs = nvvm.shfl.sync idx %all, %value, %lane, %c31 : i32 -> i32
  llvm.return %theirs : i32
}

llvm.func internal @dfk_shuffle_xor(%value: i32, %mask: i32) -> i32 {
  %all = arith.constant -1 : i32
  %c31 = arith.constant 31 : i32
  %theirs = nvvm.shfl.sync bfly %all, %value, %mask, %c31 : i32 -> i32
  llvm.return %theirs : i32
}

// Whether some lane, or all lanes of the warp have it.
llvm.func internal @dfk_any(%mine: i1) -> i1 {
  %all = arith.constant -1 : i32
  %any = nvvm.vote.sync any %all, %mine -> i1
  llvm.return %any : i1
}

llvm.func internal @dfk_all(%mine: i1) -> i1 {
  %all = arith.constant -1 : i32
  %every = nvvm.vote.sync all %all, %mine -> i1
  llvm.return %every : i1
}

// Whether some or all compute threads have it. Also a barrier, as dfk_sync. The vote tells the assembler that lanes agree.
llvm.func internal @dfk_any_thread(%mine: i1) -> i1 {
  %c0 = arith.constant 0 : i32
  %threads = llvm.call @dfk_threads() : () -> i32
  %word = arith.extui %mine : i1 to i32
  %out = llvm.inline_asm has_side_effects "{ .reg .pred p, q; setp.ne.u32 p, $1, 0; bar.red.or.pred q, 1, $2, p; selp.u32 $0, 1, 0, q; }", "=r,r,r,~{memory}" %word, %threads : (i32, i32) -> i32
  %any = arith.cmpi ne, %out, %c0 : i32
  %same = llvm.call @dfk_any(%any) : (i1) -> i1
  llvm.return %same : i1
}

llvm.func internal @dfk_all_threads(%mine: i1) -> i1 {
  %true = arith.constant true
  %not = arith.xori %mine, %true : i1
  %any = llvm.call @dfk_any_thread(%not) : (i1) -> i1
  %every = arith.xori %any, %true : i1
  llvm.return %every : i1
}

// What this thread wrote to shared memory becomes visible to the asynchronous proxy: to products of warpgroups and bulk copies.
llvm.func internal @dfk_fence_async() {
  nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  llvm.return
}

// Words of global memory that stay in the L2 cache until they are read, as far as that can be.
llvm.func internal @dfk_policy_evict_last() -> i64 {
  %policy = llvm.inline_asm "createpolicy.fractional.L2::evict_last.b64 $0, 1.0;", "=l" : () -> i64
  llvm.return %policy : i64
}

llvm.func internal @dfk_store_lasting_1(%to: !llvm.ptr, %0: i32) {
  %at = llvm.addrspacecast %to : !llvm.ptr to !llvm.ptr<1>
  %policy = llvm.call @dfk_policy_evict_last() : () -> i64
  llvm.inline_asm has_side_effects "st.global.L2::cache_hint.b32 [$0], $1, $2;", "l,r,l,~{memory}" %at, %0, %policy
    : (!llvm.ptr<1>, i32, i64) -> ()
  llvm.return
}

llvm.func internal @dfk_store_lasting_2(%to: !llvm.ptr, %0: i32, %1: i32) {
  %at = llvm.addrspacecast %to : !llvm.ptr to !llvm.ptr<1>
  %policy = llvm.call @dfk_policy_evict_last() : () -> i64
  llvm.inline_asm has_side_effects "st.global.L2::cache_hint.v2.b32 [$0], {$1, $2}, $3;", "l,r,r,l,~{memory}" %at, %0, %1, %policy
    : (!llvm.ptr<1>, i32, i32, i64) -> ()
  llvm.return
}

llvm.func internal @dfk_store_lasting_4(%to: !llvm.ptr, %0: i32, %1: i32, %2: i32, %3: i32) {
  %at = llvm.addrspacecast %to : !llvm.ptr to !llvm.ptr<1>
  %policy = llvm.call @dfk_policy_evict_last() : () -> i64
  llvm.inline_asm has_side_effects "st.global.L2::cache_hint.v4.b32 [$0], {$1, $2, $3, $4}, $5;", "l,r,r,r,r,l,~{memory}"
    %at, %0, %1, %2, %3, %policy : (!llvm.ptr<1>, i32, i32, i32, i32, i64) -> ()
  llvm.return
}
