/*
 * dlsym and dlvsym: ask vgpu_answer_*, then either return its answer or go on to the loader's own function exactly as it
 * was called. See lookup.c.
 */
#if defined(__CET__)
#include <cet.h>
#else
#define _CET_ENDBR
#endif

  .text

  .macro STUB name, ask
  .globl \name
  .type \name, @function
  .balign 16
\name:
  .cfi_startproc
  _CET_ENDBR
  /* three arguments and the alignment of the call */
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  pushq %rdx
  .cfi_adjust_cfa_offset 8
  call \ask
  movq %rdx, %rcx /* jump? */
  popq %rdx
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  testq %rcx, %rcx
  je 1f
  jmpq *%rax
1:
  retq
  .cfi_endproc
  .size \name, . - \name
  .endm

  .hidden vgpu_answer_dlsym
  .hidden vgpu_answer_dlvsym
  STUB dlsym, vgpu_answer_dlsym
  STUB dlvsym, vgpu_answer_dlvsym

  .section .note.GNU-stack, "", @progbits
