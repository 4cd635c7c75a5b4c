/* cmd_doctor.c: dllm doctor: what this machine offers, and what it lacks. */
#include "cli.h"
#include "doctor.h"
#include "out.h"

#include <string.h>

enum { DOCTOR_MODEL, DOCTOR_JSON, DOCTOR_OPTIONS };

static const struct opt options[DOCTOR_OPTIONS] = {
    [DOCTOR_MODEL] = CLI_OPTION_MODEL,
    [DOCTOR_JSON] = {.name = "json", .kind = OPT_FLAG, .help = "print one JSON object"},
};

static const struct opt_table table = {
    .command = "doctor",
    .usage = "[-m MODEL] [--json]",
    .summary = "Check what this machine offers, and whether a model fits",
    .notes = "A line per check: ok, or what is wrong and the command that mends it. Exit code\n"
             "0 if all are ok, 1 if not.\n",
    .options = options,
    .count = DOCTOR_OPTIONS,
};

static void print_text(const struct doctor_finding *findings, int count)
{
    for (int i = 0; i < count; i++) {
        const struct doctor_finding *finding = &findings[i];

        printf("%-11s %-6s ", finding->name, finding->fix[0] ? "NOT OK" : "ok");
        out_print_name(stdout, (struct dllm_string){finding->text, strlen(finding->text)});
        putchar('\n');
        if (finding->fix[0])
            printf("%-18s -> %s\n", "", finding->fix);
    }
}

static json_t *finding_json(const struct doctor_finding *finding)
{
    return json_pack("{s:s, s:b, s:o, s:o}", "name", finding->name, "ok", !finding->fix[0], "text",
                     out_json_text(finding->text, strlen(finding->text)), "fix",
                     finding->fix[0] ? out_json_text(finding->fix, strlen(finding->fix))
                                     : json_null());
}

static int print_json(const struct doctor_finding *findings, int count, bool ok)
{
    json_t *list = json_array();

    for (int i = 0; list && i < count; i++)
        json_array_append_new(list, finding_json(&findings[i]));
    return out_print_json(
        json_pack("{s:s, s:b, s:o}", "version", dllm_version(), "ok", ok, "checks", list));
}

static int run_doctor(struct opts *opts)
{
    struct doctor_finding findings[DOCTOR_CHECKS];
    int count = doctor_examine(cli_model_path(&opts->values[DOCTOR_MODEL]), findings), code;
    bool ok = true;

    for (int i = 0; i < count; i++)
        ok = ok && !findings[i].fix[0];
    if (opts->values[DOCTOR_JSON].given) {
        code = print_json(findings, count, ok);
    } else {
        print_text(findings, count);
        code = out_finish();
    }
    return code ? code : ok ? CLI_OK : CLI_FAILURE;
}

const struct command command_doctor = {&table, run_doctor};
