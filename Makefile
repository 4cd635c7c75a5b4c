# dllm: see `make help`.
BUILD ?= build
CC ?= cc
V ?= 0
SAN ?=
PREFIX ?= /usr/local
# Every core, unless a -j on the command line says otherwise.
JOBS ?= $(shell nproc)
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(JOBS)
endif

ifneq ($(SAN),)
BUILD := $(BUILD)-$(SAN)
CUDA ?= 0
SANFLAGS := -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer
endif
Q := $(if $(filter 1,$(V)),,@)

VERSION := $(shell cat VERSION)
# What is given on make's command line comes first; the flags here are not optional.
override CPPFLAGS += -D_GNU_SOURCE -DDLLM_VERSION='"$(VERSION)"' -Iinclude $(addprefix -I,$(wildcard src/*) kernels/cpu)
# Strict floats: no contraction, no fast-math; the kernels ask for fused operations by name. Nothing
# reads the exception flags, and without them comparisons can become vector code; values stay the same.
CFLAGS ?= -O2 -g
override CFLAGS += -std=c11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror \
          -ffp-contract=off -fno-math-errno -fno-trapping-math -fvisibility=hidden -fPIC -pthread
override LDFLAGS += -pthread $(SANFLAGS)
# For libFuzzer and AFL++ (their compilers take the same words): see scripts/fuzz.sh.
ifneq ($(FUZZER),)
SANFLAGS := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
override LDFLAGS += -fsanitize=fuzzer,address,undefined
endif
# Static, so that the binary runs where only libc is installed.
PCRE2 := $(firstword $(wildcard /usr/lib/*/libpcre2-8.a /usr/lib/libpcre2-8.a) -lpcre2-8)
JANSSON := $(firstword $(wildcard /usr/lib/*/libjansson.a /usr/lib/libjansson.a) -ljansson)
LIBS = $(PCRE2) -lm
# An editor for the lines of dllm chat, if it is there; EDIT=0 leaves it out.
EDIT ?= $(if $(wildcard /usr/include/histedit.h),1,0)
ifneq ($(EDIT),0)
$(BUILD)/obj/src/cli/line.o: override CPPFLAGS += -DDLLM_LIBEDIT
EDIT_NAMES := edit tinfo bsd md
EDIT_LIBS := $(foreach name,$(EDIT_NAMES),$(firstword $(wildcard /usr/lib/*/lib$(name).a) -l$(name)))
endif

# One instruction set per file, chosen by its suffix.
ISA_avx2 := -mavx2 -mfma -mf16c
ISA_avxvnni := -mavx2 -mfma -mf16c -mavxvnni
ISA_avx512vnni := -mavx2 -mfma -mf16c -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni \
                  -mprefer-vector-width=512
isa = $(ISA_$(lastword $(subst _, ,$(basename $(notdir $(1))))))
# Unrolled vector code takes minutes to compile with sanitizers; tests/check puts guard pages around
# what those files may touch instead.
flags = $(or $(call isa,$(1)),$(SANFLAGS))

