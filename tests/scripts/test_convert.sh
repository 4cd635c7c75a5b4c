#!/usr/bin/env bash
# scripts/convert on small folders that are built as the published ones are: the file's logits must be those
# of the published forward pass in double precision, the vocabulary must give the published ids, and a
# folder or file with one fault must be refused with a message that names it.
# Exit status 77: python3 or numpy are not installed.
set -u
cd "$(dirname "$0")/../.." || exit 1
dllm=$(realpath "${BUILD:-build}/dllm") || exit 1
root=$PWD
/usr/bin/python3 -c 'import numpy' 2>/dev/null || {
    echo "python3 with numpy is not installed"
    exit 77
}
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cd "$tree" || exit 1
. "$root/tests/support/expect.sh"

convert() { "$root/scripts/convert" "$@"; }

# The file's logits against the published ones: the worst row's relative RMS must be below a bound.
logits_agree() { # folder file bound
    "$dllm" logits -m "$2" --tokens "$(cat "$1.ids")" --rows all --out got.npy >log 2>&1 || {
        cat log
        return 1
    }
    /usr/bin/python3 - "$1.logits.npy" "$3" <<'END'
import sys
import numpy as np
want = np.load(sys.argv[1])
got = np.load("got.npy").reshape(want.shape)
worst = np.sqrt(((got - want) ** 2).sum(1) / (want ** 2).sum(1)).max()
print("relative RMS of the worst row: %.2e" % worst)
sys.exit(not worst < float(sys.argv[2]))
END
}

same_ids() { # folder file: text and its published ids
    local ids
    ids=$("$dllm" tokenize -m "$2" --no-chat "hello the<|eot_id|>x<tool>")
    [ "$ids" = "[259, 261, 302, 87, 310]" ] || [ "$ids" = "[300, 259, 261, 302, 87, 310]" ] || {
        echo "ids are $ids"
        return 1
    }
}

refused() { # pattern, then a command that must fail with a message like it
    local pattern=$1 output
    shift
    output=$("$@" 2>&1) && {
        echo "succeeded: $output"
        return 1
    }
    # shellcheck disable=SC2053
    [[ $output == $pattern ]] || {
        echo "said: $output"
        return 1
    }
}

for kind in llada llada-tied dream llada-moe rnd1; do
    /usr/bin/python3 "$root/tests/scripts/published_model.py" $kind $kind || exit 1
    # What the folder holds, as it is and widened, must agree to the last digits of f32; types with fewer
    # digits to the rounding of their weights, 2^-11 and 2^-8 of each.
    expect "$kind is converted" convert $kind $kind.gguf
    expect "$kind gives the published logits" logits_agree $kind $kind.gguf 1e-5
    expect "$kind has the published vocabulary" same_ids $kind $kind.gguf
    expect "$kind agrees with its folder" convert --check $kind.gguf $kind
    for type_bound in F32:1e-5 F16:3e-3 BF16:3e-2; do
        expect "$kind as ${type_bound%:*}" convert $kind $kind-t.gguf --type "${type_bound%:*}"
        expect "$kind as ${type_bound%:*} gives the published logits" \
            logits_agree $kind $kind-t.gguf "${type_bound#*:}"
    done
done

# What the file says about the model.
inspect() { "$dllm" inspect "$1" | grep -qF -- "$2"; }
expect "the mask is the published one" inspect llada.gguf "tokenizer.ggml.mask_token_id (u32) = 304"
expect "the end of a turn is found" inspect llada.gguf "tokenizer.ggml.eot_token_id (u32) = 302"
expect "the template is kept" inspect llada.gguf "tokenizer.chat_template (string)"
expect "grouped heads are written" inspect llada-tied.gguf "llada.attention.head_count_kv (u32) = 1"
expect "head dimensions are written" inspect rnd1.gguf "rnd1.attention.key_length (u32) = 64"
expect "router stays F32" inspect rnd1.gguf "blk.0.ffn_gate_inp.weight F32"
expect "shift is written" inspect dream.gguf "diffusion.shift_logits (bool) = true"

# --check finds what differs.
cp -r llada-moe other
sed -i 's/"num_experts": 5/"num_experts": 4/; s/"rms_norm_eps": 1e-05/"rms_norm_eps": 1e-06/' other/config.json
expect "--check refuses a folder that is not whole" refused "error: tensor blk.0.ffn_down_exps.weight has 5 parts, expected 4*" \
    convert --check llada-moe.gguf other
expect "--check names another architecture" refused "the file is a dream model, the folder a llada one" \
    convert --check dream.gguf llada
expect "--check names keys and tensors" refused "*key llada.attention.head_count_kv is 2, 1 was expected*tensor blk.0.attn_k.weight has shape \[64, 64\], \[64, 32\] was expected*tensor output.weight has no counterpart in the folder" \
    convert --check llada.gguf llada-tied
