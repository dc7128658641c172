# Fuzzing of what the library reads: its own objects, with sanitizers, and once with a bug planted that must be found.

set(fuzz_shim test/fuzz/fuzz_shim.c test/shim/model.c test/shim/regions.c ${shim_modules} ${pace_modules})
vgpu_fuzz(shim ${fuzz_shim})
vgpu_fuzz_planted(shim ${fuzz_shim} test/fuzz/planted_high_water.c)
target_link_options(fuzz-shim-planted PRIVATE -Wl,--wrap=vgpu_high_water)
