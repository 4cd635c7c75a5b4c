"""Questions with exact answers, drawn from a seed: the whole corpus of the demo model.

A kind is a function from a random generator to an Item. Two sorts of kinds:
  recall   a finite list of facts, each with three phrasings; one phrasing of every fact (chosen by
           a hash) is held out, so that a fact is always trained, but never in the held-out words.
           MORE phrasings teach that the words around a fact do not change it;
  free     contents drawn at random (digits, letters, names); a tenth of the contents (again by a
           hash) is held out in every phrasing.
`draw(rng, kind, held_out)` gives a question of one side or the other, never of both.
"""

import random
import zlib
from dataclasses import dataclass

import words

HELD_OUT_SHARE = 10  # one content in ten


@dataclass(frozen=True)
class Item:
    """One fact: key names it whatever the phrasing, questions are its phrasings; those in `more`
    come in at the last stage of training and are never held out."""
    key: str
    questions: tuple
    answer: str
    more: tuple = ()


# Further phrasings of the facts; {} is the word or row that the question is about.
MORE = {
    "times": ("Calculate {}.", "How much is {}?", "Give the product {}.", "{} is how much?",
              "Work out {}.", "Tell me {}."),
    "capital": ("Tell me the capital of {}.", "What city is the capital of {}?",
                "Say the capital of {}.", "{} has which capital?", "Give the capital of {}.",
                "The capital of {} is which city?"),
    "opposite": ("Tell me the opposite of {}.", "What word is the opposite of {}?",
                 "Say the opposite of {}.", "{} has which opposite?", "Give the opposite of {}.",
                 "The opposite of {} is which word?"),
    "neighbour": ("Tell me the {}.", "Say the {}.", "Give the {}.", "The {} is which?",
                  "Which is the {}?", "What comes as the {}?"),
    "spell": ("Tell me how to spell {}.", "Say the letters of {}.", "Please spell {}.",
              "{} is spelled how?", "Give the letters of {}.", "Write {} letter by letter."),
    "letters": ("Tell me how many letters {} has.", "Say how many letters are in {}.",
                "The word {} has how many letters?", "{} has how many letters?",
                "Give the number of letters in {}.", "How long is the word {}?"),
    "plural": ("Tell me the plural of {}.", "What word is the plural of {}?",
               "Say the plural of {}.", "{} has which plural?", "Give the plural of {}.",
               "The plural of {} is which word?"),
    "count": ("Tell me how many: {}", "Say how many marks: {}", "Give the number of marks: {}",
              "How many: {}", "The number of marks here: {}", "Count these: {}"),
}


def digest(text):
    """A number from a text that no Python version or platform changes."""
    return zlib.crc32(text.encode())


def item(key, answer, *questions):
    return Item(key, questions, str(answer))


def fact(kind, key, subject, answer, *questions):
    """An item of a recall kind; subject is what the further phrasings name."""
    more = tuple(phrase.format(subject) for phrase in MORE[kind])
    return Item(key, questions, str(answer), more)


def add(rng):
    a, b = rng.randrange(100), rng.randrange(100)
    return item(f"{a}+{b}", a + b, f"What is {a} + {b}?")


def subtract(rng):
    a, b = rng.randrange(100), rng.randrange(100)
    a, b = max(a, b), min(a, b)
    return item(f"{a}-{b}", a - b, f"What is {a} - {b}?")


def compare(rng):
    a, b = rng.sample(range(100), 2)
    if rng.random() < 0.5:
        return item(f"{a}>{b}", max(a, b), f"Which is larger, {a} or {b}?")
    return item(f"{a}<{b}", min(a, b), f"Which is smaller, {a} or {b}?")


def successor(rng):
    a = rng.randrange(1, 999)
    if rng.random() < 0.5:
        return item(f"{a}++", a + 1, f"Which number comes after {a}?")
    return item(f"{a}--", a - 1, f"Which number comes before {a}?")


def reverse(rng):
    letters = rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randrange(3, 7))
    if rng.random() < 0.3:
        letters = list(rng.choice(words.SPELL_WORDS))
    return item("-".join(letters), "-".join(letters[::-1]), f"Reverse {'-'.join(letters)}.")


def sort_digits(rng):
    digits = rng.sample("0123456789", rng.randrange(3, 6))
    text = "".join(digits)
    return item(text, "".join(sorted(text)), f"Sort the digits {text}.")


def sort_words(rng):
    chosen = rng.sample(words.ANIMALS, 3)
    text = ", ".join(chosen)
    return item(text, ", ".join(sorted(chosen)), f"Sort the words {text}.")


