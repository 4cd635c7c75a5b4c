/*
 * demo_model.c: the bytes of models/demo.gguf, put into the library by the
 * assembler, so that the first run needs no file. They lie in read-only memory,
 * aligned as the tensors of a mapped file are; the Makefile knows that this
 * object depends on that file.
 */
#include "demo_model.h"

__asm__(".pushsection .rodata.demo_model,\"a\",@progbits\n"
        ".balign 64\n"
        ".globl demo_model_start\n"
        ".hidden demo_model_start\n"
        "demo_model_start:\n"
        ".incbin \"models/demo.gguf\"\n"
        ".globl demo_model_end\n"
        ".hidden demo_model_end\n"
        "demo_model_end:\n"
        ".byte 0\n"
        ".popsection\n");

extern const uint8_t demo_model_start[] __attribute__((visibility("hidden")));
extern const uint8_t demo_model_end[] __attribute__((visibility("hidden")));

const uint8_t *demo_model_bytes(uint64_t *size)
{
    *size = (uint64_t)((uintptr_t)demo_model_end - (uintptr_t)demo_model_start);
    return demo_model_start;
}
