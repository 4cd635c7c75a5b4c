#!/usr/bin/python3
"""Makes the tables of README.md and of pages in docs from bench/results/*.json.

usage: scripts/bench_table.py [--check]

A table stands between "<!-- table NAME: begin -->" and "<!-- table NAME: end -->". With --check nothing is
written: exit status 1 when a page differs from what the results give. Numbers are computed anew from the
single times that a result holds.
"""
import os
import re
import sys

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "bench"))
import bench_results as results

EMPTY = "Not measured yet.\n"
WITH_EXPERTS = ("llada-moe", "rnd1")
COMMON_OPTIONS = "-n 64 --temperature 0 -t 1"  # of every arm in bench/results/decoding.json


def pages():
    """Paths from the root: any page may have tables."""
    docs = os.path.join(ROOT, "docs")
    return ["README.md"] + sorted("docs/" + name for name in os.listdir(docs) if name.endswith(".md"))


def table(head, rows):
    if not rows:
        return EMPTY
    lines = [head, ["---"] * len(head)] + rows
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines)


def machine(result):
    return "%s, %d thread%s, %s" % (result["machine"]["processor"], result["threads"],
                                    "s" * (result["threads"] > 1), result["cpu_level"])


def model(result):
    return result["model"].replace(".gguf", "")


def milliseconds(seconds):
    return "%.0f ms" % (1000 * results.median(seconds))


def against_peer(result, side):
    """Time of a side and how many times faster it is, with the quartiles of the pairs."""
    peer, own = result["seconds"]["llama"]["wall"], result["seconds"][side]["wall"]
    low, middle, high = results.quartiles([a / b for a, b in zip(peer, own)])
    return "%s, **%.2fx** (%.2f to %.2f)" % (milliseconds(own), middle, low, high)


def compared(mode):
    return [result for _, result in results.read("compare") if result["mode"] == mode]


def has_experts(result):
    return result.get("arch") in WITH_EXPERTS


def peer(result):
    library = result["llama_libraries"].rsplit(", ", 1)[-1]
    return "%s, %s" % (result["llama_version"], library)


def speed_table():
    return table(["model", "machine", "canvas", "llama.cpp, all rows", "dllm, all rows", "dllm, candidates"],
                 [[model(r), machine(r), str(r["canvas"]), milliseconds(r["seconds"]["llama"]["wall"]),
                   against_peer(r, "dllm_all_rows"), "%d: %s" % (r["rows"], against_peer(r, "dllm_rows"))]
                  for r in compared("model")])


def comparison_table(found):
    return table(["file", "machine", "canvas", "pairs", "llama.cpp", "llama.cpp, all rows", "dllm, all rows",
                  "dllm, candidates", "commit"],
                 [[model(r), machine(r), str(r["canvas"]), str(len(r["seconds"]["llama"]["wall"])), peer(r),
                   milliseconds(r["seconds"]["llama"]["wall"]), against_peer(r, "dllm_all_rows"),
                   "%d: %s" % (r["rows"], against_peer(r, "dllm_rows")), r["commit"]]
                  for r in found])


def dense_table(mode):
    return comparison_table([r for r in compared(mode) if not has_experts(r)])


def moe_table():
    """Whole models, held to AVX2, and of few layers."""
    return comparison_table([r for mode in ("model", "avx2", "layers") for r in compared(mode) if has_experts(r)])


def types_table():
    rows = [["%s, %d layers" % (r["arch"], r["layers"]), name, machine(r), str(r["canvas"]),
             milliseconds(r["seconds"]["llama"]["wall"]), against_peer(r, "dllm_all_rows"),
             "%d: %s" % (r["rows"], against_peer(r, "dllm_rows")), r["commit"]]
            for _, found in results.read("types") for name, r in found["results"].items()]
    return table(["model", "type", "machine", "canvas", "llama.cpp, all rows", "dllm, all rows", "dllm, candidates",
                  "commit"], rows)


