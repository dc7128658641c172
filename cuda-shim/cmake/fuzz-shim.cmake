# Fuzzing of what the library reads: its own objects, with sanitizers, and once with a bug planted that must be found.

set(fuzz_shim test/fuzz/fuzz_shim.c test/shim/model.c test/shim/regions.c ${shim_modules} ${pace_modules})
vgpu_fuzz(shim ${fuzz_shim})
vgpu_fuzz_planted(shim ${fuzz_shim} test/fuzz/planted_high_water.c)
target_link_options(fuzz-shim-planted PRIVATE -Wl,--wrap=vgpu_high_water)

# what an agent, or who sits in its place, may answer to a registration
vgpu_fuzz(register test/fuzz/fuzz_register.c src/registration.c src/log.c src/environment.c)
