#!/usr/bin/env python3
"""Writes texts that are hard on a tokenizer: one per record, u32 length and UTF-8 bytes.

usage: make_texts.py COUNT OUT

The same texts every time. Characters that Unicode 14 does not know are left out, since peers read
newer tables.
"""
import random
import struct
import sys
import unicodedata

ENGLISH = ("the quick brown fox didn't jump over the lazy dogs' fence; she'll say it's what they've "
           "WE'RE I'M HE'D don'T can'T o'clock rock'n'roll naïve café Zürich e.g. Mr. Smith's 3rd "
           "extraordinarily internationalisation antidisestablishmentarianism").split()
CODE = ["def f(x):\n    return x**2 + 1\n", "for (int i = 0; i < n; ++i) { a[i] += b[i]; }\n",
        "\tif err != nil {\n\t\treturn err\n\t}\n", "SELECT * FROM t WHERE id >= 10 AND name='x';",
        "import numpy as np\n\n\nclass A(B):\n    \"\"\"doc\"\"\"\n\n    x: int = 0x1F\n",
        "<div class=\"a\">&nbsp;</div>\r\n", "#include <stdio.h>\n", "lambda *a, **k: (a, k)", "{}[]();",
        "https://example.org/a_b?q=1&r=%20#frag", "`x` **bold** ~~old~~ | a | b |\n|---|---|\n"]
SCRIPTS = ["Съешь ещё этих мягких французских булок", "这是一个测试,中文分词。", "日本語のテキストを処理する",
           "한국어 문장을 토큰으로", "مرحبا بالعالم كيف الحال", "שלום עולם מה שלומך", "नमस्ते दुनिया कैसे हो",
           "สวัสดีชาวโลก", "Γειά σου Κόσμε", "გამარჯობა მსოფლიო", "Բարեւ աշխարհ", "ሰላም ልዑል",
           "வணக்கம் உலகம்", "ជំរាបសួរ", "မင်္ဂလာပါ", "བཀྲ་ཤིས་བདེ་ལེགས།", "Tiếng Việt có dấu", "İstanbul ıǰß ﬁ"]
SPACES = [" ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", " \n", "\n ", "\u00a0", "\u2003", "\u3000", "\u2028", "\x0b",
          "\x0c", "\x85", "\u1680", "        ", "\t\t ", "\r", " \r\n \n", "\u202f", "\u200b", "\ufeff"]
DIGITS = ["0", "7", "42", "2024", "3.14159", "1,000,000", "½", "²", "Ⅷ", "٣٤٥", "१२३", "①", "1e-10", "0x7fff", "〇一二"]
EMOJI = ["😀", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇫🇷🇩🇪", "👍🏽", "❤️", "☃", "✈️🚀", "⌨"]
MARKS = ["e\u0301", "a\u0308\u0323", "n\u0303o", "\u0301", "क्षि", "a\u20dd", "Z\u0351\u036b\u0343", "\u0e33", "ก\u0e48"]
CONTROL = ["<|im_start|>", "<|im_end|>", "<|endoftext|>", "<think>", "</think>", "<tool_call>", "<|im_start", "|>",
           "<|im_start|><|im_end|>", "<|endoftext|", "<<|im_end|>>", "<|fim_prefix|>", "<", "<|"]
CONTRACTIONS = ["'s", "'S", "'t", "'T", "'re", "'RE", "'Re", "'ve", "'m", "'ll", "'LL", "'d", "'x", "''s", "'", "'sS", "'lL"]
SYMBOLS = ["!", "...", "->", "=>", "!=", "//", "/*", "***", "€", "£5", "—", "«»", "°C", "±", "∑∫√", "→", "@user", "#tag",
           "$x$", "%", "^", "~", "\\n", "\x00", "\x1f", "\x7f", "_", "__init__", "-", "--", "\u00ad", "\ue000"]
POOLS = [ENGLISH, CODE, SCRIPTS, SPACES, DIGITS, EMOJI, MARKS, CONTROL, CONTRACTIONS, SYMBOLS]


def any_character(rng):
    while True:
        c = rng.choice([rng.randrange(0x80), rng.randrange(0x800), rng.randrange(0x10000), rng.randrange(0x110000)])
        if not 0xD800 <= c < 0xE000 and unicodedata.category(chr(c)) != "Cn":
            return chr(c)


def make_text(rng, index):
    kind = index % 8
    if kind == 0:
        return "".join(any_character(rng) for _ in range(rng.randrange(1, 40)))
    if kind == 1:
        return " ".join(rng.choice(ENGLISH) for _ in range(rng.randrange(1, 60)))
    if kind == 2:
        return "".join(rng.choice(SPACES + ["a", "1", ".", "'"]) for _ in range(rng.randrange(1, 30)))
    if kind == 3:
        return "".join(rng.choice(CODE) for _ in range(rng.randrange(1, 8)))
    if kind == 4:
        return rng.choice(SCRIPTS + ENGLISH + DIGITS) * rng.randrange(1, 40)
    pools = rng.sample(POOLS, rng.randrange(2, 7))
    return "".join(rng.choice(rng.choice(pools)) for _ in range(rng.randrange(1, 50)))


def main():
    rng = random.Random(20240501)
    with open(sys.argv[2], "wb") as file:
        for index in range(int(sys.argv[1])):
            data = make_text(rng, index).encode()
            file.write(struct.pack("<I", len(data)) + data)


if __name__ == "__main__":
    main()
