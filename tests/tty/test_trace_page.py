#!/usr/bin/python3
"""The page of dllm trace in a browser: it shows what the trace says, listens to keys and pointer, and
runs nothing that a prompt brings along."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import check
import browser as browsers
from check import DLLM, equal

if not browsers.PROGRAM:
    print("skipped: chromium is missing (scripts/install_deps.sh all)")
    sys.exit(check.SKIPPED)

folder = tempfile.TemporaryDirectory()
browser = browsers.Browser()


def make(name, *arguments, cut=0):
    """Runs with a trace and makes its page; cut takes bytes off the trace. The trace, and the page."""
    trace, page = (os.path.join(folder.name, name + end) for end in (".jsonl", ".html"))
    subprocess.run([DLLM, "run", *arguments, "--trace", trace], check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL)
    if cut:
        with open(trace, "r+b") as file:
            file.truncate(os.path.getsize(trace) - cut)
    subprocess.run([DLLM, "trace", trace, "-o", page], check=True, stderr=subprocess.DEVNULL)
    with open(trace, encoding="utf-8") as file:
        lines = file.read().split("\n")
    return [json.loads(line) for line in lines if line.endswith("}")], page


STORY = ("Tell a story about Tom and a fox.", "-n", "32", "--steps", "8", "--block-length", "32")


def texts(selector):
    return browser.ask(f"[...document.querySelectorAll('{selector}')].map((e) => e.textContent)")


def test_shows_the_steps():
    """Would break: tokens shown before their step, masks miscounted, colours of another token."""
    (header, *steps, _), page = make("story", *STORY)
    for number in (0, 3, len(steps)):
        browser.open(page, f"step={number}")
        there = [token for step in steps[:number] for token in step["tokens"]]
        fresh = steps[number - 1]["tokens"] if number else []
        equal(len(texts("#canvas .m")), 32 - len(there))
        equal(len(texts("#canvas .fresh")), len(fresh))
        words = [token["text"] for token in sorted(there, key=lambda token: token["position"])
                 if token["id"] not in header["end_ids"]]
        equal([text for text in texts("#canvas .t:not(.end)")], words)
        for token in there:
            level = sum(token["probability"] >= limit for limit in (0.3, 0.5, 0.7, 0.9, 0.99))
            kinds = browser.ask(f"document.querySelector('#p{token['position']}').className")
            assert f"c{level}" in kinds.split(), (token, kinds)
    assert f"Step {len(steps)} of {len(steps)}" in browser.ask("document.body.innerText")
    browser.open(page, "step=1&color=step")
    assert texts("#canvas .s0") and not texts("#canvas .s5")


def test_keys():
    (_, *steps, _), page = make("keys", *STORY)
    browser.open(page)
    value = "Number(document.querySelector('#slider').value)"
    equal(browser.ask(value), len(steps))
    for key, wanted in (("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1),
                        ("End", len(steps))):
        browser.key(key)
        equal(browser.ask(value), wanted)
    browser.key("Home")
    browser.key(" ")
    equal(texts("#play"), ["Pause"])
    end = time.time() + 300
    while browser.ask(value) < 2 and time.time() < end:
        time.sleep(0.05)
    browser.key(" ")
    equal(texts("#play"), ["Play"])
    assert browser.ask(value) >= 2


def test_tokens_under_the_pointer_and_the_focus():
    (header, *steps, _), page = make("point", *STORY)
    tokens = {token["position"]: token for step in steps for token in step["tokens"]}
    first = header["region"][0]
    browser.open(page)
    browser.point(f"#p{first}")
    detail = "document.querySelector('#detail').innerText"
    shown = browser.ask(detail)
    assert f"position\n{first}" in shown, shown
    assert tokens[first]["runner_up"]["text"].strip() in shown, shown
    browser.point(f"#p{first + 1}", click=True)
    browser.ask(f"document.querySelector('#p{first + 1}').focus()")
    browser.key("ArrowRight")
    assert f"position\n{first + 2}" in browser.ask(detail)
    equal(browser.ask("document.activeElement.id"), f"p{first + 2}")
    equal(browser.ask("document.activeElement.getAttribute('aria-selected')"), "true")


HOSTILE = "</script><script>document.title='taken'</script><img src=x onerror=document.title='taken'>"


def test_text_stays_text():
    """Would break: markup of a prompt that becomes part of the page."""
    for arguments in ((HOSTILE,), ("--no-chat", HOSTILE), ("--no-chat", "x", "--suffix", HOSTILE)):
        _, page = make("hostile", *arguments, "-n", "4")
        browser.problems.clear()
        browser.open(page)
        equal(browser.ask("document.title"), "dllm demo, dllm trace")
        equal(browser.ask("document.querySelectorAll('img, script').length"), 2)
        assert HOSTILE in browser.ask("document.body.textContent")
        with open(page, encoding="utf-8") as file:
            equal(file.read().count("</script>"), 2)
        equal(browser.problems, [])


def test_policy():
    """Would break: a page that could load something, or run a script that is not its own."""
    _, page = make("policy", "hi", "-n", "2")
    with open(page, encoding="utf-8") as file:
        text = file.read()
    assert "default-src 'none'" in text
    equal(re.findall(r"https?://[^\"' ]*", text), ["http://www.w3.org/2000/svg"])
    browser.open(page)
    browser.ask("document.body.append(Object.assign(document.createElement('script'),"
                " {textContent: 'document.title = 1'}))")
    equal(browser.ask("document.title"), "dllm demo, dllm trace")
    subprocess.run([sys.executable, os.path.join(check.ROOT, "scripts/make_trace_page.py"),
                    "--check"], check=True)


def test_characters_of_several_tokens():
    """Would break: a letter shown as two damaged ones."""
    _, page = make("letters", "--no-chat", "\u65e5\u672c \u00e9\n x", "-n", "2")
    browser.open(page)
    shown = browser.ask("document.querySelector('#canvas').textContent")
    assert shown.startswith("\u65e5\u672c \u00e9\u21b5\n x"), shown


def test_a_trace_that_was_cut_off():
    (*_, last), page = make("cut", *STORY, cut=30)
    assert "end" not in last
    browser.open(page)
    equal(browser.ask("document.querySelector('#note').hidden"), False)


def test_fits_a_phone():
    """Would break: a page that has to be moved sideways."""
    _, page = make("phone", *STORY)
    for width in (320, 390, 700, 1200):
        browser.size(width, 800)
        browser.open(page)
        equal(browser.ask("document.documentElement.scrollWidth > innerWidth"), False)
    browser.size(1200, 800)


def test_names():
    """Would break: a control that a screen reader cannot name."""
    _, page = make("names", *STORY)
    browser.open(page)
    equal(browser.ask("""[...document.querySelectorAll('button, input, select, [role=option]')]
        .filter((e) => !(e.getAttribute('aria-label') || e.closest('label') || e.textContent.trim()))
        .length"""), 0)


try:
    check.main(globals())
finally:
    browser.close()
    folder.cleanup()
