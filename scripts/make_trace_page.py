#!/usr/bin/env python3
"""Puts the hashes of the page's own script and style into its content security policy, so that a browser
runs nothing else in it, whatever a trace holds.
usage: scripts/make_trace_page.py [--check]"""
import base64
import hashlib
import os
import re
import sys

PAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src/cli/trace_page.html")


def digest(page, name):
    body = re.search(f"<{name}>(.*?)</{name}>", page, re.S).group(1)
    return base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()


with open(PAGE, encoding="utf-8") as file:
    old = file.read()
new = old
for name, directive in (("script", "script-src"), ("style", "style-src")):
    new = re.sub(f"{directive} 'sha256-[^']*'", f"{directive} 'sha256-{digest(old, name)}'", new)
if "--check" in sys.argv[1:]:
    if new != old:
        sys.exit("src/cli/trace_page.html: the hashes are not those of its script and style; "
                 "run scripts/make_trace_page.py")
elif new != old:
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(new)
