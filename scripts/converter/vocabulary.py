"""The tokenizer of a published folder as the keys of a GGUF file."""
import json
import os

import gguf
from errors import Refused

NORMAL, CONTROL, USER_DEFINED, UNUSED = 1, 3, 4, 5
# The published expression of each pre-tokenizer name, as tokenizer.json spells it.
EXPRESSIONS = {
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+": "qwen2",
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*"
    r"|\s*[\r\n]|\s+(?!\S)|\s+": "bailingmoe",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+": "seed-coder",
}
END_OF_TURN = ("<|eot_id|>", "<|im_end|>", "<|role_end|>")


def load_json(folder, name, default=None):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        if default is None:
            raise Refused("%s is missing; expected the folder of a model as it is published" % path)
        return default
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except ValueError as error:
        raise Refused("%s is not JSON: %s; download it again" % (path, error)) from error


def split_expressions(node):
    """All expressions of a pre_tokenizer, which may be a sequence."""
    if not node:
        return []
    if node.get("type") == "Sequence":
        return [e for part in node["pretokenizers"] for e in split_expressions(part)]
    pattern = node.get("pattern", {})
    return [pattern["Regex"]] if "Regex" in pattern else []


def pretokenizer_name(tokenizer, architecture):
    # Some folders spell line ends as the characters themselves.
    found = [e.replace("\r", r"\r").replace("\n", r"\n")
             for e in split_expressions(tokenizer.get("pre_tokenizer"))]
    for expression in found:
        if expression in EXPRESSIONS:
            name = EXPRESSIONS[expression]
            return "llada-moe" if (name, architecture) == ("bailingmoe", "llada-moe") else name
    raise Refused("tokenizer.json cuts text by %s, which is not one of the expressions of %s; a new "
                  "one is a row in src/text/pretok.c and here"
                  % (" and ".join(found) or "no expression",
                     ", ".join(sorted(set(EXPRESSIONS.values())))))


def from_vocab_files(folder, settings):
    """The parts of tokenizer.json from vocab.json and merges.txt, which older folders have."""
    with open(os.path.join(folder, "merges.txt"), encoding="utf-8") as file:
        merges = [line.rstrip("\n") for line in file if line.strip() and line[:9] != "#version:"]
    added = [{"id": int(number), **token}
             for number, token in settings.get("added_tokens_decoder", {}).items()]
    qwen2 = next(e for e, name in EXPRESSIONS.items() if name == "qwen2")
    return {"model": {"type": "BPE", "vocab": load_json(folder, "vocab.json"), "merges": merges},
            "added_tokens": added, "pre_tokenizer": {"type": "Split", "pattern": {"Regex": qwen2}}}


def load_tokenizer(folder, settings):
    if not os.path.exists(os.path.join(folder, "tokenizer.json")) and \
            os.path.exists(os.path.join(folder, "merges.txt")):
        return from_vocab_files(folder, settings)
    tokenizer = load_json(folder, "tokenizer.json")
    if tokenizer.get("model", {}).get("type", "BPE") != "BPE":
        raise Refused("tokenizer.json is of type %s; expected byte-level BPE"
                      % tokenizer["model"]["type"])
    return tokenizer


def token_list(tokenizer, rows):
    """(tokens, types), one of each for every row of the embedding."""
    tokens, types = [None] * rows, [UNUSED] * rows

    def put(token, number, kind):
        if not 0 <= number < rows:
            raise Refused("token %r has id %d, but the embedding has %d rows; expected no more "
                          "tokens than rows" % (token, number, rows))
        tokens[number], types[number] = token, kind

    for token, number in tokenizer["model"]["vocab"].items():
        put(token, number, NORMAL)
    for token in tokenizer.get("added_tokens", []):
        put(token["content"], token["id"], CONTROL if token.get("special") else USER_DEFINED)
    for number, token in enumerate(tokens):
        if token is None:
            tokens[number] = "[PAD%d]" % number
    return tokens, types


def text_of(token):
    """A token of tokenizer_config.json: a string, or an object with its content."""
    return token["content"] if isinstance(token, dict) else token


def special_ids(tokens, settings, config, mask_token):
    """{key: id} of the ids that the folder names, by number or by text."""
    numbers = {text: number for number, text in enumerate(tokens)}
    ids = {}
    for name in ("bos", "eos", "pad", "mask"):
        number = config.get(name + "_token_id")
        if isinstance(number, list):
            number = number[0] if number else None
        text = text_of(settings.get(name + "_token"))
        if number is None and text is not None:
            number = numbers.get(text)
        if number is not None and 0 <= number < len(tokens):
            ids["padding" if name == "pad" else name] = number
    ids.setdefault("mask", numbers.get(mask_token))
    if ids["mask"] is None:
        raise Refused("neither config.json (mask_token_id) nor the vocabulary (%s) names the mask "
                      "token; a diffusion model has one" % mask_token)
    for text in END_OF_TURN:
        if text in numbers:
            ids.setdefault("eot", numbers[text])
    return ids


def chat_template(folder, settings):
    path = os.path.join(folder, "chat_template.jinja")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            return file.read()
    template = settings.get("chat_template")
    if isinstance(template, list):  # several with names
        template = {named.get("name"): named.get("template") for named in template}.get("default")
    return template if isinstance(template, str) else None


def tokenizer_keys(folder, family, config, rows):
    """[(name, kind, value)] of everything about text."""
    try:
        return read_keys(folder, family, config, rows)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise Refused("%s: the files of the tokenizer are not as published ones are (%s: %s): download them "
                      "again" % (folder, type(error).__name__, error)) from error


def read_keys(folder, family, config, rows):
    settings = load_json(folder, "tokenizer_config.json", {})
    tokenizer = load_tokenizer(folder, settings)
    tokens, types = token_list(tokenizer, rows)
    merges = [m if isinstance(m, str) else " ".join(m) for m in tokenizer["model"]["merges"]]
    name = "tokenizer.ggml."
    keys = [
        (name + "model", gguf.STRING, "gpt2"),
        (name + "pre", gguf.STRING, pretokenizer_name(tokenizer, family.architecture)),
        (name + "tokens", (gguf.ARRAY, gguf.STRING), tokens),
        (name + "token_type", (gguf.ARRAY, gguf.I32), types),
        (name + "merges", (gguf.ARRAY, gguf.STRING), merges),
    ]
    for role, number in special_ids(tokens, settings, config, family.mask_token).items():
        keys.append((name + role + "_token_id", gguf.U32, number))
    keys.append((name + "add_bos_token", gguf.BOOL, bool(settings.get("add_bos_token", False))))
    template = chat_template(folder, settings)
    if template:
        keys.append(("tokenizer.chat_template", gguf.STRING, template))
    return keys
