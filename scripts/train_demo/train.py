"""Trains the demo model on the generated corpus; can be stopped and resumed at any time.

  train.py --out DIR [--steps N] [--stop S] [--resume]
  train.py --out DIR --start MODEL.gguf [--steps N] [--stop S] [--resume]

Without --start the first stage, from nothing: each fact in few words. With it the last one, from the
weights and the vocabulary of an exported file: shorter, slower, more phrasings of each fact.

The parameters after step s are a function of s, N and the seeds alone (on one machine and torch),
however often the training was stopped and resumed.

Only the answer is masked, each position with a probability drawn per sequence; the loss is the
mean cross entropy over masked positions, end-of-text counting little. Every optimizer step draws
one batch over all kinds, sorted by length and run in groups, so that little of it is padding.
Shares of the kinds and learning rate follow the step's place among the N; the rate falls to zero
at the last. Two processes share the
parameters: each takes half of a batch and half of the update, which suits two busy cores better
than threads that wait for each other in every operation.
"""

import argparse
import json
import os
import random
import struct
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F

import bpe
import corpus
import model as demo
import start

SEED = 20
BATCH = 128
LONGEST_TO_SHORTEST = 1.25  # in a group of sequences that is padded to one length
CANVASES = (32, 64, 64, 128)
EOS_WEIGHT = 0.1
MUON_LR, ADAM_LR = 0.02, 3e-3
WARMUP_STEPS, DECAY_FROM = 60, 0.5
LOG_EVERY, CHECK_EVERY, CHECK_PER_KIND = 50, 300, 16
# What the trainer asks of its partner: word, step, progress or rate; and gets: loss, weight.
REQUEST, ANSWER = struct.Struct("=qqd"), struct.Struct("=dd")
GRADIENTS, UPDATE = 0, 1
# The share of each kind at the start and at the end of training (not yet divided by the sum).
EARLY = {"add": 6, "subtract": 6, "times": 3, "reverse": 3, "sort_digits": 2, "sort_words": 1.5,
         "compare": 6, "successor": 2, "story": 0.5, "spell": 1, "count": 1}
LATE = {"add": 7, "subtract": 6.5, "times": 3, "reverse": 4, "sort_digits": 1, "sort_words": 1.5,
        "compare": 5, "successor": 2.5, "story": 1, "letters": 1.5, "spell": 2.5, "count": 2.5,
        "capital": 1.5}
# Facts are what the first stage leaves uncertain.
LAST = {"add": 5, "subtract": 4, "times": 3.5, "reverse": 2, "sort_digits": 2, "sort_words": 1,
        "compare": 3, "successor": 2, "story": 1.5, "letters": 2.5, "spell": 4, "count": 2,
        "capital": 3, "opposite": 2, "plural": 2, "neighbour": 1.5}


@dataclass(frozen=True)
class Stage:
    """What differs between the stages; early and late: shares of the kinds at the start and the end."""
    steps: int
    seed: int
    rate: float  # of MUON_LR and ADAM_LR
    early: dict
    late: dict
    more: bool  # further phrasings of facts


FIRST_STAGE = Stage(6000, SEED, 1.0, EARLY, LATE, False)
LAST_STAGE = Stage(2000, SEED + 2, 0.4, LAST, LAST, True)


def make_tokenizer(path):
    """Reads the merges, or trains them on a first part of the corpus."""
    if not os.path.exists(path):
        rng = random.Random(SEED)
        texts = ["user", "assistant", "\n\n"]
        for kind in corpus.KINDS:
            for _ in range(3000):
                texts += corpus.draw(rng, kind)
        with open(path, "w") as file:
            json.dump(bpe.train_merges(texts, 1200), file)
    with open(path) as file:
        return bpe.Tokenizer(json.load(file))


def draw_question(rng, kind, stage, progress):
    """A training question; asking for the smaller number comes in over the first quarter, since
    as many questions of both sorts from the start leave no first step better than guessing."""
    while True:
        question, answer = corpus.draw(rng, kind, more=stage.more)
        if "smaller" not in question or rng.random() < 0.15 + 4 * progress:
            return question, answer


def draw_sequence(rng, tok, stage, progress):
    """(prompt ids, answer ids with eot and end-of-text, probability of masks in the tail)."""
    weights = [(1 - progress) * stage.early.get(k, 0.6) + progress * stage.late.get(k, 0.8)
               for k in corpus.KINDS]
    kind = rng.choices(corpus.KINDS, weights)[0]
    question, answer = draw_question(rng, kind, stage, progress)
    prompt = tok.encode_chat(question)
    body = tok.encode(answer) + [tok.eot]
    if rng.random() < 0.02 + 0.16 * progress:
        tail = max(0, rng.choice(CANVASES) - len(body))
    else:
        tail = rng.choice((0, 1, 1, 2, 3, 5))
    return prompt, body + [tok.eos] * tail, len(body)


