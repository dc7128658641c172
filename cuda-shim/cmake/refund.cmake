# The refund ledger, the programs that use it outside Kubernetes, and their tests.

add_library(vgpu-refund STATIC src/refund/gpu_model.c src/refund/refund.c src/refund/share.c src/refund/turns.c src/refund/util.c)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS src/refund/gpu_model.def)

function(refund_program name)
  vgpu_test_program(${name} ${ARGN})
  target_include_directories(${name} PRIVATE test/refund)
  target_link_libraries(${name} PRIVATE vgpu-refund)
endfunction()

foreach(name share attack turns slicer)
  refund_program(refund-${name} test/refund/${name}_test.c)
  add_test(NAME refund-${name} COMMAND refund-${name})
  set_tests_properties(refund-${name} PROPERTIES LABELS native TIMEOUT 60)
endforeach()

set(refund_sources src/refund/gpu_model.c src/refund/refund.c src/refund/share.c)
vgpu_test_program(fuzz-refund test/fuzz/fuzz_refund.c ${refund_sources})
target_compile_options(fuzz-refund PRIVATE ${sanitize})
target_link_options(fuzz-refund PRIVATE ${sanitize})
add_test(NAME fuzz-refund COMMAND fuzz-refund)
set_tests_properties(fuzz-refund PROPERTIES LABELS "native;fuzz" TIMEOUT 120)
add_custom_command(TARGET fuzz POST_BUILD
  COMMAND sh -c "FUZZ_ITERATIONS=\${FUZZ_ITERATIONS:-500000} \"$1\"" fuzz $<TARGET_FILE:fuzz-refund> VERBATIM USES_TERMINAL)

# what the agent's arithmetic is compared with, by its tests
refund_program(refund-replay test/refund/replay.c)
