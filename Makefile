# Everything a newcomer types. The two that matter: make demo, make test.
SHELL := /bin/bash
.DEFAULT_GOAL := help

# Java 25 may lie beside an older default; the first JDK of 25 or newer wins, JAVA_HOME before all others.
JDK := $(shell .ci/find-jdk)
export JAVA_HOME := $(JDK)
# make within make would print every folder it enters
MAKEFLAGS += --no-print-directory
MVN := mvn -B -ntp -q -Dstyle.color=never
E2E := bin/vgpu-e2e

.PHONY: help build test demo cluster cluster-stop bench bench-packing bench-scheduler bench-pods bench-scheduler-memory bench-agent bench-upgrade bench-shim bench-shim-cpu test-old-shim test-gpu demo-gpu sim-shim images clean format soak-burst soak-agent soak-upgrade fuzz prerequisites binaries jdk

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16
	@echo
	@echo "make demo KEEP=1          leaves cluster and pods running, prints how to look around (make cluster-stop ends it)"
	@echo "make demo BREAK=<word>    breaks one step on purpose: webhook-down swapped-uuid agent-dead mount-missing forged-annotation"

# installs a JDK where Debian has one; elsewhere says how to get it
jdk:
	@if [ -z "$(JDK)" ]; then .ci/find-jdk --install; fi

prerequisites: jdk
	@deploy/e2e/cluster/prerequisites.sh
	@if [ -z "$(JDK)" ]; then echo "a JDK was just installed: run make again"; exit 1; fi

# Go is needed only where the cluster's binaries are not in the cache yet
binaries: prerequisites
	@[ -f "$$(deploy/e2e/cluster/build-binaries.sh --where)/.complete" ] || \
	  { go=$$(.ci/find-go --install) && PATH="$$go:$$PATH" deploy/e2e/cluster/build-binaries.sh >/dev/null; }

build: jdk ## compiles everything and puts launchers into bin/
	@deploy/e2e/cluster/prerequisites.sh --build
	@$(MVN) package -DskipTests -Dspotless.check.skip=true
	@.ci/launchers
	@.ci/aot-cache

test: binaries ## every test that needs no GPU: unit, property, contract, native, component, real cluster
	@.ci/test

demo: build binaries ## starts a real cluster, gives three pods their vGPUs, shows every step: demo: PASS or demo: FAIL
	@$(E2E) demo $(if $(KEEP),--keep) $(if $(BREAK),--break=$(BREAK))

cluster: build binaries ## starts a real one-node Kubernetes cluster
	@$(E2E) cluster start

cluster-stop: ## stops it and leaves nothing behind
	@if [ -x $(E2E) ]; then $(E2E) cluster stop; else echo "no cluster was ever built here"; fi

soak-burst: build binaries ## 50 seeds of the burst test (SEEDS=n for another number)
	@$(E2E) burst --seeds=$(or $(SEEDS),50)

soak-upgrade: build binaries ## the agent is updated while a hundred pods are admitted: every pod must end with its claim
	@$(MVN) verify -pl events,agent,control-plane,remote-pool,deploy/e2e -Dtest=NONE -Dit.test=UpgradeSoak -Dsurefire.failIfNoSpecifiedTests=false -Dfailsafe.failIfNoSpecifiedTests=false

soak-agent: build binaries ## the agent's fault matrix, about half an hour, into build/soak/agent.json (ARGS="--only=REGEX --every=N")
	@$(E2E) soak --out build/soak/agent.json $(ARGS)

bench: build binaries ## how long a pod takes from create to bound to running, into build/bench/pod-way.json
	@$(E2E) bench --out build/bench/pod-way.json

bench-upgrade: build binaries ## how long the kubelet has no plugin when the agent is changed under 100 pods, into build/bench/upgrade.json (ARGS="--times=5")
	@$(E2E) upgrade --out build/bench/upgrade.json $(ARGS)

sim-shim: ## the limiter in simulation, all cells and prior art's formulas, into docs/simulation-shim.md
	@cmake -S cuda-shim -B cuda-shim/build >/dev/null && cmake --build cuda-shim/build -j2 --target shim-sim >/dev/null
	@cuda-shim/build/shim-sim table 1 2 3 > docs/simulation-shim.md

bench-scheduler: ## how long filter and prioritize take, and pods a second end to end, into build/bench/scheduler.json (ARGS="-Dbench.sizes=5000/100000")
	@$(MVN) -pl events,control-plane package -Dspotless.check.skip=true -Dtest=NONE -Dsurefire.failIfNoSpecifiedTests=false
	@$(JAVA_HOME)/bin/java @control-plane/scheduler-extender.jvm $(ARGS) \
	  -cp 'control-plane/target/test-classes:control-plane/target/classes:events/target/test-classes:events/target/classes:control-plane/target/lib/*' \
	  io.vgpu.control.scheduler.SchedulerBench
	@$(MAKE) bench-pods ARGS=

