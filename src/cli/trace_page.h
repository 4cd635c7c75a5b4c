/* trace_page.h: the page that dllm trace makes, with a hole for the trace. */
#ifndef TRACE_PAGE_H
#define TRACE_PAGE_H

#include "dllm.h"

/* What stands before and behind the trace. Static storage. */
void trace_page_parts(struct dllm_string *before, struct dllm_string *behind);

#endif
