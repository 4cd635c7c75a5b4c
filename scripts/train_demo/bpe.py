"""Byte-level BPE: trains a vocabulary on the corpus and encodes with it.

Text is cut into pieces by the published bailingmoe expression (narrowed to ASCII letters and
digits, all that the corpus has), the bytes of a piece are shown as printable characters, and the
commonest adjacent pair is merged until every piece of the corpus is one token.
"""

import re
from collections import Counter

PIECES = re.compile(r"'(?i:[sdmt]|ll|ve|re)|[^\r\nA-Za-z0-9]?+[A-Za-z]+|[0-9]"
                    r"| ?[^\sA-Za-z0-9]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+")
CONTROL = ["<|startoftext|>", "<|endoftext|>", "<|start_header_id|>", "<|end_header_id|>",
           "<|eot_id|>", "<|mdm_mask|>"]


def byte_symbols():
    """The character that stands for each byte in the vocabulary."""
    plain = set(range(33, 127)) | set(range(161, 173)) | set(range(174, 256))
    rest = [b for b in range(256) if b not in plain]
    return [chr(b) if b in plain else chr(256 + rest.index(b)) for b in range(256)]


SYMBOL = byte_symbols()


def to_symbols(text):
    return "".join(SYMBOL[b] for b in text.encode())


def merge_pair(parts, left, right):
    out, i = [], 0
    while i < len(parts):
        if i + 1 < len(parts) and parts[i] == left and parts[i + 1] == right:
            out.append(left + right)
            i += 2
        else:
            out.append(parts[i])
            i += 1
    return out


def train_merges(texts, limit):
    """At most limit merges, commonest pair first, ties to the smaller pair."""
    counts = Counter(piece for text in texts for piece in PIECES.findall(text))
    # Roots keep rare answers from losing against the words of every question.
    pieces = [(list(to_symbols(p)), n ** 0.5) for p, n in sorted(counts.items())]
    merges = []
    while len(merges) < limit:
        pairs = Counter()
        for parts, n in pieces:
            for pair in zip(parts, parts[1:]):
                pairs[pair] += n
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        pieces = [(merge_pair(parts, *best), n) for parts, n in pieces]
    return merges


class Tokenizer:
    """Ids: the 256 bytes, the merges in order, then the control tokens."""

    def __init__(self, merges):
        self.merges = [tuple(m) for m in merges]
        self.tokens = SYMBOL + [a + b for a, b in self.merges] + CONTROL
        self.ids = {token: i for i, token in enumerate(self.tokens)}
        self.rank = {pair: i for i, pair in enumerate(self.merges)}
        self.cache = {}
        for name, token in zip(("bos", "eos", "header", "header_end", "eot", "mask"), CONTROL):
            setattr(self, name, self.ids[token])
        head = self.encode
        self.before = ([self.bos, self.header] + head("user") + [self.header_end] + head("\n\n"))
        self.after = ([self.eot, self.header] + head("assistant") + [self.header_end]
                      + head("\n\n"))

    def encode_piece(self, piece):
        parts = list(to_symbols(piece))
        while len(parts) > 1:
            pair = min(zip(parts, parts[1:]), key=lambda p: self.rank.get(p, len(self.rank)))
            if pair not in self.rank:
                break
            parts = merge_pair(parts, *pair)
        return [self.ids[p] for p in parts]

    def encode(self, text):
        out = []
        for piece in PIECES.findall(text):
            if piece not in self.cache:
                self.cache[piece] = self.encode_piece(piece)
            out += self.cache[piece]
        return out

    def encode_chat(self, question):
        """llada's chat template: one user turn, up to where the answer starts."""
        return self.before + self.encode(question) + self.after

    def decode(self, ids):
        byte = {c: b for b, c in enumerate(SYMBOL)}
        text = "".join(self.tokens[i] for i in ids if i < len(self.tokens) - len(CONTROL))
        return bytes(byte[c] for c in text).decode(errors="replace")
