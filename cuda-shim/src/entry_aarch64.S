/*
 * dlsym and dlvsym: ask vgpu_answer_*, then either return its answer or go on to the loader's own function exactly as it
 * was called. See lookup.c.
 */
  .text

  .macro STUB name, ask
  .globl \name
  .type \name, %function
  .balign 16
\name:
  .cfi_startproc
  hint #34 /* bti c */
  stp x29, x30, [sp, #-48]!
  .cfi_def_cfa_offset 48
  .cfi_offset x29, -48
  .cfi_offset x30, -40
  mov x29, sp
  stp x0, x1, [sp, #16]
  str x2, [sp, #32]
  bl \ask
  mov x16, x0
  mov x17, x1 /* jump? */
  ldp x0, x1, [sp, #16]
  ldr x2, [sp, #32]
  ldp x29, x30, [sp], #48
  .cfi_def_cfa_offset 0
  .cfi_restore x29
  .cfi_restore x30
  cbz x17, 1f
  br x16
1:
  mov x0, x16
  ret
  .cfi_endproc
  .size \name, . - \name
  .endm

  .hidden vgpu_answer_dlsym
  .hidden vgpu_answer_dlvsym
  STUB dlsym, vgpu_answer_dlsym
  STUB dlvsym, vgpu_answer_dlvsym

  /* BTI (1) and pointer authentication (2) are kept */
  .pushsection .note.gnu.property, "a"
  .balign 8
  .long 4, 16, 5
  .asciz "GNU"
  .long 0xc0000000, 4, 3, 0
  .popsection
  .section .note.GNU-stack, "", %progbits