def mask_sequence(rng, tok, prompt, answer, body, length, level):
    """Pads with end-of-text to length; masks the body at level, the tail at its own level."""
    answer = answer + [tok.eos] * (length - len(prompt) - len(answer))
    tail_level = level if rng.random() < 0.5 else rng.choice((0.0, 1.0, rng.random()))
    hidden = [rng.random() < (level if i < body else tail_level) for i in range(len(answer))]
    if not any(hidden[:body]):
        hidden[rng.randrange(body)] = True
    seen = [tok.mask if h else t for h, t in zip(hidden, answer)]
    targets = [t if h else -1 for h, t in zip(hidden, answer)]
    return prompt + seen, [-1] * len(prompt) + targets


def cut_groups(drawn):
    """Ranges of sequences sorted by length, of which the last is little longer than the first."""
    starts, first = [0], len(drawn[0][0]) + len(drawn[0][1])
    for i, (prompt, answer, _) in enumerate(drawn):
        if len(prompt) + len(answer) > first * LONGEST_TO_SHORTEST:
            starts.append(i)
            first = len(prompt) + len(answer)
    return zip(starts, starts[1:] + [len(drawn)])


def draw_groups(rng, tok, stage, progress, part):
    """One process's half of a batch as pairs (ids, targets), each [sequences, length];
    targets -1: no loss."""
    drawn = sorted((draw_sequence(rng, tok, stage, progress) for _ in range(BATCH)),
                   key=lambda s: len(s[0]) + len(s[1]))
    # The root draws high levels more often: in short answers few masks leave nothing to work out.
    levels = [((i + rng.random()) / BATCH) ** 0.5 for i in range(BATCH)]
    rng.shuffle(levels)
    drawn, levels = drawn[part::2], levels[part::2]
    groups = []
    for start, end in cut_groups(drawn):
        length = max(len(p) + len(a) for p, a, _ in drawn[start:end])
        rows = [mask_sequence(rng, tok, *drawn[i], length, levels[i]) for i in range(start, end)]
        groups.append((torch.tensor([r[0] for r in rows]), torch.tensor([r[1] for r in rows])))
    return groups


def group_loss(net, ids, targets, eos):
    """Weighted sum of cross entropies over the masked, and the sum of the weights."""
    targets = targets.flatten()
    rows = (targets >= 0).nonzero().squeeze(1)
    wanted = targets[rows]
    losses = F.cross_entropy(net(ids, rows).float(), wanted, reduction="none")
    weights = torch.where(wanted == eos, EOS_WEIGHT, 1.0)
    return (losses * weights).sum(), weights.sum()


def rate_factor(step, progress):
    rise = min(1.0, (step + 1) / WARMUP_STEPS)
    return rise * min(1.0, max(0.0, (1 - progress) / (1 - DECAY_FROM)))


@torch.no_grad()
def answer_all(net, tok, rows, spare=3):
    """Greedy answers, one token a step by confidence, on canvases just longer than the answer."""
    texts = []
    for row in rows:
        prompt = tok.encode_chat(row["question"])
        count = len(tok.encode(row["answer"])) + spare
        ids = torch.tensor([prompt + [tok.mask] * count])
        for _ in range(count):
            masked = (ids[0] == tok.mask).nonzero().squeeze(1)
            logits = net(ids, masked).float()
            logits[:, tok.mask] = -1e9
            best, tokens = logits.softmax(-1).max(-1)
            pick = int(best.argmax())
            ids[0, masked[pick]] = tokens[pick]
        out = ids[0, len(prompt):].tolist()
        ends = [i for i, t in enumerate(out) if t in (tok.eos, tok.eot)]
        texts.append(tok.decode(out[:ends[0]] if ends else out))
    return texts


def check(net, tok, rows):
    """Share of right answers per kind, as one line."""
    right = {}
    for row, text in zip(rows, answer_all(net, tok, rows)):
        right.setdefault(row["kind"], []).append(text == row["answer"])
    total = sum(sum(r) for r in right.values()) / len(rows)
    kinds = " ".join(f"{k} {100 * sum(r) // len(r)}" for k, r in right.items())
    return f"all {100 * total:.1f} | {kinds}"


class Partner:
    """A forked process that works on the trainer's parameters, which lie in shared memory."""

    def __init__(self, trainer):
        self.gradients = [torch.zeros_like(p).share_memory_() for p in
                          trainer.net.stacks() + [trainer.net.embedding, trainer.net.head]]
        requests, answers = os.pipe(), os.pipe()
        if os.fork() == 0:
            os.close(requests[1])  # so that the end of the trainer is the end of the requests
            self.serve(trainer, requests[0], answers[1])
            os._exit(0)
        os.close(answers[1])
        self.requests, self.answers = requests[1], answers[0]

    def serve(self, trainer, requests, answers):
        while len(message := os.read(requests, REQUEST.size)) == REQUEST.size:
            word, step, number = REQUEST.unpack(message)
            total, weight = 0.0, 0.0
            if word == GRADIENTS:
                total, weight = trainer.add_gradients(1, step, number)
                with torch.no_grad():
                    for shared, mine in zip(self.gradients, trainer.gradients()):
                        shared.copy_(mine)
            else:
                trainer.net.gradients[0].copy_(self.gradients[0])
                trainer.muon.step(number, 0)
            os.write(answers, ANSWER.pack(total, weight))

    def ask(self, word, step, number):
        os.write(self.requests, REQUEST.pack(word, step, number))

    def answer(self):
        """(loss, weight) of the partner's half, when it is done."""
        return ANSWER.unpack(os.read(self.answers, ANSWER.size))