bench-pods: build binaries ## the second half of bench-scheduler alone: real kube-scheduler and API server, 1000 simulated nodes (ARGS="--pods 1500 --repeat 1")
	@$(E2E) bench-scheduler --out build/bench/scheduler.json $(ARGS)

bench-scheduler-memory: build ## what the extender's process has in memory at 1000 nodes and 2000 pods (ARGS="-Dbench.pods=500")
	@$(JAVA_HOME)/bin/java $(ARGS) \
	  -cp 'control-plane/target/test-classes:control-plane/target/classes:events/target/test-classes:events/target/classes:control-plane/target/lib/*' \
	  io.vgpu.control.scheduler.ExtenderRss bin/vgpu-control-plane

# in a mount namespace of its own: the agent mounts its tmpfs, and containers their files
bench-agent: build ## what the agent costs, into build/bench/agent.json (ARGS="-Dbench.parts=start,memory,cpu,allocate"); wants root
	@unshare --mount $(JAVA_HOME)/bin/java -Xmx96m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 $(ARGS) \
	  --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow \
	  -Dvgpu.shim.build=cuda-shim/build -Dvgpu.profiles=deploy/e2e/profiles -Dorg.slf4j.simpleLogger.log.io.netty=error \
	  -cp 'agent/target/test-classes:agent/target/classes:events/target/test-classes:events/target/classes:agent/target/lib/*' \
	  io.vgpu.agent.AgentBench build/bench/agent.json

PACKING := random,bestfit,spread,binpack,fgd,foresight
bench-packing: build ## how full policies pack the openb trace, ten seeds, into build/bench/packing.json and .svg (minutes; SEEDS=42 POLICIES=fgd)
	@mkdir -p build/bench
	@VGPU_JAVA_OPTS=-XX:TieredStopAtLevel=4 bin/vgpu simulate --nodes control-plane/src/test/resources/openb/nodes.csv \
	  --pods control-plane/src/test/resources/openb/pods.csv --policy $(or $(POLICIES),$(PACKING)) --seeds $(or $(SEEDS),42-51) \
	  --format json --chart build/bench/packing.svg $(ARGS) >build/bench/packing.json.part
	@mv build/bench/packing.json.part build/bench/packing.json

bench-shim: ## needs a GPU: what the library costs and how well limits are kept, into build/bench/shim.json (ARGS="--seed 7")
	@cmake -S cuda-shim -B cuda-shim/build >/dev/null && cmake --build cuda-shim/build -j2 >/dev/null
	@python3 cuda-shim/bench/bench_shim.py $(ARGS)

bench-shim-cpu: ## what the library costs on the fake driver and in processes without CUDA, into build/bench/shim-cpu.json
	@cmake -S cuda-shim -B cuda-shim/build >/dev/null && cmake --build cuda-shim/build -j2 >/dev/null
	@python3 cuda-shim/bench/bench_shim_cpu.py $(ARGS)

test-old-shim: ## a library of the first ABI under regions as they are written now (COMMIT=… for another one)
	@cmake -S cuda-shim -B cuda-shim/build >/dev/null && cmake --build cuda-shim/build -j2 >/dev/null
	@cuda-shim/checks/old-shim.sh cuda-shim/build $(COMMIT)

test-gpu: ## the tests that need a GPU, as far as the machine has what each wants, into build/gpu-tests.json (ARGS="--only accuracy")
	@cmake -S cuda-shim -B cuda-shim/build >/dev/null && cmake --build cuda-shim/build -j2 --target vgpu-control vgpu-run bench-work >/dev/null
	@cuda-shim/test/gpu/run_gpu_tests.sh cuda-shim/build --out build/gpu-tests.json $(ARGS) || [ $$? = 77 ]

demo-gpu: build ## needs a GPU: the agent itself without Kubernetes, one pod of 1024 MiB and 10 %; ARGS="--fake PROFILE" without one
	@python3 deploy/e2e/gpu/demo_gpu.py $(ARGS) || [ $$? = 77 ]

images: build ## the container images that the cluster's tests use, into build/images
	@$(E2E) images --out build/images

fuzz: build ## long runs of every fuzz target
	@.ci/fuzz

format: jdk ## formats the Java and the C code
	@$(MVN) spotless:apply
	@.ci/format-c

clean: ## removes what the build made (the cluster's binaries stay in the user's cache)
	@rm -rf bin build cuda-shim/build cuda-shim/build-* */target deploy/*/target
