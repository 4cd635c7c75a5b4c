"""Writes the held-out questions of the evaluation: make_questions.py OUT.jsonl"""

import json
import sys

import corpus

PER_KIND, SEED = 40, 2024


def main():
    with open(sys.argv[1], "w") as file:
        for row in corpus.held_out_set(PER_KIND, SEED):
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
