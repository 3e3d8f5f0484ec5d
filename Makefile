# hsumma: distributed GEMM over MPI.  "make help" lists the targets and the variables.

# Variables, set on the command line or in the environment.
MPI      ?= mpich## mpich or openmpi
BUILD    ?= $(if $(filter openmpi,$(MPI)),build/openmpi,build)## directory of everything that is built (build, or build/openmpi); one per set of flags, e.g. build/clang
CFLAGS   ?= -O2 -g## optimisation and debugging
LDFLAGS  ?=## further flags of the linker
WERROR   ?=## 1: warnings are errors
SANITIZE ?=## sanitizers, e.g. address,undefined (as "make asan" does)
V        ?=## 1: print full commands
PREFIX   ?= /usr/local## where "make install" puts things; also LIBDIR, INCLUDEDIR, MODDIR, BINDIR, DATADIR, DOCDIR, MANDIR
DESTDIR  ?=## put before installed paths, for packagers
DEPS     ?=## no: never install what is missing
TESTS    ?=## a pattern: only the lines of tests/suite that match, short suite or not
CUDA     ?= auto## 1: GPUs by CUDA; 0: without; auto: where there is nvcc
CASES    ?= 100000## what "make fuzz" compares; trials of "make check-faults" (there 1000 by default)
RUNS     ?= 1000000## inputs that "make fuzz-input" tries on each reader
SEED     ?=## the first case of "make fuzz", or the seed of "make fuzz-input" and "make check-faults", to see one again; else a new one
FIGURES  ?=## what "make figures" makes anew: fresh (model,simulated), large (simulations of an hour), node, emulated, gpu, all (but large); else kept data
ONLY     ?=## a pattern: only the figures that match
BENCH    ?= gemm -m 2048 -n 2048 -k 2048 --check## what "make bench" runs
RANKS    ?= 2## and on how many ranks

# Compiler and libraries, searched for here unless the caller sets them.
$(if $(filter mpich openmpi,$(MPI)),,$(error MPI is "$(MPI)"; expected mpich or openmpi))
ifeq ($(origin CC),default)
CC := gcc
endif
CC       ?= gcc## gcc or clang, under the MPI wrapper
MPICC    ?= $(or $(shell command -v mpicc.$(MPI) 2>&1),mpicc)## MPI compiler wrapper
MPIEXEC  ?= $(or $(shell command -v mpiexec.$(MPI) 2>&1),mpiexec)## MPI launcher
MPIFC    ?= $(call fortran_of,$(subst mpicc,mpifort,$(lastword $(MPICC))))## MPI wrapper of gfortran, for the module; empty: without
BLAS     ?= openblas## a CBLAS: name for pkg-config, or of the library; else set both BLAS_CFLAGS and BLAS_LIBS
MPICC := $(MPICC)
fortran_of = $(shell printf 'use mpi_f08\nend\n' | $(1) -fsyntax-only -x f95 - >/dev/null 2>&1 && echo $(1))
MPIFC := $(MPIFC)
MPIEXEC := $(MPIEXEC)
module = $(shell pkg-config $(1) $(2) 2>/dev/null)
found = $(filter /%,$(shell $(MPICC) -print-file-name=lib$(1).so 2>/dev/null))
BLAS_CFLAGS    ?= $(call module,--cflags,$(BLAS))
BLAS_LIBS      ?= $(or $(call module,--libs,$(BLAS)),-l$(BLAS))
HWLOC_LIBS     ?= $(or $(call module,--libs,hwloc),$(if $(call found,hwloc),-lhwloc))
JANSSON_LIBS   ?= $(or $(call module,--libs,jansson),-ljansson)
SCALAPACK_LIBS ?= $(if $(call found,scalapack-$(MPI)),-lscalapack-$(MPI))## empty: without ScaLAPACK
# CUDA: nvcc gives the path of headers and libraries. libcudart_static finds the driver, and the library finds cuBLAS,
# when a device is opened, so programs start without them.
CUDA_HOME  ?=## directory of CUDA, else that of the first nvcc in PATH or /usr/local/cuda
NVCC       ?= $(or $(wildcard $(CUDA_HOME:%=%/bin/nvcc)),$(shell command -v nvcc 2>&1),$(wildcard /usr/local/cuda/bin/nvcc))
CUDA_ARCHS ?= 80 90## compute capabilities that kernels are compiled for; the last one as PTX, too
NVCCFLAGS  ?= -O2 -lineinfo## optimisation and debugging of kernels
$(if $(filter 0 1 auto,$(CUDA)),,$(error CUDA is "$(CUDA)"; expected 1, 0 or auto))
NVCC := $(if $(filter 0,$(CUDA)),,$(NVCC))
$(if $(filter 1,$(CUDA)),$(if $(NVCC),,$(error CUDA=1, but there is no nvcc in PATH, CUDA_HOME/bin or /usr/local/cuda/bin)))
cuda_says = $(if $(NVCC),$(shell $(NVCC) --dryrun -c -x cu /dev/null -o /dev/null 2>&1 | sed -n 's/^.$$ $(1)=//p' | tr -d '"'))
cuda_include := $(realpath $(patsubst -I%,%,$(filter -I%,$(call cuda_says,INCLUDES))))
cuda_lib := $(patsubst %/libcudart_static.a,%,$(wildcard $(patsubst -L%,%/libcudart_static.a,$(filter -L%,$(call cuda_says,LIBRARIES)))))
CUDA_CFLAGS ?= $(addprefix -isystem ,$(filter-out /usr/include,$(cuda_include)))
CUDA_LIBS   ?= $(if $(NVCC),$(addprefix -L,$(realpath $(cuda_lib))) -lcudart_static -lrt -lpthread -ldl)
export MPI
export MPICH_CC = $(CC)
export OMPI_CC = $(CC)
MAKEFLAGS += --no-print-directory

