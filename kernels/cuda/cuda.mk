# Kernels for NVIDIA GPUs, part of the Makefile.
#   CUDA          1: dllm has GPU kernels, the default where nvcc is found; 0: it has none
#   NVCC          the compiler of the CUDA toolkit
#   CUDA_HOME     where the toolkit lies
#   CUDA_ARCHS    compute capabilities; for one card say CUDA_ARCHS=90
#   CUDA_HEADERS  the toolkit's headers, or tests/cuda_emu/nocuda, which stands in for them
NVCC ?= $(firstword $(shell command -v nvcc 2>/dev/null) $(wildcard /usr/local/cuda/bin/nvcc))
CUDA ?= $(if $(NVCC),1,0)
CUDA_HOME ?= $(or $(patsubst %/bin/nvcc,%,$(NVCC)),/usr/local/cuda)
CUDA_HEADERS ?= $(patsubst %/cuda_runtime_api.h,%,$(firstword \
                  $(wildcard $(CUDA_HOME)/include/cuda_runtime_api.h) tests/cuda_emu/nocuda))
ifneq ($(filter-out 0 1,$(CUDA)),)
$(error CUDA=$(CUDA): give 0 (no GPU kernels) or 1)
endif
ifeq ($(CUDA)$(NVCC),1)
$(error CUDA=1, but there is no nvcc: install the CUDA toolkit (12.8 or newer), say where with NVCC=, or leave CUDA out)
endif
# CC="ccache gcc" means these compilers too.
CCACHE := $(filter %ccache,$(firstword $(CC)))
ifeq ($(origin CXX),default)
CXX := $(CCACHE) g++
endif

CUDA_SRC := $(wildcard kernels/cuda/*.cu)
CUDA_TEST_SRC := $(wildcard tests/cuda/test_*.cpp)

# Machine code per generation, and PTX that the driver compiles for others and newer ones.
# Up to 90 one front end serves all; from 100 on each has its own, with which it needs fewer registers.
CUDA_ARCHS ?= 80 86 89 90 120
comma := ,
empty :=
NVCC_CODES := $(subst $(empty) $(empty),$(comma),$(patsubst %,sm_%,$(filter 8% 9%,$(CUDA_ARCHS))) compute_80)
NVCC_ARCHS := -gencode arch=compute_80,code=[$(NVCC_CODES)] \
              $(foreach arch,$(filter 1%,$(CUDA_ARCHS)),-gencode arch=compute_$(arch),code=sm_$(arch))
# Spilled registers are errors; what kernels take is kept beside the objects (scripts/kernel_resources.py). Without thread-safe statics nothing needs the C++ library.
NVCC_LANGUAGE := -std=c++17 -O3 -fmad=false -Isrc/base -Isrc/format -Ikernels/cpu -Ikernels/cuda
NVCCFLAGS := $(NVCC_LANGUAGE) $(NVCC_ARCHS) --compress-mode=size \
             -Werror all-warnings -Wreorder -Wdefault-stream-launch \
             -Xcompiler=-fPIC,-Wall,-Wextra,-Wconversion,-Wshadow,-Werror \
             -Xcompiler=-fvisibility=hidden,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics \
             -Xptxas=-warn-spills,-warn-lmem-usage,-Werror,-v
CUDA_OBJ := $(CUDA_SRC:%.cu=$(BUILD)/obj/%.o)
CUDART := $(if $(filter 1,$(CUDA)),$(or $(firstword $(wildcard $(CUDA_HOME)/lib64/libcudart_static.a \
            $(CUDA_HOME)/lib/libcudart_static.a /usr/lib/*/libcudart_static.a)),\
            $(error no libcudart_static.a in $(CUDA_HOME)/lib64: give CUDA_HOME, or CUDA=0)))

# What the library is made of.
GPU_OBJ := $(GPU_SRC:%.c=$(BUILD)/obj/%.o)
NO_GPU_OBJ := $(NO_GPU_SRC:%.c=$(BUILD)/obj/%.o)
SHIPPED_OBJ := $(if $(CUDART),$(filter-out $(NO_GPU_OBJ),$(LIB_OBJ)) $(GPU_OBJ) $(CUDA_OBJ),$(LIB_OBJ))

