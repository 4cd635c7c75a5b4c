/* batch_requests.c: the requests of a batch, one after the other, compared with results and taken.
 */
#include "batch.h"

#include <errno.h>
#include <string.h>

static int walk(const struct batch_requests *requests, bool check, bool take)
{
    struct batch_input *input = requests->input;
    json_t *seen = json_object(); /* keys of the requests so far */
    const char *line;
    size_t size;
    int code = CLI_OK;

    while (!code && requests->go_on(requests->context)) {
        struct batch_job request;
        if ((code = batch_input_next(input, requests->go_on, requests->context, &line, &size)) ||
            !line)
            break;
        if ((input->line - 1) % requests->shards != requests->shard - 1 ||
            batch_line_is_blank(line, size))
            continue;
        batch_job_parse(&request, line, size, input->line, seen);
        code = check ? requests->check(requests->context, &request) : CLI_OK;
        if (!code && take)
            code = requests->take(requests->context, &request);
        batch_job_clear(&request);
    }
    json_decref(seen);
    return code;
}

int batch_requests_check(struct batch_requests *requests)
{
    int code;

    requests->checked = json_object_size(requests->output->done) == 0;
    if (requests->checked || !batch_input_rewind(requests->input))
        return CLI_OK;
    requests->checked = true;
    if ((code = walk(requests, true, false)) || batch_input_rewind(requests->input))
        return code;
    return cli_fail(CLI_FAILURE, "the input \"%s\" could not be read a second time: %s",
                    requests->input->name, strerror(errno));
}

int batch_requests_take(const struct batch_requests *requests)
{
    return walk(requests, !requests->checked, true);
}
