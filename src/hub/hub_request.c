/*
 * hub_request.c: one GET request through the curl program.
 *
 * curl reads its settings, the token among them, from standard input: nothing
 * secret is on a command line, where every user of the machine can read it. It
 * writes the answer's bytes to standard output, and to standard error its
 * complaint followed by a line with the HTTP status. ~/.curlrc is left out (-q).
 */
#include "hub_parts.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TOKEN_BYTES = 512, CONFIG_BYTES = 8192, CHUNK_BYTES = 16384, TICK_MS = 200 };

/* Exit codes of curl. */
enum {
    CURL_HTTP_ERROR = 22,
    CURL_NO_RANGE = 33,
    CURL_BAD_RESUME = 36,
};

const char *hub_endpoint(char out[HUB_PATH_BYTES])
{
    const char *value = getenv("HF_ENDPOINT");

    snprintf(out, HUB_PATH_BYTES, "%s", value && *value ? value : "https://huggingface.co");
    while (*out && out[strlen(out) - 1] == '/')
        out[strlen(out) - 1] = 0;
    return out;
}

void hub_encode_path(const char *path, char *out, size_t size)
{
    size_t used = 0;

    for (; *path && used + 4 <= size; path++) {
        unsigned char c = (unsigned char)*path;

        if (isalnum(c) || strchr("-._~/", c))
            out[used++] = (char)c;
        else
            used += (size_t)snprintf(out + used, 4, "%%%02X", c);
    }
    out[used] = 0;
}

/* The first word of the file that `hf auth login` writes. */
static bool read_token_file(char token[TOKEN_BYTES])
{
    const char *named = getenv("HF_TOKEN_PATH"), *home = getenv("HF_HOME");
    char path[HUB_PATH_BYTES];
    FILE *stream;
    bool found;

    if (named && *named)
        snprintf(path, sizeof path, "%s", named);
    else if (home && *home)
        snprintf(path, sizeof path, "%s/token", home);
    else
        snprintf(path, sizeof path, "%s/.cache/huggingface/token",
                 getenv("HOME") ? getenv("HOME") : "");
    stream = fopen(path, "re");
    if (!stream)
        return false;
    found = fscanf(stream, "%511s", token) == 1;
    fclose(stream);
    return found;
}

/* Printable characters only: a line end would begin another setting. */
static bool find_token(char token[TOKEN_BYTES])
{
    const char *value = getenv("HF_TOKEN");

    if (value && *value)
        snprintf(token, TOKEN_BYTES, "%s", value);
    else if (!read_token_file(token))
        return false;
    for (const char *at = token; *at; at++)
        if (!isgraph((unsigned char)*at) || strchr("\"\\", *at))
            return false;
    return token[0] != 0;
}

bool hub_has_token(void)
{
    char token[TOKEN_BYTES];

    return find_token(token);
}

/* curl sends a header of the user's to the first host only, not to where that
 * one redirects. From https a redirect may lead to https alone. */
static void write_config(const struct hub_request *request, char config[CONFIG_BYTES])
{
    bool secure = strncmp(request->url, "https:", 6) == 0;
    char token[TOKEN_BYTES];
    int used = snprintf(config, CONFIG_BYTES,
                        "url = \"%s\"\nsilent\nshow-error\nfail\nlocation\ngloboff\n"
                        "max-redirs = 10\nproto = \"=http,https\"\nproto-redir = \"=%s\"\n"
                        "connect-timeout = 20\nspeed-limit = 1\nspeed-time = 60\n"
                        "user-agent = \"dllm/%s\"\n"
                        "write-out = \"%%{stderr}\\n%%{http_code}\"\n",
                        request->url, secure ? "https" : "http,https", dllm_version());

    if (request->offset)
        used += snprintf(config + used, CONFIG_BYTES - (size_t)used, "continue-at = %llu\n",
                         (unsigned long long)request->offset);
    else if (request->limit)
        used += snprintf(config + used, CONFIG_BYTES - (size_t)used, "range = \"0-%llu\"\n",
                         (unsigned long long)request->limit - 1);
    if (find_token(token))
        snprintf(config + used, CONFIG_BYTES - (size_t)used,
                 "header = \"Authorization: Bearer %s\"\n", token);
}