# Changes when these do, so that what depends on them is made again.
.PHONY: always
$(BUILD)/configured: always
	@mkdir -p $(@D)
	@echo "$(CUDA) $(CUDA_ARCHS) $(CUDA_HEADERS)" | cmp -s - $@ || echo "$(CUDA) $(CUDA_ARCHS) $(CUDA_HEADERS)" >$@

$(CUDA_OBJ): $(BUILD)/obj/%.o: %.cu $(BUILD)/configured
	@mkdir -p $(@D)
	$(if $(Q),@echo "  NVCC  $<")
	$(Q)$(CCACHE) $(NVCC) $(NVCCFLAGS) -MMD -MP -MF $(@:.o=.d) -c $< -o $@ 2>$(@:.o=.ptxas) || \
	    { grep -vE '^ptxas info|^ +[0-9]+ bytes stack|^$$' $(@:.o=.ptxas) >&2; exit 1; }

# The host's side needs the headers of the runtime, no compiler of its own.
$(GPU_OBJ): CPPFLAGS += -Ikernels/cuda -isystem $(CUDA_HEADERS)

# The kernels as nvcc translates them to PTX, for the emulator to run (tests/cuda_emu/ptx_program.h): what
# both of its front ends make of them.
PTX_ARCHS := 80 120
PTX := $(foreach arch,$(PTX_ARCHS),$(CUDA_SRC:kernels/cuda/%.cu=$(BUILD)/ptx-$(arch)/%.ptx))
define translate
$(BUILD)/ptx-$(1)/%.ptx: kernels/cuda/%.cu
	@mkdir -p $$(@D)
	$$(if $$(Q),@echo "  PTX   $$< ($(1))")
	$$(Q)$$(CCACHE) $$(NVCC) $$(NVCC_LANGUAGE) -arch=compute_$(1) -MMD -MP -MF $$(@:.ptx=.d) -ptx $$< -o $$@
endef
$(foreach arch,$(PTX_ARCHS),$(eval $(call translate,$(arch))))
-include $(PTX:.ptx=.d)

# The kernels' tests for a GPU: those that the emulator runs, in one program.
GPU_TEST_OBJ := $(CUDA_TEST_SRC:%.cpp=$(BUILD)/obj/%.o) $(BUILD)/obj/tests/cuda/device_test.o
$(GPU_TEST_OBJ): $(BUILD)/obj/%.o: %.cpp
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CXX   $<")
	$(Q)$(CXX) $(EMU_CPPFLAGS) $(EMU_CXXFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/tests/test_gpu: $(GPU_TEST_OBJ) $(CUDA_OBJ) $(BUILD)/internal.a
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD    $@")
	$(Q)$(CXX) -pthread $(filter-out %/configured,$^) $(CUDART) $(LIBS) -ldl -lrt -o $@

# What measures on a GPU, and the tests of whole models there: everything but main, and the kernels.
GPU_TOOLS := $(if $(CUDART),$(BUILD)/bench/compare_llama $(BUILD)/bench/gpu_parity)
GPU_TESTS := $(if $(CUDART),$(GPU_TEST_SRC:%.c=$(BUILD)/%))
$(GPU_TESTS): LIBS += -lcmocka -Wl,-rpath,'$$ORIGIN/../../lib' # where scripts/make_gpu_kit.sh puts it
$(GPU_TOOLS) $(GPU_TESTS): $(BUILD)/%: $(BUILD)/obj/%.o $(BUILD)/internal-gpu.a $(CUDA_OBJ)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD    $@")
	$(Q)$(CC) $(LDFLAGS) $^ $(CUDART) $(JANSSON) $(EDIT_LIBS) $(LIBS) -ldl -lrt -o $@

.PHONY: cuda-objects cuda-tests
cuda-objects: $(CUDA_OBJ)
cuda-tests: cuda-emu $(if $(CUDART),$(BUILD)/tests/test_gpu $(PTX)) $(GPU_TESTS)