# The commands for compiling and linking.
flag = $(if $(2),-D$(1)=1,-D$(1)=0)
warnings := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
    $(if $(filter 1,$(WERROR)),-Werror)
# gcc takes MPICH's MPI_STATUSES_IGNORE, a constant address, for an array that is too small.
warnings += $(if $(findstring clang,$(CC)),,-Wno-stringop-overflow)
sanitize := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
# Headers of libraries by -isystem: no warnings from them.
system := $(patsubst -I%,-isystem %,$(BLAS_CFLAGS) $(call module,--cflags,hwloc) $(call module,--cflags,jansson))
compile := $(MPICC) -std=c11 -D_GNU_SOURCE $(call flag,HSUMMA_HAVE_SCALAPACK,$(SCALAPACK_LIBS)) \
    $(call flag,HSUMMA_HAVE_HWLOC,$(HWLOC_LIBS)) $(call flag,HSUMMA_HAVE_CUDA,$(NVCC)) -Iinclude -Isrc $(CPPFLAGS) $(system) $(warnings) $(CFLAGS) $(sanitize) \
    -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections -MMD -MP
fortran = $(MPIFC) -std=f2008 -Wall -Wextra -Wno-c-binding-type $(if $(filter 1,$(WERROR)),-Werror) -O2 -g -fPIC -ffunction-sections -J$(BUILD)
link := $(MPICC) $(CFLAGS) $(sanitize) $(LDFLAGS) -Wl,--as-needed
lib_libs := $(HWLOC_LIBS) $(BLAS_LIBS) -lm -ldl $(CUDA_LIBS)
# The preloaded library calls neither the GEMM nor a BLAS: the linker drops unused code (but not with sanitizers).
pmpi_libs := $(if $(SANITIZE),$(lib_libs),$(HWLOC_LIBS) -lm -ldl -Wl,-z,defs)
program_libs := $(SCALAPACK_LIBS) $(JANSSON_LIBS) $(lib_libs)
# Kernels round as the host does: no fused multiply-add.
comma := ,
nvcc := $(NVCC) -std=c++14 -fmad=false $(foreach arch,$(CUDA_ARCHS),-gencode arch=compute_$(arch)$(comma)code=sm_$(arch)) \
    -gencode arch=compute_$(lastword $(CUDA_ARCHS))$(comma)code=compute_$(lastword $(CUDA_ARCHS)) \
    -DHSUMMA_CUDA_ARCHS='"$(CUDA_ARCHS)"' -Isrc $(NVCCFLAGS) -Xfatbin -compress-all \
    $(if $(filter 1,$(WERROR)),-Werror all-warnings) \
    -Xcompiler -Wall$(comma)-Wextra$(comma)-fPIC$(comma)-fvisibility=hidden$(comma)-fno-exceptions$(comma)-fno-threadsafe-statics -MMD -MP

