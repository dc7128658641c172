# The refund ledger, the programs that use it outside Kubernetes, and their tests.

set(refund_sources brief gpu_model next_look refund share turns util)
list(TRANSFORM refund_sources PREPEND src/refund/)
list(TRANSFORM refund_sources APPEND .c)
add_library(vgpu-refund STATIC ${refund_sources})
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

refund_program(refund-recorded test/refund/recorded_test.c)
target_link_libraries(refund-recorded PRIVATE m)
add_test(NAME refund-recorded COMMAND refund-recorded ${CMAKE_SOURCE_DIR}/test/refund/recorded_h200.txt)
set_tests_properties(refund-recorded PROPERTIES LABELS native TIMEOUT 60)

vgpu_fuzz(refund test/fuzz/fuzz_refund.c ${refund_sources})
vgpu_fuzz_planted(refund test/fuzz/fuzz_refund.c test/fuzz/planted_ring.c ${refund_sources})
target_link_options(fuzz-refund-planted PRIVATE -Wl,--wrap=refund_share_of)

# what the agent's arithmetic is compared with, by its tests
refund_program(refund-replay test/refund/replay.c)

# ---- vgpu-run --------------------------------------------------------------------------------------------------------

add_executable(vgpu-run tools/vgpu_run.c tools/vgpu_run_arguments.c tools/vgpu_run_cards.c tools/vgpu_run_registry.c
  tools/vgpu_run_loop.c ${refund_sources})
target_compile_definitions(vgpu-run PRIVATE _GNU_SOURCE)
target_include_directories(vgpu-run PRIVATE tools)
target_link_libraries(vgpu-run PRIVATE dl)
add_dependencies(vgpu-run vgpu-control)
vgpu_test_program(run-tenant test/run/tenant.c)
target_compile_definitions(run-tenant PRIVATE _GNU_SOURCE)
add_test(NAME vgpu-run COMMAND ${CMAKE_SOURCE_DIR}/test/run/vgpu_run.sh $<TARGET_FILE:vgpu-run> ${CMAKE_BINARY_DIR}/fake
  $<TARGET_FILE:run-tenant> ${CMAKE_SOURCE_DIR}/../deploy/e2e/profiles/8xA100.gpus $<TARGET_FILE:gpu-probe>)
set_tests_properties(vgpu-run PROPERTIES LABELS "native;as-shipped" TIMEOUT 120)
vgpu_as_shipped(vgpu-run)
vgpu_as_shipped(run-tenant)
add_test(NAME vgpu-run-glibc COMMAND ${CMAKE_SOURCE_DIR}/checks/glibc.sh $<TARGET_FILE:vgpu-run> 2.34)
set_tests_properties(vgpu-run-glibc PROPERTIES LABELS "native;as-shipped" TIMEOUT 60)

# ---- vgpu-calibrate: measures the rows of gpu_model.def on a real card ---------------------------------------------------

add_executable(vgpu-calibrate tools/vgpu_calibrate.c bench/gpu.c bench/symbol.c)
target_include_directories(vgpu-calibrate PRIVATE bench)
target_link_libraries(vgpu-calibrate PRIVATE ${CMAKE_DL_LIBS})
vgpu_as_shipped(vgpu-calibrate)
# as far as a card that is not one can be measured: it runs, and finds what the fake was told
add_test(NAME vgpu-calibrate COMMAND ${CMAKE_SOURCE_DIR}/test/run/vgpu_calibrate.sh $<TARGET_FILE:vgpu-calibrate>
  ${CMAKE_BINARY_DIR}/fake ${CMAKE_SOURCE_DIR}/../deploy/e2e/profiles/8xH200.gpus)
set_tests_properties(vgpu-calibrate PROPERTIES LABELS "native;as-shipped" TIMEOUT 120)