def stepped():
    return sorted((result for _, result in results.read("step")),
                  key=lambda r: (r["model"], r["canvas"], -r["threads"]))


def step_row(result, step):
    total = results.median(step["ms_each"])
    parts = ["%.1f ms, %.1f %%" % (step[part + "_ms"], 100 * step[part + "_ms"] / total)
             for part in ("matmul", "attention", "head", "rest")]
    share = step["share_of_ceiling"]
    return [model(result), machine(result), str(result["canvas"]), str(step["rows"]), "%.1f ms" % total,
            *parts, "%.0f of %.0f Gop/s, %.1f %%" % (step["gop_per_s"], step["ceiling_gop_per_s"],
                                                     100 * share)]


def steps_table():
    return table(["model", "machine", "canvas", "rows", "step", "matmul", "attention", "head", "rest",
                  "matrix products"],
                 [step_row(r, step) for r in stepped() for step in (r["step"], r["all_rows"])
                  if step])


def start_table():
    return table(["model", "machine", "canvas", "load", "first step begins", "first step is finished",
                  "peak memory", "beside the file", "commit"],
                 [[model(r), machine(r), str(r["canvas"]), "%.3f s" % r["load_s"],
                   "%.3f s" % r["first_step_began_s"], "%.3f s" % r["first_step_finished_s"],
                   "%.2f GB" % (r["peak_rss_bytes"] / 1e9), "%.3fx" % (r["peak_rss_bytes"] / r["file_bytes"]),
                   r["commit"]] for r in stepped()])


def products_of(result):
    rows = [[p["type"], "%d x %d" % (p["rows"], p["width"]), str(p["tokens"]), p["cpu_level"],
             str(p["threads"]), "%.2f ms" % results.median(p["ms_each"]), "%.2f GB/s" % p["weight_gb_per_s"],
             "%.0f Gop/s" % p["gop_per_s"], "%.0f Gop/s" % p["ceiling_gop_per_s"],
             "%.1f %%" % (100 * p["share_of_ceiling"])]
            for p in result["products"]]
    return "%s, commit %s:\n\n" % (result["machine"]["processor"], result["commit"]) + table(
        ["type", "rows x width", "tokens", "level", "threads", "time", "weights", "operations", "ceiling", "share"],
        rows)


def products_table():
    """A table for each processor."""
    return "\n".join(products_of(result) for _, result in results.read("products")) or EMPTY


