# Fuzzing of what the library reads: its own objects, with sanitizers, and once with a bug planted that must be found.

foreach(target fuzz-shim fuzz-shim-planted)
  add_executable(${target} test/fuzz/fuzz_shim.c test/shim/model.c test/shim/regions.c ${shim_modules} ${pace_modules})
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
  target_include_directories(${target} PRIVATE test/shim)
  target_compile_options(${target} PRIVATE -O1 -fno-strict-aliasing ${sanitize})
  target_link_options(${target} PRIVATE ${sanitize})
endforeach()
target_sources(fuzz-shim-planted PRIVATE test/fuzz/planted_high_water.c)
target_link_options(fuzz-shim-planted PRIVATE -Wl,--wrap=vgpu_high_water)
shim_test(fuzz-shim fuzz-shim)
shim_test(fuzz-shim-planted fuzz-shim-planted)
set_tests_properties(fuzz-shim-planted PROPERTIES WILL_FAIL ON)
set_property(TEST fuzz-shim fuzz-shim-planted APPEND PROPERTY LABELS fuzz)

# the long run, with the others'
add_custom_command(TARGET fuzz POST_BUILD
  COMMAND sh -c "FUZZ_ITERATIONS=\${FUZZ_ITERATIONS:-500000} exec \"$1\"" fuzz $<TARGET_FILE:fuzz-shim> VERBATIM)