def story(rng):
    name, animal = rng.choice(words.NAMES), rng.choice(words.ANIMALS)
    answer = (f"Once upon a time {name} had a {animal}. Every day {name} and the {animal} walked "
              f"to the river. {name} and the {animal} were happy.")
    return item(f"{name} {animal}", answer, f"Tell a story about {name} and a {animal}.",
                f"Tell a story about a {animal} and {name}.",
                f"Tell the story of {name} and a {animal}.")


def times_facts():
    return [fact("times", f"{a}x{b}", f"{a} times {b}" if (a + b) % 2 else f"{a} x {b}", a * b,
                 f"What is {a} times {b}?", f"What is {a} x {b}?", f"Multiply {a} by {b}.")
            for a in range(1, 13) for b in range(1, 13)]


def capital_facts():
    return [fact("capital", land, land, city, f"What is the capital of {land}?",
                 f"Name the capital of {land}.", f"Which city is the capital of {land}?")
            for land, city in words.CAPITALS.items()]


def opposite_facts():
    both = words.OPPOSITES + [(b, a) for a, b in words.OPPOSITES]
    return [fact("opposite", a, a, b, f"What is the opposite of {a}?", f"Name the opposite of {a}.",
                 f"Which word is the opposite of {a}?") for a, b in both]


def neighbour_facts():
    facts = []
    for unit, names in (("day", words.DAYS), ("month", words.MONTHS)):
        for i, name in enumerate(names):
            for word, step in (("after", 1), ("before", -1)):
                facts.append(fact("neighbour", f"{word} {name}", f"{unit} {word} {name}",
                                  names[(i + step) % len(names)],
                                  f"Which {unit} comes {word} {name}?",
                                  f"What {unit} is {word} {name}?",
                                  f"Name the {unit} {word} {name}."))
    return facts


def spell_facts():
    return [fact("spell", w, w, "-".join(w), f"Spell {w}.", f"How do you spell {w}?",
                 f"Spell the word {w}.") for w in words.SPELL_WORDS]


def letter_facts():
    return [fact("letters", w, w, len(w), f"How many letters are in {w}?",
                 f"How many letters does {w} have?", f"Count the letters in {w}.")
            for w in words.SPELL_WORDS]


def plural_facts():
    return [fact("plural", one, one, many, f"What is the plural of {one}?",
                 f"Name the plural of {one}.", f"Which word is the plural of {one}?")
            for one, many in words.PLURALS.items()]


def count_facts():
    facts = []
    for symbol in words.SYMBOLS:
        for n in range(1, 10):
            row = " ".join([symbol] * n)
            facts.append(fact("count", row, row, n, f"Count the marks: {row}",
                              f"How many marks are here: {row}", f"Count: {row}"))
    return facts


FREE = {"add": add, "subtract": subtract, "compare": compare, "successor": successor,
        "reverse": reverse, "sort_digits": sort_digits, "sort_words": sort_words, "story": story}
RECALL = {"times": times_facts(), "capital": capital_facts(), "opposite": opposite_facts(),
          "neighbour": neighbour_facts(), "spell": spell_facts(), "letters": letter_facts(),
          "plural": plural_facts(), "count": count_facts()}
KINDS = list(FREE) + list(RECALL)


def draw(rng, kind, held_out=False, more=False):
    """A (question, answer) of the kind, from the training or the held-out side; more: every second
    question about a fact in one of its further phrasings."""
    if kind in RECALL:
        known = rng.choice(RECALL[kind])
        hidden = digest(known.key) % len(known.questions)
        if held_out:
            return known.questions[hidden], known.answer
        shown = [q for i, q in enumerate(known.questions) if i != hidden]
        if more and rng.random() < 0.5:
            shown = known.more
        return rng.choice(shown), known.answer
    while True:
        made = FREE[kind](rng)
        if (digest(made.key) % HELD_OUT_SHARE == 0) == held_out:
            return rng.choice(made.questions), made.answer


def held_out_set(per_kind, seed):
    """per_kind different held-out questions of every kind (fewer where a kind has fewer)."""
    rng = random.Random(seed)
    rows = []
    for kind in KINDS:
        found = {}
        for _ in range(per_kind * 200):
            question, answer = draw(rng, kind, held_out=True)
            found.setdefault(question, answer)
            if len(found) == per_kind:
                break
        rows += [{"kind": kind, "question": q, "answer": a} for q, a in found.items()]
    return rows
