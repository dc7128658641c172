# Pacing: one set of objects, which goes into libvgpu-control.so as well as into the simulator.

set(pace_modules admit bucket context cover interval launch policy settle slice space thread turn)
list(TRANSFORM pace_modules PREPEND src/pace/)
list(TRANSFORM pace_modules APPEND .c)
add_library(vgpu-pace OBJECT ${pace_modules})
target_compile_definitions(vgpu-pace PRIVATE _GNU_SOURCE)
target_compile_options(vgpu-pace PRIVATE ${shim_flags} ${guest_flags} -fno-sanitize=all)
target_sources(vgpu-control PRIVATE $<TARGET_OBJECTS:vgpu-pace>)
target_sources(shim-objects PRIVATE ${pace_modules})

# ---- real processes under the library, on the fake card ---------------------------------------------------------------

add_executable(pace-tenant test/pace/tenant.c)
add_executable(pace-family test/pace/family.c)
target_link_libraries(pace-tenant PRIVATE fake-cuda)
target_link_libraries(pace-family PRIVATE fake-cuda pthread)
add_executable(pace-share test/pace/share_test.c test/pace/container.c test/fake/gpu/gpu_read.c)
foreach(program pace-tenant pace-family pace-share)
  target_compile_definitions(${program} PRIVATE _DEFAULT_SOURCE)
  target_include_directories(${program} PRIVATE test/unit test/fake test/fake/cuda)
  vgpu_as_shipped(${program})
endforeach()
foreach(case alone none two siblings balance mps forks cards brief)
  add_test(NAME pace-share-${case} COMMAND ${CMAKE_SOURCE_DIR}/test/unit/on_cards.sh pace-${case} $<TARGET_FILE:pace-share>
    $<TARGET_FILE:vgpu-control> $<TARGET_FILE:pace-tenant> $<TARGET_FILE:pace-family> ${case})
  set_tests_properties(pace-share-${case} PROPERTIES LABELS "native;as-shipped" TIMEOUT 300 RUN_SERIAL ON)
endforeach()

add_test(NAME pace-share-refunds COMMAND ${CMAKE_SOURCE_DIR}/test/unit/on_cards.sh pace-refunds
  ${CMAKE_SOURCE_DIR}/test/pace/refunds.sh ${CMAKE_BINARY_DIR})
set_tests_properties(pace-share-refunds PROPERTIES LABELS "native;as-shipped" TIMEOUT 120 RUN_SERIAL ON)

# ---- the simulator: the very objects that go into the library, in virtual time -----------------------------------------

add_executable(shim-sim test/sim/main.c test/sim/cells.c test/sim/sim.c test/sim/tasks.c test/sim/gpu.c test/sim/baseline.c
  $<TARGET_OBJECTS:vgpu-pace> src/shared.c src/alias.c src/log.c src/environment.c
  src/refund/brief.c src/refund/gpu_model.c src/refund/next_look.c src/refund/refund.c src/refund/share.c src/refund/turns.c)
target_compile_definitions(shim-sim PRIVATE _GNU_SOURCE)
target_include_directories(shim-sim PRIVATE test/sim test/unit)
target_compile_options(shim-sim PRIVATE -O2)
target_link_libraries(shim-sim PRIVATE m)
vgpu_as_shipped(shim-sim) # stacks of its own are nothing for sanitizers
add_test(NAME shim-sim COMMAND shim-sim quick)
# COMMAND_EXPAND_LISTS is for custom commands only: the list goes as one word, the script takes it apart
add_test(NAME shim-sim-objects COMMAND ${CMAKE_SOURCE_DIR}/checks/same-objects.sh $<TARGET_FILE:shim-sim>
  $<TARGET_FILE:vgpu-control> "$<JOIN:$<TARGET_OBJECTS:vgpu-pace>, >")
set_tests_properties(shim-sim shim-sim-objects PROPERTIES LABELS "native;as-shipped" TIMEOUT 120)

# ---- units, with the preset's sanitizers ------------------------------------------------------------------------------

foreach(unit bucket parts slice)
  add_executable(pace-${unit} test/pace/${unit}_test.c)
  target_compile_definitions(pace-${unit} PRIVATE _GNU_SOURCE)
  target_include_directories(pace-${unit} PRIVATE test/unit)
  target_link_libraries(pace-${unit} PRIVATE shim-objects pthread)
  add_test(NAME pace-${unit} COMMAND pace-${unit})
  set_tests_properties(pace-${unit} PROPERTIES LABELS native TIMEOUT 60)
endforeach()