/* curl reads its settings first and whole, so that a pipe's buffer is enough. */
static bool send_config(struct hub_process *curl, const char *config)
{
    size_t length = strlen(config);
    ssize_t sent = write(curl->in, config, length);
    int failure = sent < 0 ? errno : EIO;

    close(curl->in);
    curl->in = -1;
    errno = failure;
    return sent == (ssize_t)length;
}

static bool stopped(const struct hub_watch *watch)
{
    return watch->stop && watch->stop();
}

/* Passes the answer on until it is over (HUB_DONE), the sink or ctrl-c ends it
 * (HUB_ENDED), or it cannot be read (HUB_BROKEN, with errno). */
static enum hub_outcome pass_on(struct hub_process *curl, const struct hub_request *request,
                                const struct hub_watch *watch)
{
    struct pollfd wait = {.fd = curl->out, .events = POLLIN};
    char chunk[CHUNK_BYTES];

    for (;;) {
        ssize_t size;
        int ready;

        if (stopped(watch))
            return HUB_ENDED;
        ready = poll(&wait, 1, TICK_MS);
        if (ready == 0)
            continue;
        size = ready < 0 ? -1 : read(curl->out, chunk, sizeof chunk);
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0)
            return size ? HUB_BROKEN : HUB_DONE;
        if (request->sink(request->context, chunk, (size_t)size) != 0)
            return HUB_ENDED;
    }
}

/* What curl said: its complaint, and the HTTP status in the last line. */
static void read_reply(struct hub_process *curl, struct hub_reply *reply)
{
    char text[4096];
    size_t used = 0;
    ssize_t size;
    char *line, *status;

    while (used + 1 < sizeof text &&
           ((size = read(curl->err, text + used, sizeof text - 1 - used)) > 0 ||
            (size < 0 && errno == EINTR)))
        used += size > 0 ? (size_t)size : 0;
    text[used] = 0;
    status = strrchr(text, '\n');
    if (!status)
        return;
    *status = 0;
    reply->http = atoi(status + 1);
    line = strstr(text, "curl: (");
    line = line ? strstr(line, ") ") : NULL;
    line = line ? line + 2 : text; /* else what the loader of programs says */
    snprintf(reply->reason, sizeof reply->reason, "%.*s", (int)strcspn(line, "\n"), line);
}

/* Resolving, connecting, sending, receiving, time: troubles that may pass. */
static bool may_pass(int code)
{
    static const int codes[] = {5, 6, 7, 16, 18, 28, 35, 52, 55, 56, 92, 95, 96};

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i] == code)
            return true;
    return false;
}

static enum hub_outcome judge(int code, int http)
{
    if (code == 0)
        return HUB_DONE;
    if (code == CURL_NO_RANGE || code == CURL_BAD_RESUME)
        return HUB_NO_RANGE;
    if (code == CURL_HTTP_ERROR)
        return http == 408 || http == 429 || http >= 500 ? HUB_PASSING : HUB_REFUSED;
    return may_pass(code) ? HUB_PASSING : HUB_REFUSED;
}

void hub_request_run(const struct hub_request *request, const struct hub_watch *watch,
                     struct hub_reply *reply, struct dllm_error *error)
{
    static const char *const argv[] = {"curl", "-q", "--config", "-", NULL};
    struct hub_process curl;
    char config[CONFIG_BYTES];
    int code;

    *reply = (struct hub_reply){.outcome = HUB_BROKEN};
    if (hub_process_start(&curl, argv, -1, error) != DLLM_OK)
        return;
    write_config(request, config);
    if (send_config(&curl, config))
        reply->outcome = pass_on(&curl, request, watch);
    if (reply->outcome == HUB_BROKEN)
        hub_fail(error, DLLM_ERROR_IO, "the program curl could not be talked to: %s",
                 strerror(errno));
    if (reply->outcome == HUB_DONE)
        read_reply(&curl, reply);
    code = hub_process_end(&curl, reply->outcome != HUB_DONE);
    if (stopped(watch))
        reply->outcome = HUB_ENDED;
    if (reply->outcome != HUB_DONE)
        return;
    if (code < 0 && !reply->reason[0])
        strcpy(reply->reason, "the program curl was killed");
    reply->outcome = judge(code, reply->http);
}
