/*
 * trace_page.c: trace_page.html, put into the program by the assembler; the
 * Makefile knows that this object depends on that file.
 */
#include "trace_page.h"

#include <string.h>

__asm__(".pushsection .rodata.trace_page,\"a\",@progbits\n"
        ".hidden trace_page_start\n"
        ".globl trace_page_start\n"
        "trace_page_start:\n"
        ".incbin \"src/cli/trace_page.html\"\n"
        ".byte 0\n"
        ".popsection\n");

extern const char trace_page_start[] __attribute__((visibility("hidden")));

void trace_page_parts(struct dllm_string *before, struct dllm_string *behind)
{
    static const char hole[] = "@TRACE@";
    const char *at = strstr(trace_page_start, hole);
    const char *rest = at + sizeof hole - 1;

    *before = (struct dllm_string){trace_page_start, (size_t)(at - trace_page_start)};
    *behind = (struct dllm_string){rest, strlen(rest)};
}