def caches_row(result):
    none, dual = result["runs"]["none"], result["runs"]["dual"]
    ratios = [a["wall_s"] / b["wall_s"] for a, b in zip(none, dual)]
    return [model(result), machine(result), "%d of %d blocks, %d steps in all" % (
                result["blocks_run"], -(-result["max_tokens"] // result["block_length"]), result["steps"]),
            "%d, %d" % (none[0]["rows_computed"], dual[0]["rows_computed"]),
            "%.2fx" % (none[0]["rows_computed"] / dual[0]["rows_computed"]),
            ", ".join("%.2f s, %.2f s" % (a["wall_s"], b["wall_s"]) for a, b in zip(none, dual)),
            ", ".join("**%.2fx**" % ratio for ratio in ratios),
            "%.0f MB, %.0f MB" % (none[0]["workspace_bytes"] / 1e6, dual[0]["workspace_bytes"] / 1e6),
            result["commit"]]


def caches_table():
    return table(["model", "machine", "run", "rows: none, dual", "fewer rows", "time: none, dual", "faster",
                  "workspace: none, dual", "commit"],
                 [caches_row(result) for _, result in results.read("caches")])


def tokenizer_table():
    rows = []
    for _, result in results.read("tokenizer"):
        for expression, parts in result["expressions"].items():
            for part, times in parts.items():
                low, middle, high = results.quartiles(results.ratios(times["llama_ms"], times["dllm_ms"]))
                rows.append([expression, "%s %s" % (part, times["amount"]), "%.0f ms" % results.median(times["dllm_ms"]),
                             "%.0f ms" % results.median(times["llama_ms"]),
                             "**%.1fx** (%.1f to %.1f)" % (middle, low, high), result["commit"]])
    return table(["expression", "what", "dllm", "llama.cpp", "faster", "commit"], rows)


def parity_table():
    return table(["model", "type", "RMS, median row", "RMS, worst row", "cosine, median row", "cosine, lowest",
                  "same top"],
                 [[row["model"], row["type"], "%.1e" % row["median_rms"], "%.1e" % row["worst_rms"],
                   "%.6f" % row["median_cosine"], "%.6f" % row["lowest_cosine"],
                   "%d of %d" % (row["same_top"], row["rows"])]
                  for _, result in results.read("parity") for row in result["rows"]])


def divergence_table():
    def cells(row, model):
        ratio = "%.3f ± %.3f" % (row[model + "ratio"], row[model + "error"]) if model + "ratio" in row else "not measured"
        return ["%.2e" % row[model + "ours"], "%.2e" % row[model + "peer"], ratio]

    return table(["type", "random weights: dllm", "llama.cpp", "ratio", "demo model: dllm", "llama.cpp", "ratio"],
                 [[row["type"]] + cells(row, "") + cells(row, "demo_")
                  for _, result in results.read("divergence") for row in result["rows"]])


def evaluated(name):
    return [result for found, result in results.read("eval") if found == name]


def against_first(arm):
    """The paired difference in points with its interval, and what makes it up."""
    pair = arm["against_first"]
    return ["%+.1f (%+.1f to %+.1f)" % tuple(100 * pair[key] for key in ("difference", "low", "high")),
            "+%d -%d, %.2g" % (pair["better"], pair["worse"], pair["mcnemar_p"])]


def arm_row(result, arm):
    first = arm is result["arms"][0]
    return ["%.1f %%" % (100 * arm["right"] / result["asked"])] + (
        ["", ""] if first else against_first(arm)) + [
            "%.1f" % arm["forwards_per_answer"], "%.0f" % arm["rows_per_answer"]]


ARM_HEAD = ["right", "against the first, points (95 %)", "better, worse, p", "forwards", "rows"]


def demo_table():
    return table(["steps/block"] + ARM_HEAD, [[arm["name"]] + arm_row(result, arm)
                                              for result in evaluated("eval_demo") for arm in result["arms"]])


def types_accuracy_table():
    rows = []
    for result in evaluated("types_accuracy"):
        first = result["arms"][0]
        for arm in result["arms"]:
            right = "%d of %d, %.1f %%" % (arm["right"], result["asked"], 100 * arm["right"] / result["asked"])
            rows.append([arm["name"], "%.2f MB" % (arm["file_bytes"] / 1e6), right] +
                        (["", ""] if arm is first else against_first(arm)))
    return table(["type", "file", "right", "against F32, points (95 %)", "better, worse, p"], rows)


def decoding_table():
    """The times are those of a smaller run."""
    seconds = {arm["name"]: arm["seconds_per_answer"]
               for result in evaluated("decoding_time") for arm in result["arms"]}
    rows = []
    for result in evaluated("decoding"):
        first = seconds.get(result["arms"][0]["name"])
        for arm in result["arms"]:
            own = seconds.get(arm["name"])
            time = "%.1f ms, %.1fx" % (1000 * own, first / own) if own and first else "not measured"
            rows.append(["`%s`" % arm["options"].replace(COMMON_OPTIONS, "").strip()] +
                        arm_row(result, arm) + [time])
    return table(["options"] + ARM_HEAD + ["time"], rows)


def kinds_table(name):
    """A row per kind, a column per arm."""
    rows, head = [], ["kind", "asked"]
    for result in evaluated(name):
        head += [arm["name"] for arm in result["arms"]]
        for kind, first in result["arms"][0]["kinds"].items():
            rows.append([kind, str(first["asked"])] +
                        ["%.0f %%" % (100 * arm["kinds"][kind]["right"] / first["asked"])
                         for arm in result["arms"]])
    return table(head, rows)


BATCH_SIDES = (("a process for each", "processes"), ("one batch, `--parallel 1`", "one_at_a_time"),
               ("one batch", "batch"))


def batch_table():
    """Seconds of all questions; ratios of the rounds."""
    rows = []
    for _, result in results.read("batch"):
        batch = result["seconds"]["batch"]["wall"]
        for label, side in BATCH_SIDES:
            wall = result["seconds"][side]["wall"]
            low, middle, high = results.quartiles(results.ratios(wall, batch))
            rows.append([label, machine(result), "%d, canvas %d" % (result["questions"], result["canvas"]),
                         "%.2f s" % results.median(wall),
                         "%.1f" % (result["questions"] / results.median(wall)),
                         "**%.2fx** (%.2f to %.2f)" % (middle, low, high) if side != "batch" else "1",
                         result["commit"]])
    return table(["way", "machine", "questions", "time", "answers a second", "the batch is faster", "commit"], rows)


def gaps_table():
    return table(["kind", "asked", "whole answer right", "one gap", "two gaps"],
                 [[kind, str(found["asked"])] +
                  ["%d (%.0f %%)" % (right, 100 * right / found["asked"]) for right in found["right"]]
                  for _, result in results.read("gaps") for kind, found in result["kinds"].items()])


# --- on a GPU ---

def card(result):
    return "%s, driver %s" % (result["gpu"]["name"], result["gpu"]["driver"])


def of_gpu(kind, *order):
    """Results of a kind, by these of their fields."""
    return sorted((result for _, result in results.read(kind)), key=lambda r: [r[field] for field in order])


def beside_ceiling(value, ceiling, share, unit):
    """A rate, beside what the card reaches where that is known."""
    return "%.4g %s" % (value, unit) + (" of %.4g, %.1f %%" % (ceiling, 100 * share) if ceiling else "")


def rate(measured):
    ceiling = measured["ceiling_gop_per_s"]
    return beside_ceiling(measured["gop_per_s"] / 1000, ceiling and ceiling / 1000, measured["share_of_ceiling"],
                          "Top/s")


def reading(measured):
    return beside_ceiling(measured["weight_gb_per_s"], measured["bandwidth_ceiling_gb_per_s"],
                          measured["share_of_bandwidth"], "GB/s")


def floor(measured):
    """The time that the card cannot go below, and how many times as long it took."""
    least = measured["floor_ms"]
    return "%.2f ms, %.2fx" % (least, results.median(measured["ms_each"]) / least) if least else "not measured"


def gpu_steps_table():
    return table(["model", "card", "canvas", "prompts", "step", "each prompt", "floor", "layers", "head",
                  "weights read", "matrix products", "commit"],
                 [[model(r), card(r), str(r["canvas"]), str(r["prompts"]), "%.2f ms" % results.median(r["step"]["ms_each"]),
                   "%.2f ms" % (results.median(r["step"]["ms_each"]) / r["prompts"]),
                   floor(r["step"]), "%.2f ms" % r["step"]["layers_ms"], "%.2f ms" % r["step"]["head_ms"],
                   reading(r["step"]), rate(r["step"]), r["commit"]]
                  for r in of_gpu("gpu_step", "model", "canvas", "prompts")])


def against_peer_on_gpu(result, side):
    own = result["seconds"].get(side)
    if not own:
        return ""
    low, middle, high = results.quartiles(results.ratios(results.peer_seconds(result), own["wall"]))
    return "%.1f ms, **%.2fx** (%.2f to %.2f)" % (1000 * results.median(own["wall"]), middle, low, high)


def gpu_compare_table():
    def peer_time(result, side):
        times = result["seconds"].get(side)
        return "%.1f ms" % (1000 * results.median(times["wall"])) if times else ""

    found = sorted(compared("gpu"), key=lambda r: (r["model"], r["canvas"], r["prompts"]))
    return table(["file", "card", "canvas", "prompts", "llama.cpp", "one pass", "one after the other", "dllm, all rows",
                  "dllm, a step", "commit"],
                 [[model(r), card(r), str(r["canvas"]), str(r["prompts"]), r["llama_version"], peer_time(r, "llama"),
                   peer_time(r, "llama_each"), against_peer_on_gpu(r, "dllm_all_rows"),
                   "%d rows: %s" % (r["rows"], against_peer_on_gpu(r, "dllm_rows")), r["commit"]] for r in found])


def gpu_products_table():
    return table(["type", "rows x width", "tokens", "card", "time", "floor", "weights", "operations", "commit"],
                 [[p["type"], "%d x %d" % (p["rows"], p["width"]), str(p["tokens"]), card(p),
                   "%.3f ms" % results.median(p["ms_each"]), floor(p), reading(p), rate(p), p["commit"]]
                  for p in of_gpu("gpu_product", "type", "width", "rows", "tokens")])


def gpu_parity_row(result, row):
    near, half, peer = row["beside_cpu"], row["half_of_layers"], row.get("beside_llama")
    again = row["same_in_company"]
    return [row["model"].replace(".gguf", ""), row["quantization"],
            "%.1e, %.1e" % (near["median_rms"], near["worst_rms"]),
            "%.6f, %.6f" % (near["median_cosine"], near["lowest_cosine"]), "%d of %d" % (near["same_top"], near["rows"]),
            "%.6f" % half["lowest_cosine"], "%.6f" % peer["lowest_cosine"] if peer else "",
            "%d, %d of %d" % (row["same_ids"], row["same_ids_half"], row["ids"]),
            "%s; %s" % ("yes" if row["logits_repeat"] else "NO", ", ".join(
                "%d" % again[company] for company in again) + " of %d" % row["generations"]),
            "yes" if row["good"] else "NO", result["gpu"]["name"], result["commit"]]


def gpu_parity_table():
    return table(["model", "type", "RMS: median, worst", "cosine: median, lowest", "same top", "half of the layers",
                  "llama.cpp", "same ids: all, half", "same bits again: logits; alone, of 3, of 8", "as it must be",
                  "card", "commit"],
                 [gpu_parity_row(result, row) for result in of_gpu("gpu_parity") for row in result["models"]])


def gpu_tests_table():
    return table(["card", "passed", "failed", "commit"],
                 [[card(r), str(r["passed"]), str(r["failed"]), r["commit"]] for r in of_gpu("gpu_tests")])


TABLES = {"batch": batch_table, "gaps": gaps_table, "demo_arms": demo_table, "demo_kinds": lambda: kinds_table("eval_demo"),
          "decoding": decoding_table, "speed": speed_table, "compare": lambda: dense_table("model"),
          "avx2": lambda: dense_table("avx2"), "avxvnni": lambda: dense_table("avxvnni"), "moe": moe_table,
          "types": types_table, "tokenizer": tokenizer_table, "steps": steps_table, "start": start_table,
          "products": products_table, "caches": caches_table,
          "types_accuracy": types_accuracy_table, "parity": parity_table, "divergence": divergence_table,
          "gpu_steps": gpu_steps_table, "gpu_compare": gpu_compare_table, "gpu_products": gpu_products_table,
          "gpu_parity": gpu_parity_table, "gpu_tests": gpu_tests_table}


def filled(text):
    """The page with every table made anew."""
    def fill(match):
        return "%s\n%s\n%s" % (match.group(1), TABLES[match.group(2)](), match.group(3))

    return re.sub(r"(<!-- table (\w+): begin -->\n).*?(<!-- table \2: end -->)", fill, text, flags=re.S)


def main():
    check = "--check" in sys.argv[1:]
    different = 0
    for page in pages():
        path = os.path.join(ROOT, page)
        with open(path) as file:
            text = file.read()
        wanted = filled(text)
        if wanted == text:
            continue
        if check:
            print("%s: a table is not that of bench/results; run scripts/bench_table.py" % page)
            different = 1
        else:
            with open(path, "w") as file:
                file.write(wanted)
    return different


if __name__ == "__main__":
    sys.exit(main())