# The GPU's side of the host, or what stands in for it: always in internal.a, and in a library without CUDA.
GPU_SRC := src/backend/backend_cuda.c $(wildcard src/backend/gpu_*.c)
NO_GPU_SRC := src/backend/backend_cuda_off.c
GPU_TEST_SRC := $(wildcard tests/gpu/test_*.c)
LIB_SRC := $(filter-out $(GPU_SRC),$(wildcard src/base/*.c src/format/*.c src/text/*.c src/backend/*.c \
             src/model/*.c src/decode/*.c src/quantize/*.c src/engine/*.c kernels/cpu/*.c))
CLI_SRC := $(wildcard src/cli/*.c)
HUB_SRC := $(wildcard src/hub/*.c)
TEST_SRC := $(wildcard tests/unit/test_*.c tests/check/test_*.c tests/model/test_*.c)
SUPPORT_SRC := $(wildcard tests/support/*.c)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
TOOL_SRC := $(wildcard tests/peer/*.c bench/*.c scripts/*.c) $(FUZZ_SRC) tests/fuzz/seeds.c
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/obj/%.o)
HUB_OBJ := $(HUB_SRC:%.c=$(BUILD)/obj/%.o)
CLI_OBJ := $(CLI_SRC:%.c=$(BUILD)/obj/%.o) $(HUB_OBJ)
SUPPORT_OBJ := $(SUPPORT_SRC:%.c=$(BUILD)/obj/%.o)
TESTS := $(TEST_SRC:tests/%.c=$(BUILD)/tests/%)
TOOLS := $(TOOL_SRC:%.c=$(BUILD)/%)
PRELOAD := $(BUILD)/tests/faults/preload.so

.DEFAULT_GOAL := all
include kernels/cuda/cuda.mk tests/cuda_emu/emu.mk

.PHONY: all objects tests tools sanitized threads test check bench lint install uninstall deb clean help
.SECONDARY:

all: $(BUILD)/dllm $(BUILD)/libdllm.a $(BUILD)/libdllm.so

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC    $<")
	$(Q)$(CC) $(CPPFLAGS) $(if $(filter tests/% bench/% scripts/%,$<),-Itests/support) $(CFLAGS) $(call flags,$<) -MMD -MP -c $< -o $@

# The built-in model is part of this object (the assembler reads it in).
$(BUILD)/obj/src/format/demo_model.o: models/demo.gguf
$(BUILD)/obj/src/cli/trace_page.o: src/cli/trace_page.html

# One relocatable object whose only global symbols are the public dllm_ ones; the CUDA runtime is in it.
$(BUILD)/libdllm.a: $(SHIPPED_OBJ) $(BUILD)/configured
	$(if $(Q),@echo "  AR    $@")
	$(Q)$(LD) -r -o $(BUILD)/libdllm_own.o $(SHIPPED_OBJ)
	$(Q)$(LD) -r -o $(BUILD)/libdllm.o $(BUILD)/libdllm_own.o $(CUDART)
	$(if $(CUDART),$(Q)nm -g --defined-only $(CUDART) | awk 'NF == 3 { print $$3 }' >$(BUILD)/cudart.symbols)
	$(Q)objcopy --localize-hidden $(if $(CUDART),--localize-symbols=$(BUILD)/cudart.symbols) $(BUILD)/libdllm.o
	$(Q)rm -f $@ && $(AR) rcs $@ $(BUILD)/libdllm.o

# The same as a shared library; PCRE2 is one too then.
SONAME := libdllm.so.$(firstword $(subst ., ,$(VERSION)))
$(BUILD)/libdllm.so: $(BUILD)/libdllm.a
	$(if $(Q),@echo "  LD    $@")
	$(Q)$(CC) -shared -Wl,-soname,$(SONAME) -Wl,-z,defs $(LDFLAGS) $(BUILD)/libdllm.o -lpcre2-8 -lm -o $@

$(BUILD)/dllm: $(CLI_OBJ) $(BUILD)/libdllm.a
	$(if $(Q),@echo "  LD    $@")
	$(Q)$(CC) $(LDFLAGS) $(CLI_OBJ) $(BUILD)/libdllm.a $(JANSSON) $(EDIT_LIBS) $(LIBS) -o $@

# Tests reach internal functions, so they link an archive of all objects, the program's own included.
$(BUILD)/internal.a: $(LIB_OBJ) $(SUPPORT_OBJ) $(filter-out %/main.o,$(CLI_OBJ))
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(BUILD)/internal.a
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD    $@")
	$(Q)$(CC) $(LDFLAGS) $^ -lcmocka $(JANSSON) $(EDIT_LIBS) $(LIBS) -ldl -o $@

# What the fuzzers' programs share; their main function, unless a fuzzer's is linked.
FUZZ_OBJ := $(patsubst %,$(BUILD)/obj/tests/fuzz/%.o,support gguf_mutate $(if $(FUZZER),,replay))
$(FUZZ_SRC:%.c=$(BUILD)/%): $(FUZZ_OBJ)

$(filter-out $(GPU_TOOLS),$(TOOLS)): $(BUILD)/%: $(BUILD)/obj/%.o $(BUILD)/internal.a
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD    $@")
	$(Q)$(CC) $(LDFLAGS) $(filter %.o,$^) $(BUILD)/internal.a $(JANSSON) $(EDIT_LIBS) $(LIBS) -ldl -o $@

# The program without GPU kernels, for tests/faults: NVIDIA's runtime, which starts before main, does not
# survive want of memory.
$(BUILD)/tests/faults/dllm: $(BUILD)/obj/src/cli/main.o $(BUILD)/internal.a
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD    $@")
	$(Q)$(CC) $(LDFLAGS) $^ $(JANSSON) $(EDIT_LIBS) $(LIBS) -o $@

# Stands before libc in tests/faults.
$(PRELOAD): tests/faults/preload.c
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC    $<")
	$(Q)$(CC) -shared -fPIC -O1 -Wall -Wextra -Werror -D_GNU_SOURCE $< -ldl -o $@

objects: $(LIB_OBJ) $(GPU_SRC:%.c=$(BUILD)/obj/%.o) $(CLI_OBJ) $(SUPPORT_OBJ) \
    $(TEST_SRC:%.c=$(BUILD)/obj/%.o) $(GPU_TEST_SRC:%.c=$(BUILD)/obj/%.o) $(if $(CUDART),$(CUDA_OBJ))
tests: $(TESTS) $(PRELOAD) $(BUILD)/tests/faults/dllm
tools: $(TOOLS)

# The sanitizers' build: what reads bytes from strangers is tested twice.
SAN_BUILD := $(BUILD)-sanitized
SANITIZED := $(filter $(BUILD)/tests/unit/%,$(TESTS)) $(filter $(BUILD)/tests/fuzz/%,$(TOOLS))

sanitized: $(SANITIZED) $(BUILD)/dllm

# What uses threads, for ThreadSanitizer.
THREAD_BUILD := $(BUILD)-thread
THREAD_TESTS := pool meeting engine
threads: $(THREAD_TESTS:%=$(BUILD)/tests/unit/test_%) $(BUILD)/dllm

test: all tests tools cuda-tests
	$(Q)$(MAKE) --no-print-directory BUILD=$(SAN_BUILD) SAN=address,undefined CUDA=0 sanitized
	$(Q)$(MAKE) --no-print-directory BUILD=$(THREAD_BUILD) SAN=thread CUDA=0 threads
	$(Q)BUILD=$(BUILD) SAN_BUILD=$(SAN_BUILD) THREAD_BUILD=$(THREAD_BUILD) scripts/run_tests.sh

check: $(filter $(BUILD)/tests/check/%,$(TESTS))
	$(Q)BUILD=$(BUILD) scripts/run_tests.sh check

bench: all tools
	$(Q)BUILD=$(BUILD) bench/run

lint: all
	$(Q)BUILD=$(BUILD) scripts/lint.sh

# Nothing installed knows where it lies: the tree may be moved.
MAN := share/man/man1/dllm.1
COMPLETIONS := bash:share/bash-completion/completions/dllm zsh:share/zsh/site-functions/_dllm \
               fish:share/fish/vendor_completions.d/dllm.fish
WRITTEN := lib/pkgconfig/dllm.pc $(MAN) $(foreach pair,$(COMPLETIONS),$(lastword $(subst :, ,$(pair))))
INSTALLED := bin/dllm lib/libdllm.a lib/libdllm.so lib/$(SONAME) lib/libdllm.so.$(VERSION) \
             include/dllm.h $(WRITTEN)

# In quotes: a folder's name may have spaces. Everybody may read it, whatever the umask.
install: INTO = '$(DESTDIR)$(PREFIX)'
install: all
	for folder in $(sort $(dir $(INSTALLED))); do install -d $(INTO)/$$folder || exit 1; done
	install -m 755 $(BUILD)/dllm $(INTO)/bin/dllm
	install -m 644 $(BUILD)/libdllm.a $(INTO)/lib/libdllm.a
	install -m 644 $(BUILD)/libdllm.so $(INTO)/lib/libdllm.so.$(VERSION)
	ln -sf libdllm.so.$(VERSION) $(INTO)/lib/$(SONAME)
	ln -sf $(SONAME) $(INTO)/lib/libdllm.so
	install -m 644 include/dllm.h $(INTO)/include/dllm.h
	sed 's/@VERSION@/$(VERSION)/' packaging/dllm.pc.in >$(INTO)/lib/pkgconfig/dllm.pc
	scripts/make_man.sh $(BUILD)/dllm >$(INTO)/$(MAN)
	for pair in $(COMPLETIONS); do \
	    $(BUILD)/dllm completion $${pair%%:*} >$(INTO)/$${pair#*:} || exit 1; done
	cd $(INTO) && chmod 644 $(WRITTEN)

uninstall:
	for file in $(INSTALLED); do rm -f '$(DESTDIR)$(PREFIX)'/$$file || exit 1; done

# A package for Debian and its relatives, from the installed tree.
deb: all
	BUILD=$(BUILD) scripts/make_deb.sh

clean:
	rm -rf build build-*

help:
	@echo "make            build/dllm, build/libdllm.a and build/libdllm.so"
	@echo "make test       every test; ends with a line that counts them"
	@echo "make check      the kernels against the reference, per CPU level"
	@echo "make check-cuda the GPU kernels on the CPU, emulated, in every mode"
	@echo "make check-ptx  the same kernels, as nvcc translates them to PTX"
	@echo "make bench      speed: steps, matrix products, beside llama.cpp; keeps results"
	@echo "make lint       layers, symbols, instruction sets, format"
	@echo "make install    to PREFIX (default /usr/local); DESTDIR is honoured; make uninstall"
	@echo "make deb        build/dllm_VERSION_ARCH.deb"
	@echo "make clean      removes what was built"
	@echo "variables       V=1 shows commands, SAN=address|undefined|thread, BUILD=dir, PREFIX, DESTDIR;"
	@echo "                CUDA=0|1 without or with GPU kernels (1 where nvcc is found),"
	@echo "                CUDA_ARCHS=90 for one generation of GPUs instead of five"

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
