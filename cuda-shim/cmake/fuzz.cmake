# Fuzz targets: FUZZ_SECONDS in make test, FUZZ_ITERATIONS by the target `fuzz`, which also grows each corpus (GROW_SECONDS).

add_custom_target(fuzz)

# vgpu_fuzz(NAME SOURCES…): the program fuzz-NAME, its test on test/fuzz/corpus/NAME.txt, its part of the long run, and fuzz-NAME-grow,
# which sees what code runs.
function(vgpu_fuzz name)
  set(corpus ${CMAKE_SOURCE_DIR}/test/fuzz/corpus/${name}.txt)
  foreach(program fuzz-${name} fuzz-${name}-grow)
    add_executable(${program} ${ARGN} test/fuzz/fuzz.c)
    target_compile_definitions(${program} PRIVATE _GNU_SOURCE)
    target_include_directories(${program} PRIVATE test/fuzz test/unit test/fake test/shim tools)
    target_compile_options(${program} PRIVATE -O1 -fno-strict-aliasing ${sanitize})
    target_link_options(${program} PRIVATE ${sanitize})
  endforeach()
  set_property(TARGET fuzz-${name}-grow PROPERTY EXCLUDE_FROM_ALL ON)
  target_compile_options(fuzz-${name}-grow PRIVATE -fsanitize-coverage=trace-pc)
  add_test(NAME fuzz-${name} COMMAND fuzz-${name} ${corpus})
  set_tests_properties(fuzz-${name} PROPERTIES LABELS "native;fuzz" TIMEOUT 120 ENVIRONMENT "FUZZ_SECONDS=30")
  add_custom_target(fuzz-${name}-long
    COMMAND sh -c "\"$1\" \"$3\" \"\${GROW_SECONDS:-60}\" && FUZZ_ITERATIONS=\${FUZZ_ITERATIONS:-10000000} \"$2\" \"$3\""
      fuzz $<TARGET_FILE:fuzz-${name}-grow> $<TARGET_FILE:fuzz-${name}> ${corpus}
    VERBATIM USES_TERMINAL)
  add_dependencies(fuzz fuzz-${name}-long)
endfunction()

# vgpu_fuzz_planted(NAME SOURCES…): the same target with a bug, which it must find.
function(vgpu_fuzz_planted name)
  add_executable(fuzz-${name}-planted ${ARGN} test/fuzz/fuzz.c)
  target_compile_definitions(fuzz-${name}-planted PRIVATE _GNU_SOURCE)
  target_include_directories(fuzz-${name}-planted PRIVATE test/fuzz test/shim)
  target_compile_options(fuzz-${name}-planted PRIVATE -O1 -fno-strict-aliasing ${sanitize})
  target_link_options(fuzz-${name}-planted PRIVATE ${sanitize})
  add_test(NAME fuzz-${name}-planted COMMAND fuzz-${name}-planted)
  set_tests_properties(fuzz-${name}-planted PROPERTIES LABELS "native;fuzz" TIMEOUT 120 WILL_FAIL ON)
endfunction()
