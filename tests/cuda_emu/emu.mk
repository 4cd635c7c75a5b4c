# The emulator of a GPU, part of the Makefile: the kernels as plain C++, in three builds that see different
# faults (docs/cuda.md).
EMU_SRC := $(wildcard tests/cuda_emu/*.cpp)
EMU_RACE_SRC := tests/cuda_emu/race_shadow.cpp tests/cuda_emu/race_hooks.cpp
# Tests of the emulator itself, and what they share.
EMU_TEST_SRC := $(wildcard tests/cuda_emu/checks/test_*.cpp)
EMU_SHARED := $(patsubst %.cu,%.o,$(wildcard tests/cuda_emu/checks/*.cu)) tests/cuda_emu/checks/forked.o
EMU_MODES := plain asan race

EMU_CXXFLAGS := -std=c++17 -O1 -g -fno-omit-frame-pointer -fno-strict-aliasing -ffp-contract=off -pthread \
                -Wall -Wextra -Wconversion -Wshadow -Wno-unused-function -Werror
# Only a call of fmaf becomes an instruction: the same bits, sooner.
EMU_CXXFLAGS += $(if $(shell grep -m1 -wo fma /proc/cpuinfo),-mfma)
EMU_CPPFLAGS := -D_GNU_SOURCE -Iinclude -Isrc/base -Isrc/format -Isrc/backend -Ikernels/cpu -Ikernels/cuda \
                -Itests/support -Itests/cuda -Itests/cuda_emu -Itests/cuda_emu/checks -isystem $(CUDA_HEADERS)
EMU_SAN := -fsanitize=address,alignment,bounds -fno-sanitize-recover=all
# The compiler announces every access of a kernel, the race checks listen: no library of the compiler's.
# Arrays in registers are no memory that they know, so the compiler checks indices itself.
EMU_BOUNDS := -fsanitize=bounds -fno-sanitize-recover=all
EMU_KERNELS_asan := $(EMU_SAN)
EMU_KERNELS_race := -fsanitize=thread $(EMU_BOUNDS)
EMU_OTHERS_asan := $(EMU_SAN)
EMU_TESTS := $(foreach mode,$(EMU_MODES),$(patsubst %.cpp,$(BUILD)/cuda-$(mode)/%,$(notdir $(CUDA_TEST_SRC) $(EMU_TEST_SRC))))

# The emulator itself is optimised: it does most of the work.
define emu_mode
$(BUILD)/cuda-$(1)/%.o: %.cu
	@mkdir -p $$(@D)
	$$(if $$(Q),@echo "  EMU   $$< ($(1))")
	$$(Q)$$(CXX) $$(EMU_CPPFLAGS) $$(EMU_CXXFLAGS) $$(EMU_KERNELS_$(1)) -MMD -MP -x c++ -c $$< -o $$@

$(BUILD)/cuda-$(1)/%.o: %.cpp
	@mkdir -p $$(@D)
	$$(if $$(Q),@echo "  CXX   $$< ($(1))")
	$$(Q)$$(CXX) $$(EMU_CPPFLAGS) $$(EMU_CXXFLAGS) $$(if $$(filter tests/cuda_emu/%,$$<),-O2) \
	    $$(EMU_OTHERS_$(1)) -MMD -MP -c $$< -o $$@

# Kernels and the mock of the CUDA runtime, for whatever is linked against them.
$(BUILD)/cuda-$(1)/emulator.a: $(CUDA_SRC:%.cu=$(BUILD)/cuda-$(1)/%.o) \
    $(patsubst %.cpp,$(BUILD)/cuda-$(1)/%.o,$(if $(filter race,$(1)),$(EMU_SRC),$(filter-out $(EMU_RACE_SRC),$(EMU_SRC))))
	$$(Q)rm -f $$@ && $$(AR) rcs $$@ $$^

EMU_LIBS_$(1) := $(BUILD)/cuda-$(1)/tests/cuda/device_test.o $(BUILD)/cuda-$(1)/emulator.a $(BUILD)/internal.a

$(CUDA_TEST_SRC:tests/cuda/%.cpp=$(BUILD)/cuda-$(1)/%): $(BUILD)/cuda-$(1)/%: \
    $(BUILD)/cuda-$(1)/tests/cuda/%.o $$(EMU_LIBS_$(1))
	$$(call emu_link,$(1))

$(EMU_TEST_SRC:tests/cuda_emu/checks/%.cpp=$(BUILD)/cuda-$(1)/%): $(BUILD)/cuda-$(1)/%: \
    $(BUILD)/cuda-$(1)/tests/cuda_emu/checks/%.o $(EMU_SHARED:%=$(BUILD)/cuda-$(1)/%) $$(EMU_LIBS_$(1))
	$$(call emu_link,$(1))
endef
# The race checks know shared memory by its place among the program's variables.
define emu_link
	$(if $(Q),@echo "  LD    $@")
	$(Q)$(CXX) -no-pie -pthread $(EMU_OTHERS_$(1)) $^ $(EMU_LINK_$(1)) $(JANSSON) $(EDIT_LIBS) $(LIBS) -o $@
endef
# Nothing refers to the race checks by name.
EMU_LINK_race := -Wl,--undefined=emu_race_checks $(EMU_BOUNDS)
$(foreach mode,$(EMU_MODES),$(eval $(call emu_mode,$(mode))))

# Everything but main, with the GPU: for tests of whole models.
$(BUILD)/internal-gpu.a: $(filter-out $(NO_GPU_OBJ),$(LIB_OBJ)) $(GPU_OBJ) $(SUPPORT_OBJ) \
    $(filter-out %/main.o,$(CLI_OBJ))
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# The tests, and dllm itself, on the emulated GPU of a mode.
define emu_models
$(GPU_TEST_SRC:tests/gpu/%.c=$(BUILD)/cuda-$(1)/%): $(BUILD)/cuda-$(1)/%: $(BUILD)/obj/tests/gpu/%.o \
    $(BUILD)/internal-gpu.a $(BUILD)/cuda-$(1)/emulator.a
	$$(call emu_link,$(1)) -lcmocka

$(BUILD)/cuda-$(1)/dllm: $(BUILD)/obj/src/cli/main.o $(BUILD)/internal-gpu.a $(BUILD)/cuda-$(1)/emulator.a
	$$(call emu_link,$(1))

$(BUILD)/cuda-$(1)/bench/%: $(BUILD)/obj/bench/%.o $(BUILD)/internal-gpu.a $(BUILD)/cuda-$(1)/emulator.a
	@mkdir -p $$(@D)
	$$(call emu_link,$(1))
endef
$(foreach mode,$(EMU_MODES),$(eval $(call emu_models,$(mode))))
EMU_TESTS += $(foreach mode,$(EMU_MODES),$(GPU_TEST_SRC:tests/gpu/%.c=$(BUILD)/cuda-$(mode)/%)) $(BUILD)/dllm-emu \
    $(BUILD)/cuda-plain/bench/gpu_parity

$(BUILD)/dllm-emu: $(BUILD)/cuda-plain/dllm
	$(Q)ln -sf cuda-plain/dllm $@

.PHONY: cuda-emu check-cuda
cuda-emu: $(EMU_TESTS)

# Every kernel test in every mode of the emulator.
check-cuda: cuda-emu
	$(Q)BUILD=$(BUILD) scripts/run_cuda_modes.sh

.PHONY: check-ptx
# The same tests on what nvcc makes of the kernels (ptx_program.h).
check-ptx: cuda-emu $(if $(NVCC),$(PTX))
	$(if $(NVCC),,$(error check-ptx needs nvcc: install the CUDA toolkit, or say where with NVCC=))
	$(Q)BUILD=$(BUILD) scripts/run_cuda_modes.sh --ptx

-include $(foreach mode,$(EMU_MODES),$(shell find $(BUILD)/cuda-$(mode) -name '*.d' 2>/dev/null))

# How to compile for the plain emulator, for tests/scripts/test_cuda_headers.sh.
.PHONY: cuda-flags
cuda-flags:
	@echo "$(EMU_CPPFLAGS) $(EMU_CXXFLAGS)"