expect "--check refuses what is no file" refused "error: config.json: no such file*" \
    convert --check config.json llada
head -c 3000 llada.gguf >cut.gguf
expect "--check refuses a cut file" refused "error: cut.gguf: cut or damaged after * bytes; expected a whole GGUF file" \
    convert --check cut.gguf llada

# Faults of the folder; nothing may be left under the name of the file.
fault() { # name pattern, then what breaks a copy of dream's folder
    local name=$1 pattern=$2
    shift 2
    rm -rf broken
    cp -r dream broken
    (cd broken && eval "$*")
    expect "$name" refused "$pattern" convert broken broken.gguf
    expect "$name: no file is left" [ ! -e broken.gguf ]
    expect "$name: no part of one is left" [ -z "$(find . -name "*partial*")" ]
}
fault "a missing shard" "error: broken/model-00002-of-00002.safetensors is missing; model.safetensors.index.json lists it: download it" \
    rm model-00002-of-00002.safetensors
fault "a cut shard" "error: *model-00002-of-00002.safetensors: tensor * ends at byte *, the file at *: download it again" \
    truncate -s -100 model-00002-of-00002.safetensors
fault "no safetensors file" "error: *: a header of * bytes in a file of *; this is no whole safetensors file: download it again" \
    "echo '<!DOCTYPE html>' >model-00001-of-00002.safetensors"
fault "no config.json" "error: broken/config.json is missing; expected the folder of a model as it is published" \
    rm config.json
fault "another architecture" "error: config.json names the architecture LlamaForCausalLM; expected one of LLaDAModelLM, *" \
    "sed -i s/DreamModel/LlamaForCausalLM/ config.json"
fault "more layers than tensors" "error: broken has no tensor for blk.2.attn_k.bias; a dream model of 3 layers must have it" \
    "sed -i 's/\"num_hidden_layers\": 2/\"num_hidden_layers\": 3/' config.json"
fault "fewer layers than tensors" "error: *: tensor model.layers.1.* (blk.1.*) has no place in a dream model of 1 layers; *" \
    "sed -i 's/\"num_hidden_layers\": 2/\"num_hidden_layers\": 1/' config.json"
fault "another width" "error: *: tensor model.layers.0.mlp.down_proj.weight has shape \[64, 96\], expected \[64, 128\] by config.json" \
    "sed -i 's/\"intermediate_size\": 96/\"intermediate_size\": 128/' config.json"
fault "stretched rope" "error: config.json sets rope_scaling to {'type': 'yarn'}, which is not supported; expected None" \
    "sed -i 's/\"rope_scaling\": null/\"rope_scaling\": {\"type\": \"yarn\"}/' config.json"
fault "an unknown expression" "error: tokenizer.json cuts text by *, which is not one of the expressions of bailingmoe, qwen2, seed-coder; *" \
    "cp ../llada/tokenizer.json . && sed -i 's/sdmt/sdmtx/' tokenizer.json"
fault "no mask" "error: neither config.json (mask_token_id) nor the vocabulary (<|mask|>) names the mask token; *" \
    "sed -i 's/\"mask_token_id\": 303/\"x\": 1/' config.json; sed -i 's/<|mask|>/<|musk|>/' tokenizer_config.json"
fault "damaged JSON" "error: broken/config.json is not JSON: *; download it again" \
    "truncate -s 30 config.json"

fault "heads of no width" "error: config.json sets n_heads or num_attention_heads to 0; a number above 0 was expected" \
    "sed -i 's/\"num_attention_heads\": 2/\"num_attention_heads\": 0/' config.json"
fault "layers in words" "error: config.json sets n_layers or num_hidden_layers to 'two'; a number above 0 was expected" \
    "sed -i 's/\"num_hidden_layers\": 2/\"num_hidden_layers\": \"two\"/' config.json"
fault "half a layer" "error: config.json sets n_layers or num_hidden_layers to 1.5; a whole number below 2^31 was expected" \
    "sed -i 's/\"num_hidden_layers\": 2/\"num_hidden_layers\": 1.5/' config.json"
fault "heads that cannot turn" "error: heads of 31 dimensions by config.json; an even number was expected*" \
    "sed -i 's/\"hidden_size\": 64/\"hidden_size\": 62/' config.json"
fault "an index without files" "error: broken/model.safetensors.index.json does not list the files of a model: download it again" \
    "echo '{}' >model.safetensors.index.json"
fault "an offset below zero" "error: broken/model-00001-of-00002.safetensors: the header is not that of a safetensors file: download it again" \
    "sed -i 's/\"data_offsets\": \[0, /\"data_offsets\": [-1,/' model-00001-of-00002.safetensors"