# What is built: every source in the tree.
# In the simulator (make sim), src/sim replaces the stub src/base/no_simulator.c.
SIM :=
layers := base dist coll gpu summa hsumma api $(if $(SIM),sim)
objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
kernels := $(if $(NVCC),$(patsubst %.cu,$(BUILD)/obj/%.o,$(sort $(wildcard src/gpu/*.cu))))
sources = $(sort $(shell find $(1) -name '*.c'))
lib_objects := $(call objects,$(filter-out src/api/scalapack/% $(if $(NVCC),,src/gpu/cuda_%) $(if $(SIM),src/base/no_simulator.c) src/sim/processor_clock.c,$(call sources,$(layers:%=src/%)))) \
    $(kernels) $(if $(MPIFC),$(BUILD)/obj/fortran/hsumma.o)
main := $(wildcard benchmarks/main.c)
bench_objects := $(call objects,$(filter-out $(main),$(call sources,benchmarks)))
test_support := $(call objects,$(call sources,tests/support))
test_sources := $(sort $(wildcard tests/unit/*/*.c tests/mpi/*/*.c tests/device/*.c))
programs := $(patsubst %.c,$(BUILD)/%,$(test_sources) $(sort $(wildcard examples/*.c)))
# Tests inside the simulator.
sim_programs := $(patsubst %.c,$(BUILD)/%,$(if $(SIM),$(sort $(wildcard tests/sim/*.c))))
# The device tests again, with the device "cuda" over a fake CUDA in place of the stand-in.
fake_programs := $(patsubst %,$(BUILD)/tests/device/mpi_%_cuda,device gemm coll)
# Readers of input, with libFuzzer.
fuzz_programs := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/fuzz/*.c)))
# The tests with all ranks in one process. Their message functions replace MPI's, so they must not be in an archive that
# other programs link.
interleave_sources := $(sort $(wildcard src/summa/messages/*.c src/summa/node/*.c)) src/coll/run/agree.c
interleave_objects := $(call objects,$(sort $(wildcard tests/interleave/*.c)) $(interleave_sources:%=tests/interleave/%))
# The device "host", a library that tests load.
stand_in_objects := $(call objects,$(sort $(wildcard tests/device/stand_in/*.c)))
stand_in := $(BUILD)/tests/libstand_in_device.so
tools := $(patsubst tests/tools/%.c,$(BUILD)/tests/%.so,$(wildcard tests/tools/*.c))
command := $(if $(main),$(BUILD)/hsumma)
# A link by the command's former name.
alias := $(command:%=%_bench)
test_archive := $(BUILD)/libtests.a
archives := $(BUILD)/libbench.a $(BUILD)/libhsumma_pxgemm.a $(BUILD)/libhsumma.a
pmpi_objects := $(call objects,$(sort $(wildcard src/pmpi/*.c)))
module_source := $(BUILD)/fortran/hsumma.F90
pmpi := $(if $(pmpi_objects),$(BUILD)/libhsumma_pmpi.so)
pxgemm_objects := $(call objects,$(filter-out %/override.c,$(sort $(wildcard src/api/scalapack/*.c))))
shim_objects := $(call objects,$(sort $(wildcard src/api/scalapack/*.c)))
shims := $(addprefix $(BUILD)/libhsumma_,pxgemm.a pxgemm.so scalapack.so)
# Shared libraries: each has a version in its soname, and a link of that name.
shared := $(BUILD)/libhsumma.so $(filter %.so,$(shims))

version_part = $(shell sed -n 's/^.define HSUMMA_VERSION_$(1)  *\([0-9][0-9]*\).*/\1/p' include/hsumma.h 2>/dev/null)
major := $(or $(call version_part,MAJOR),0)
VERSION := $(major).$(or $(call version_part,MINOR),0).$(or $(call version_part,PATCH),0)

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-5s %s\n' $(1) $(2))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.PHONY: all everything figures sim sim-programs sim-tests bench bench-built check check-all check-rest check-sim check-built check-faults fuzz fuzz-input fuzz-programs check-scalapack check-layers asan tsan man doc install uninstall dist format clean help FORCE
# Targets that start another make run one at a time, because they may install packages first; the makes that they start
# run in parallel.
ifneq ($(filter bench check check-all check-rest check-sim check-faults fuzz fuzz-input check-scalapack asan tsan,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif

all: $(BUILD)/libhsumma.a $(shared) $(shared:%=%.$(major)) $(module_source) $(pmpi) $(shims) $(command) $(alias) ## libraries and command
sim: ## library and hsumma for SimGrid's SMPI, in BUILD/sim (see doc/simulator.md)
	@scripts/deps --sim
	@$(sim_make) $(BUILD)/sim/hsumma $(BUILD)/sim/processor_clock.so
sim-programs: sim # that, and the tests of the simulator
	@$(sim_make) sim-tests
sim_make = $(MAKE) SIM=1 BUILD=$(BUILD)/sim MPICC=smpicc MPIEXEC=smpirun CUDA=0 SCALAPACK_LIBS= HWLOC_LIBS= \
    CPPFLAGS='$(CPPFLAGS) -DSMPI_NO_OVERRIDE_MALLOC'
sim-tests: $(BUILD)/hsumma $(sim_programs)
everything: all $(programs) $(fake_programs) $(stand_in) $(tools) ## all, tests and examples, without running them

# A stamp holds the text of a variable and is rewritten when that changes: new flags and removed files cause a rebuild.
define stamp
$(BUILD)/obj/$(1).stamp: FORCE
	@mkdir -p $$(@D); printf '%s\n' '$$(subst ','\'',$(2))' | cmp -s - $$@ || printf '%s\n' '$$(subst ','\'',$(2))' >$$@
endef
compiler = $(CC) $(shell $(CC) -dumpfullversion 2>&1) $(compile) $(CUDA_CFLAGS)
$(eval $(call stamp,compile,$$(compiler)))
$(eval $(call stamp,link,$$(CC) $$(link) $$(major) $$(program_libs) $$(lib_objects) $$(pmpi_objects) $$(shim_objects) $$(bench_objects) $$(test_support)))

$(eval $(call stamp,nvcc,$$(if $$(NVCC),$$(shell $(NVCC) --version 2>&1 | tail -n 1) $$(nvcc) $$(on_host))))

$(kernels): $(BUILD)/obj/%.o: %.cu $(BUILD)/obj/nvcc.stamp
	@mkdir -p $(@D)
	$(call say,NVCC,$<)
	$(Q)$(nvcc) -c -o $@ $<

# Error-free additions need the order of operations that the C standard demands, whatever the user's CFLAGS say.
$(BUILD)/obj/src/base/exact.o: private compile += -fno-fast-math

$(BUILD)/obj/src/gpu/cuda_%.o $(BUILD)/obj/tests/device/unit_kernels.o: private compile += $(CUDA_CFLAGS)

# The CUDA kernels compiled for the host, where a test runs them; by the C++ compiler that belongs to CC.
HOST_CXX ?= $(if $(findstring clang,$(CC)),clang++,g++)
on_host := $(HOST_CXX) -x c++ -std=c++14 -O2 -g -ffp-contract=off -fno-strict-aliasing -fno-exceptions -fPIC -Wall -Wextra \
    -Wno-unknown-pragmas $(if $(findstring clang,$(CC)),,-Wno-maybe-uninitialized) $(sanitize) \
    $(if $(sanitize),-fno-sanitize=vptr$(if $(findstring clang,$(CC)),$(comma)function)) -DHSUMMA_CUDA_ARCHS='""' -Itests/device/on_host -Isrc $(CUDA_CFLAGS) -MMD -MP
kernels_on_host := $(if $(NVCC),$(BUILD)/obj/tests/device/on_host/kernels.o)
$(kernels_on_host): src/gpu/kernels.cu $(BUILD)/obj/nvcc.stamp
	@mkdir -p $(@D)
	$(call say,CXX,$@)
	$(Q)$(on_host) -c -o $@ $<
$(BUILD)/tests/device/unit_kernels: $(kernels_on_host)

# The product engines in random order, compiled so that ranks switch at every access to a counter.
$(BUILD)/obj/tests/interleave/src/%.o: src/%.c $(BUILD)/obj/compile.stamp
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(compile) -include interleave/words.h -c -o $@ $<
$(BUILD)/tests/unit/product/interleave $(BUILD)/tests/unit/product/cells: $(interleave_objects)

# The code of the device "cuda", compiled over a fake of CUDA's run-time library and cuBLAS.
fake_sources := $(if $(NVCC),$(sort $(wildcard src/gpu/cuda_*.c)))
fake_cuda := $(patsubst src/gpu/%.c,$(BUILD)/obj/tests/device/fake_cuda/gpu/%.o,$(fake_sources)) \
    $(if $(NVCC),$(call objects,$(sort $(wildcard tests/device/fake_cuda/*.c))) $(stand_in_objects))
fake_flags := $(CUDA_CFLAGS) $(foreach name,dlopen dlsym dlclose dlerror,-D$(name)=fake_$(name))
$(BUILD)/obj/tests/device/fake_cuda/gpu/%.o: src/gpu/%.c $(BUILD)/obj/compile.stamp
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(compile) $(fake_flags) -c -o $@ $<
$(BUILD)/obj/tests/device/fake_cuda/%.o $(BUILD)/obj/tests/device/unit_cuda_fake.o: private compile += $(CUDA_CFLAGS)
$(BUILD)/tests/device/unit_cuda_fake: $(fake_cuda)
as_host := $(call objects,tests/device/fake_cuda/$(if $(NVCC),as_host/devices.c,none/main.c))
$(fake_programs): $(BUILD)/tests/device/mpi_%_cuda: $(if $(NVCC),$(BUILD)/obj/tests/device/mpi_%.o) $(fake_cuda) $(as_host) $(test_archive) $(archives) \
    $(BUILD)/obj/link.stamp
	$(link_program)
$(BUILD)/tests/device/unit_cuda_fake $(fake_programs): private program_libs := $(filter-out -lcudart_static,$(program_libs))

no_scalapack := $(if $(SCALAPACK_LIBS),,$(call objects,$(wildcard tests/mpi/scalapack/*.c)))
$(no_scalapack): tests/mpi/scalapack/none/main.c $(BUILD)/obj/compile.stamp
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(compile) -c -o $@ $<

# scripts/hsumma_sim preloads it.
$(BUILD)/processor_clock.so: src/sim/processor_clock.c $(BUILD)/obj/compile.stamp
	$(call say,CC,$<)
	$(Q)$(CC) -O2 $(warnings) -shared -fPIC -o $@ $<

# smpirun loads programs and looks up their main.
$(if $(SIM),$(BUILD)/obj/benchmarks/main.o $(sim_programs:$(BUILD)/%=$(BUILD)/obj/%.o): private compile += -fvisibility=default)
$(BUILD)/obj/benchmarks/%.o: private compile += -Ibenchmarks
$(BUILD)/obj/tests/%.o: private compile += -Ibenchmarks -Itests
$(BUILD)/obj/src/api/scalapack/blacs_static.o: private compile += -DHSUMMA_STATIC
$(BUILD)/obj/%.o: %.c $(BUILD)/obj/compile.stamp
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(compile) -c -o $@ $<

$(BUILD)/obj/src/api/scalapack/blacs_static.o: src/api/scalapack/blacs.c $(BUILD)/obj/compile.stamp
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(compile) -c -o $@ $<

# The Fortran module is part of the library. It calls no Fortran run-time library, so C programs need none.
$(eval $(call stamp,fortran,$$(fortran)))
$(module_source): fortran/expand.awk fortran/hsumma.F90.in $(BUILD)/obj/compile.stamp
	@mkdir -p $(@D)
	$(Q)awk -f $(filter fortran/%,$^) | sed $(name_mpi) >$@
$(BUILD)/obj/fortran/hsumma.o: $(module_source) $(BUILD)/obj/fortran.stamp
	@mkdir -p $(@D)
	$(call say,FC,$<)
	$(Q)$(fortran) -c -o $@ $<

$(BUILD)/libhsumma.a: $(lib_objects)
$(BUILD)/libbench.a: $(bench_objects)
$(BUILD)/libhsumma_pxgemm.a: $(filter-out %/blacs.o,$(pxgemm_objects)) $(BUILD)/obj/src/api/scalapack/blacs_static.o
$(test_archive): $(test_support)
$(archives) $(test_archive): $(BUILD)/obj/link.stamp
	$(call say,AR,$@)
	$(Q)rm -f $@; $(AR) rcs $@ $(filter %.o,$^)

$(BUILD)/libhsumma.so: $(lib_objects) $(BUILD)/obj/link.stamp
	$(call say,LINK,$@)
	$(Q)$(link) -shared -Wl,-soname,$(@F).$(major) -o $@ $(filter %.o,$^) $(lib_libs)

$(shared:%=%.$(major)): %.$(major): %
	$(Q)ln -sf $(<F) $@

# The library for preloading into unmodified programs: self-contained, with hidden symbols, without unused dependencies.
$(BUILD)/libhsumma_pmpi.so: $(pmpi_objects) $(BUILD)/libhsumma.a $(BUILD)/obj/link.stamp
	$(call say,LINK,$@)
	$(Q)$(link) -shared -Wl,-soname,$(@F) -Wl,--gc-sections -Wl,--exclude-libs,ALL -o $@ $(pmpi_objects) $(BUILD)/libhsumma.a $(pmpi_libs)

# p?gemm for ScaLAPACK programs: BLACS and PB_Cabort come from the program, with MPICH's ScaLAPACK or another one.
$(BUILD)/libhsumma_pxgemm.so: $(pxgemm_objects) $(BUILD)/libhsumma.a $(BUILD)/obj/link.stamp
	$(call say,LINK,$@)
	$(Q)$(link) -shared -Wl,-soname,$(@F).$(major) -Wl,--exclude-libs,ALL -o $@ $(filter %.o,$^) $(BUILD)/libhsumma.a $(lib_libs)

$(BUILD)/libhsumma_scalapack.so: $(shim_objects) $(BUILD)/libhsumma.a $(BUILD)/obj/link.stamp
	$(call say,LINK,$@)
	$(Q)$(link) -shared -Wl,-soname,$(@F).$(major) -Wl,--exclude-libs,ALL -o $@ $(filter %.o,$^) $(BUILD)/libhsumma.a $(lib_libs)

define link_program
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(link) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(program_libs)
endef
$(BUILD)/hsumma: $(BUILD)/obj/benchmarks/main.o $(archives) $(BUILD)/obj/link.stamp
	$(link_program)
$(alias): $(command)
	$(Q)ln -sf hsumma $@
$(programs): $(BUILD)/%: $(BUILD)/obj/%.o $(test_archive) $(archives) $(BUILD)/obj/link.stamp
	$(link_program)
$(sim_programs): $(BUILD)/%: $(BUILD)/obj/%.o $(archives) $(BUILD)/obj/link.stamp
	$(link_program)

$(fuzz_programs): $(BUILD)/%: $(BUILD)/obj/%.o $(archives) $(BUILD)/obj/link.stamp
	$(link_program) -fsanitize=fuzzer
fuzz-programs: $(fuzz_programs) # by tests/programs/fuzz_input.py, which sets the compiler and its flags

# tests/support/product/damaged_memory.c damages what functions of the library have just put into shared memory.
damaged := $(addprefix hs_,node_take_crcs node_take_crcs_of_sum even_take_crcs feed_take_crc drain_take_crcs drain_take_crc_of_sum)
$(BUILD)/tests/mpi/product/guard: private program_libs += $(damaged:%=-Wl,--wrap=%)

# The stand-in is loaded beside a program's own copy of the library, so the part of the library that it uses is linked
# in and hidden.
$(stand_in): $(stand_in_objects) $(BUILD)/libhsumma.a $(BUILD)/obj/link.stamp
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(link) -shared -Wl,--gc-sections -Wl,--exclude-libs,ALL -o $@ $(filter %.o,$^) $(BUILD)/libhsumma.a $(lib_libs)

# Libraries that tests preload into other programs: without sanitizers and our flags.
$(tools): $(BUILD)/tests/%.so: tests/tools/%.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(MPICC) -O2 -shared -fPIC -Wl,--as-needed -o $@ $< -ldl

-include $(patsubst %.o,%.d,$(lib_objects) $(pmpi_objects) $(shim_objects) $(bench_objects) $(call objects,$(main)) $(patsubst $(BUILD)/%,$(BUILD)/obj/%.o,$(programs) $(sim_programs) $(fuzz_programs)) $(test_support) $(kernels_on_host) $(fake_cuda) $(as_host) $(stand_in_objects) $(interleave_objects))

# Targets that run programs. scripts/deps installs packages first; a new make then finds them.
bench: ## a short benchmark, against ScaLAPACK where there is one
	@scripts/deps
	@$(MAKE) bench-built

# Open MPI needs settings to run as root, or with more ranks than cores; tests/run makes them for the tests. Ranks that
# poll and are not bound may share a core for long; Open MPI binds by default.
bind = $(if $(findstring mpiexec.mpich,$(MPIEXEC)),-bind-to core)
bench-built: all
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
	    $(MPIEXEC) $(bind) -n $(RANKS) $(BUILD)/hsumma $(BENCH) $(if $(SCALAPACK_LIBS),--compare scalapack)

check: ## builds everything and runs the tests that take minutes together (TESTS=...: those alone); the last line counts
	@scripts/deps --tests
	@$(MAKE) check-built SHORT=--short

check-all: ## builds everything and runs all tests (those in the simulator where SimGrid is installed)
	@scripts/deps --tests
	@! command -v smpicc >/dev/null || ! command -v smpirun >/dev/null || $(MAKE) sim-programs
	@$(MAKE) check-built

check-rest: # the runs of check-all that check leaves out
	@! command -v smpicc >/dev/null || ! command -v smpirun >/dev/null || $(MAKE) sim-programs
	@$(MAKE) check-built SHORT=--rest

check-sim: ## the tests inside SimGrid's simulator, in three minutes; skipped without SimGrid
	@scripts/deps --sim || true
	@! command -v smpicc >/dev/null || ! command -v smpirun >/dev/null || $(MAKE) sim-programs
	@mkdir -p $(BUILD)
	@tests/run --build $(BUILD) '^0 \d+ programs/sim(_platform)?\.py|programs/sim_clock\.py (36|128) '

# MPICH loads hwloc, whose PCI component leaks in libpciaccess and is unloaded before the leak is reported, so no
# suppression can name it: under sanitizers that component is off.
# Libraries are preloaded into programs with AddressSanitizer, and libraries with it loaded into programs without.
sanitizer_environment = HWLOC_COMPONENTS=-pci UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=verify_asan_link_order=0 \
    LSAN_OPTIONS=suppressions=$(CURDIR)/tests/lsan.supp:print_suppressions=0
check-built: everything # SHORT: --short for the short suite, --rest for the others
	@MPIEXEC='$(MPIEXEC)' SANITIZE='$(SANITIZE)' $(if $(SANITIZE),$(sanitizer_environment)) \
	    tests/run --build $(BUILD) $(if $(SANITIZE),--slow 4) $(or $(SCRIPT),$(if $(TESTS),'$(TESTS)',$(SHORT)))

fuzz: ## a long comparison with ScaLAPACK: CASES random calls of p?gemm
	@scripts/deps --tests
	@$(MAKE) check-built SCRIPT='--script programs/fuzz.py --cases $(CASES) $(if $(SEED),--seed $(SEED))'

fuzz-input: ## RUNS random inputs for each reader of options, files and descriptors, under sanitizers (tests/fuzz; needs clang)
	@scripts/deps --tests
	@mkdir -p $(BUILD)
	@tests/run --build $(BUILD) --script programs/fuzz_input.py --runs $(RUNS) $(if $(SEED),--seed $(SEED))

check-faults: ## faults at random moments, in an hour: killed and stopped ranks, failing calls, damaged files, ...; CASES of them
	@scripts/deps --tests
	@$(MAKE) check-built SCRIPT='--script programs/faults.py --trials $(if $(filter file,$(origin CASES)),1000,$(CASES)) $(if $(SEED),--seed $(SEED))'

check-scalapack: ## all testers of Debian's scalapack-mpi-test, with the library preloaded
	@scripts/deps --tests
	@$(MAKE) check-built SCRIPT='--script programs/scalapack_testers.py --all'

asan: ## the same tests under AddressSanitizer and UBSan, in BUILD/asan
	@scripts/deps --tests
	@$(MAKE) BUILD=$(BUILD)/asan SANITIZE=address,undefined check-built

tsan: ## the ranks of a node as threads, under ThreadSanitizer, in BUILD/tsan (tests/unit/coll/threads.c says what it sees)
	@mkdir -p $(BUILD)/tsan
	@$(MAKE) BUILD=$(BUILD)/tsan SANITIZE=thread CUDA=0 MPIFC= $(BUILD)/tsan/tests/unit/coll/threads
	@UCX_MEM_EVENTS=n TSAN_OPTIONS=halt_on_error=1 $(BUILD)/tsan/tests/unit/coll/threads # else UCX intercepts madvise, which glibc calls when a thread ends

check-layers: ## the borders between the rooms of src/
	@scripts/check-layers $(if $(wildcard $(BUILD)/obj/src),--build $(BUILD))

# The figures of the papers.
FRESH = $(patsubst fresh,model$(comma)simulated,$(FIGURES))
figures: $(if $(FIGURES),all $(addprefix $(BUILD)/tests/unit/coll/,models rabenseifner_traff)) ## draws doc/results/papers from the kept data; FIGURES=fresh: from new models and simulations
	@scripts/deps --tests
	$(if $(filter simulated large all,$(subst $(comma), ,$(FRESH))),@$(MAKE) sim)
	@BUILD=$(BUILD) benchmarks/papers/figures.py $(if $(FRESH),--fresh $(FRESH)) $(if $(ONLY),--only '$(ONLY)')

# The manual.
man: $(command) ## man pages of the commands and options, in BUILD/man; "make install" installs them
	@BUILD=$(BUILD) scripts/manual man $(BUILD)/man

doc: man ## those, and the manual in HTML: BUILD/doc/html/index.html (needs Doxygen)
	@command -v doxygen >/dev/null || { echo 'make doc: there is no doxygen; "apt-get install doxygen"'; exit 1; }
	@BUILD=$(BUILD) scripts/manual html $(BUILD)/doc

# Installation.
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MODDIR     ?= $(LIBDIR)/fortran
BINDIR     ?= $(PREFIX)/bin
DATADIR    ?= $(PREFIX)/share/hsumma
DOCDIR     ?= $(PREFIX)/share/doc/hsumma
MANDIR     ?= $(PREFIX)/share/man
headers := $(wildcard include/*.h include/*.hpp)
# Files for pkg-config and CMake use paths relative to their own location, so that an installed tree can be moved;
# pkg-config omits flags for system directories only if it can recognise them.
templates = $(patsubst packaging/%.in,%,$(wildcard packaging/*.pc.in packaging/*.cmake.in))
configs = $(foreach file,$(templates),$(if $(filter %.pc,$(file)),pkgconfig,cmake/hsumma)/$(file))
way = $(shell realpath -ms --relative-to=$(1) $(2))
within_prefix = $(1:$(PREFIX)/%=$${prefix}/%)
hash := \#
# The macro by which mpi.h shows the MPI: MPICH and all MPIs with its ABI define MPICH's.
mpi_mark = $(firstword $(shell echo '$(hash)include <mpi.h>' | $(MPICC) -E -dM -x c - | grep -owE 'MPICH_VERSION|OMPI_MAJOR_VERSION'))
any_source = $(or $(shell printf '$(hash)include <mpi.h>\nMPI_ANY_SOURCE\n' | $(MPICC) -E -x c - | tail -n 1),MPI_ANY_SOURCE)
wrapper = $(patsubst /usr/bin/%,%,$(lastword $(MPICC)))
# For the check that stops the compiler if a program is compiled with another MPI than the library's.
name_mpi = -e 's|@MPI_MARK@|$(mpi_mark)|; s|@ANY_SOURCE@|$(any_source)|' -e 's|@MPICC@|$(wrapper)|; s|@MPIFORT@|$(subst mpicc,mpifort,$(wrapper))|' \
    -e 's|@BUILT_WITH@|$(if $(filter OMPI%,$(mpi_mark)),Open MPI,$(if $(mpi_mark),MPICH,another MPI))|'
substitutions = PC_PREFIX=$(if $(filter /usr,$(PREFIX)),/usr,$${pcfiledir}/$(call way,$(LIBDIR)/pkgconfig,$(PREFIX))) \
    PC_LIBDIR=$(call within_prefix,$(LIBDIR)) PC_INCLUDEDIR=$(call within_prefix,$(INCLUDEDIR)) \
    INCLUDE_FROM_CMAKE=$(call way,$(LIBDIR)/cmake/hsumma,$(INCLUDEDIR)) \
    MODULE_FROM_CMAKE=$(call way,$(LIBDIR)/cmake/hsumma,$(MODDIR)) SOURCE_FROM_CMAKE=$(call way,$(LIBDIR)/cmake/hsumma,$(DATADIR)) \
    PC_MODULE=$(if $(MPIFC),-I$(call within_prefix,$(MODDIR))) \
    VERSION=$(VERSION) MAJOR=$(major) MPI=$(MPI) MPI_MARK=$(mpi_mark)

install: all ## libraries, headers, command, files for CMake and pkg-config, licence
	install -d $(addprefix $(DESTDIR),$(LIBDIR)/pkgconfig $(LIBDIR)/cmake/hsumma $(INCLUDEDIR) $(if $(MPIFC),$(MODDIR)) $(BINDIR) $(DATADIR) $(DOCDIR))
	install -m 644 $(BUILD)/libhsumma.a $(DESTDIR)$(LIBDIR)
	for so in $(notdir $(shared)); do \
	    install -m 755 $(BUILD)/$$so $(DESTDIR)$(LIBDIR)/$$so.$(VERSION) && \
	    ln -sf $$so.$(VERSION) $(DESTDIR)$(LIBDIR)/$$so.$(major) && \
	    ln -sf $$so.$(major) $(DESTDIR)$(LIBDIR)/$$so || exit; done
	$(if $(pmpi),install -m 755 $(pmpi) $(DESTDIR)$(LIBDIR))
	install -m 644 $(filter %.a,$(shims)) $(DESTDIR)$(LIBDIR)
	install -m 644 $(headers) $(DESTDIR)$(INCLUDEDIR)
	$(if $(mpi_mark),sed '/^$(hash)include <mpi.h>/r packaging/other_mpi.h.in' include/hsumma.h | sed $(name_mpi) >$(DESTDIR)$(INCLUDEDIR)/hsumma.h)
	$(if $(MPIFC),install -m 644 $(BUILD)/hsumma.mod $(DESTDIR)$(MODDIR))
	install -m 644 $(module_source) $(DESTDIR)$(DATADIR)
	$(if $(command),install -m 755 $(command) $(DESTDIR)$(BINDIR) && ln -sf hsumma $(DESTDIR)$(BINDIR)/hsumma_bench)
	install -m 644 LICENSE $(DESTDIR)$(DOCDIR)
	$(foreach n,1 7,$(if $(wildcard $(BUILD)/man/man$n),install -D -m 644 -t $(DESTDIR)$(MANDIR)/man$n $(BUILD)/man/man$n/* &&)) true
	for file in $(configs); do \
	    sed -e '/^# @/d' $(foreach s,$(substitutions),-e 's|@$(subst =,@|,$(s))|g') -e 's|@LIBS_PRIVATE@|$(lib_libs)|' \
	        packaging/$${file##*/}.in >$(DESTDIR)$(LIBDIR)/$$file || exit; done
	$(if $(DESTDIR),,@echo 'Next: $(wrapper) program.c $$(PKG_CONFIG_PATH=$(LIBDIR)/pkgconfig pkg-config --cflags --libs hsumma) -Wl,-rpath,$(LIBDIR)')

uninstall: ## removes what "make install" has put there
	rm -f $(addprefix $(DESTDIR),$(addprefix $(LIBDIR)/,libhsumma.a libhsumma_pmpi.so $(notdir $(shims)) $(foreach so,$(notdir $(shared)),$(so) $(so).$(major) $(so).$(VERSION)) $(configs)) \
	    $(headers:include/%=$(INCLUDEDIR)/%) $(MODDIR)/hsumma.mod $(DATADIR)/hsumma.F90 $(BINDIR)/hsumma $(BINDIR)/hsumma_bench $(DOCDIR)/LICENSE \
	    $(addprefix $(MANDIR)/,man1/hsumma.1 man1/hsumma-*.1 man7/hsumma-options.7))
	-rmdir --ignore-fail-on-non-empty $(addprefix $(DESTDIR),$(if $(MPIFC),$(MODDIR)) $(DATADIR) $(DOCDIR) $(LIBDIR)/cmake/hsumma)

dist: ## source archive of the last commit, BUILD/hsumma-VERSION.tar.gz
	@mkdir -p $(BUILD)
	git archive --prefix=hsumma-$(VERSION)/ -o $(BUILD)/hsumma-$(VERSION).tar.gz HEAD

format: ## clang-format over the sources
	clang-format -i $(shell find include src benchmarks tests examples -name '*.[ch]' -o -name '*.inc' -o -name '*.cu')

clean: ## removes BUILD
	rm -rf $(BUILD)

help: ## this text
	@echo 'Targets:'; sed -nE 's/^([a-z-]+):.*## *(.*)/\1|\2/p' Makefile | awk -F'|' '{ printf "  %-15s %s\n", $$1, $$2 }'
	@echo 'Variables (default):'; sed -nE 's/^([A-Z_]+) *\?= *([^#]*)## *(.*)/\1|\3|\2/p' Makefile | \
	    awk -F'|' '{ d = $$3; sub(/ +$$/, "", d); printf "  %-15s %s%s\n", $$1, $$2, d == "" || d ~ /\$$/ ? "" : " (" d ")" }'