class Trainer:
    def __init__(self, options):
        self.options = options
        self.stage = LAST_STAGE if options.start else FIRST_STAGE
        self.steps = options.steps or self.stage.steps
        merges = os.path.join(options.out, "merges.json")
        if options.start:
            start.write_merges(options.start, merges)
        self.tok = make_tokenizer(merges)
        torch.manual_seed(SEED)
        self.net = demo.DemoModel(len(self.tok.tokens))
        if options.start:
            start.fill(self.net, options.start)
        self.muon = demo.Muon(self.net.stacks(), self.net.gradients)
        self.adam = torch.optim.AdamW([self.net.embedding, self.net.head], ADAM_LR,
                                      betas=(0.9, 0.98), weight_decay=0)
        self.step, self.seconds, self.mean = 0, 0.0, None
        self.path = os.path.join(options.out, "checkpoint.pt")
        if options.resume and os.path.exists(self.path):
            self.load()

    def load(self):
        state = torch.load(self.path)
        self.net.load_state_dict(state["net"])
        for mine, saved in zip(self.muon.velocity, state["muon"]):
            mine.copy_(saved)
        self.adam.load_state_dict(state["adam"])
        self.step, self.seconds, self.mean = (state[key] for key in ("step", "seconds", "mean"))

    def save(self):
        state = {"net": self.net.state_dict(), "muon": self.muon.velocity,
                 "adam": self.adam.state_dict(), "step": self.step, "seconds": self.seconds,
                 "mean": self.mean}
        torch.save(state, self.path + ".new")
        os.replace(self.path + ".new", self.path)

    def add_gradients(self, part, step, progress):
        """Gradients of every second group of the step's batch: (loss, weight) summed."""
        rng = random.Random(self.stage.seed * 1000003 + step)
        total, weight = 0.0, 0.0
        self.net.zero_gradients()
        self.adam.zero_grad()
        for ids, targets in draw_groups(rng, self.tok, self.stage, progress, part):
            loss, weights = group_loss(self.net, ids, targets, self.tok.eos)
            (loss / BATCH).backward()
            total, weight = total + float(loss), weight + float(weights)
        return total, weight

    def gradients(self):
        return self.net.gradients + [self.net.embedding.grad, self.net.head.grad]

    def run_step(self, partner, progress):
        factor = self.stage.rate * rate_factor(self.step, progress)
        partner.ask(GRADIENTS, self.step, progress)
        total, weight = self.add_gradients(0, self.step, progress)
        other_total, other_weight = partner.answer()
        with torch.no_grad():
            for mine, other in zip(self.gradients(), partner.gradients):
                mine += other
                other.copy_(mine)
        partner.ask(UPDATE, 0, MUON_LR * factor)
        self.muon.step(MUON_LR * factor, 1)
        for group in self.adam.param_groups:
            group["lr"] = ADAM_LR * factor
        self.adam.step()
        partner.answer()
        self.step += 1
        return (total + other_total) / (weight + other_weight)

    def run(self):
        rows = corpus.held_out_set(CHECK_PER_KIND, SEED + 1)
        partner = Partner(self)
        while self.step < min(self.steps, self.options.stop):
            began = time.time()
            loss = self.run_step(partner, self.step / self.steps)
            self.mean = loss if self.mean is None else 0.98 * self.mean + 0.02 * loss
            self.seconds += time.time() - began
            if self.step % LOG_EVERY == 0 or self.step == 10:
                print(f"step {self.step} {self.seconds:.0f} s loss {self.mean:.4f}", flush=True)
            if self.step % CHECK_EVERY == 0:
                self.save()
                print(f"check {self.step} {check(self.net, self.tok, rows)}", flush=True)
        self.save()
        if self.step == self.steps:
            print(f"end {self.step} {self.seconds:.0f} s {check(self.net, self.tok, rows)}",
                  flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("--start", help="an exported file; the last stage goes on from it")
    parser.add_argument("--steps", type=int, help="length of the whole stage")
    parser.add_argument("--stop", type=int, default=10 ** 9, help="end this call at that step")
    parser.add_argument("--resume", action="store_true")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    Trainer(options).run()


if __name__ == "__main__":
    main()