fault "a vocabulary without ids" "error: broken: the files of the tokenizer are not as published ones are (*" \
    "sed -i 's/: 5,/: \"5\",/' vocab.json"
fault "config.json is a list" "error: config.json names the architecture (none); expected one of *" "echo '[]' >config.json"

# Where the file cannot go, or does not fit.
expect "no folder" refused "error: nowhere is no folder; expected that of a model as it is published" convert nowhere x.gguf
expect "no folder for the file" refused "error: no/x.gguf: there is no folder */no; make it first" convert llada no/x.gguf
mkdir -p taken.gguf
expect "the file is a folder" refused "error: taken.gguf is a folder; name the file to write" convert llada taken.gguf
# A disk that is nearly full is said before anything is written: the system's answer is another one here.
mkdir full_disk
cat >full_disk/sitecustomize.py <<'END'
import collections
import os
Room = collections.namedtuple("Room", "f_frsize f_blocks f_bfree f_bavail")
os.statvfs = lambda path: Room(4096, 1000, 10, 10)
END
full_disk() { PYTHONPATH=full_disk convert "$@"; }
expect "no room for the file" refused \
    "error: x.gguf takes 0.* MB, and $tree has room for 0.04 MB; free some, or name another place" full_disk llada x.gguf
expect "no room for the file: nothing is left" test -z "$(find . -name 'x.gguf*')"
limited() { (ulimit -f 100 && convert "$@"); } # KiB or blocks of 512 bytes: less than the file either way
expect "the file grows too large" refused "error: x.gguf could not be written: File too large" limited llada x.gguf
expect "the file grows too large: nothing is left" test -z "$(find . -name 'x.gguf*')"

# SIGTERM ends it as ctrl-c does: here while it waits for config.json.
rm -rf waiting
cp -r dream waiting
rm waiting/config.json
mkfifo waiting/config.json
ended() {
    local code
    "$root/scripts/convert" waiting x.gguf 2>log &
    # It listens once it is no longer the shell's copy, which caught the signal too.
    until [ "$(cat /proc/$!/comm)" = convert ] &&
        ((0x$(sed -n 's/^SigCgt:[[:space:]]*//p' /proc/$!/status) & 0x4000)); do
        kill -0 $! || return 1
        sleep 0.05
    done
    kill -TERM $!
    wait $!
    code=$?
    [ "$code" = 130 ] && grep -qx interrupted log && [ -z "$(find . -name 'x.gguf*')" ]
}
expect "it can be ended" ended

# What folders have besides: angles of the rope, experts of several types, several chat templates.
cp -r llada-moe besides
/usr/bin/python3 - <<'END'
import json, struct
import numpy as np

path = "besides/model.safetensors"
data = open(path, "rb").read()
size, = struct.unpack("<Q", data[:8])
header, values = json.loads(data[8:8 + size]), bytearray(data[8 + size:])
header["model.layers.0.self_attn.rotary_emb.inv_freq"] = {
    "dtype": "F32", "shape": [4], "data_offsets": [len(values), len(values) + 16]}
values += bytes(16)
expert = header["model.layers.1.mlp.experts.2.up_proj.weight"]
old = np.frombuffer(bytes(values[expert["data_offsets"][0]:expert["data_offsets"][1]]), "<f4")
expert.update(dtype="F16", data_offsets=[len(values), len(values) + 2 * old.size])
values += old.astype("<f2").tobytes()
text = json.dumps(header).encode()
open(path, "wb").write(struct.pack("<Q", len(text)) + text + values)
settings = json.load(open("besides/tokenizer_config.json"))
settings["chat_template"] = [{"name": "tools", "template": "no"}, {"name": "default", "template": "{{ yes }}"}]
json.dump(settings, open("besides/tokenizer_config.json", "w"))
END
cp llada-moe.ids besides.ids
cp llada-moe.logits.npy besides.logits.npy
expect "what folders have besides" convert besides besides.gguf
expect "what folders have besides: the logits" logits_agree besides besides.gguf 3e-3
expect "of several chat templates the default one" inspect besides.gguf "{{ yes }}"

# Values that F16 cannot hold.
rm -rf broken
cp -r llada broken
/usr/bin/python3 - <<'END'
data = bytearray(open("broken/model.safetensors", "rb").read())
data[-4:] = b"\x00\x00\x80\x47"  # 65536
open("broken/model.safetensors", "wb").write(data)
END
expect "a value beyond F16" refused "error: tensor output.weight has values beyond F16's 65504; use --type BF16 or F32" \
    convert broken broken.gguf --type F16
expect "a value beyond F16: no file is left" [ ! -e broken.gguf ]
expect "--type with --check" refused "*--type says what to write; --check writes nothing: leave one out" \
    convert --check llada.gguf llada --type F16

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
