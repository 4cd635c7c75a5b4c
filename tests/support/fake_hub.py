#!/usr/bin/env python3
"""Plays the Hugging Face hub on loopback, with repositories that go wrong in one way each.

usage: fake_hub.py MODELS PORT_FILE LOG [HOLD_FILE]

Serves small models from the folder MODELS until it is ended. PORT_FILE gets the port when the server
listens; LOG gets a line per request: path, Range header, whether a token came along. Contents are
handed out by a second server, as the real hub redirects to another host. While HOLD_FILE exists, contents of
the repository "slow" end after 64 KiB, without an end of the answer.
"""

import hashlib
import http.server
import json
import os
import re
import sys
import threading
import time

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOKEN = "Bearer hf_right"
CUT_AFTER = 500_000
models, port_file, log_path = sys.argv[1:4]
hold_file = sys.argv[4] if len(sys.argv) > 4 else ""


def read(name):
    with open(os.path.join(models, name), "rb") as stream:
        return stream.read()


llada, dream = read("llada-Q4_K_M.gguf"), read("dream-Q4_K_M.gguf")
plain = {"tiny-Q8_0.gguf": dream, "tiny-Q4_K_M.gguf": llada, "README.md": b"A small model.\n"}
half = len(llada) // 2
REPOS = {
    "plain": plain,
    "nested": {"sub dir/tiny-F16.gguf": llada},
    "two": {"a-Q4_K_M.gguf": llada, "b-Q4_K_M.gguf": dream},
    "split": {"big-Q4_K_M-00001-of-00002.gguf": llada[:half], "big-Q4_K_M-00002-of-00002.gguf": llada[half:]},
    "holey": {"big-Q4_K_M-00001-of-00003.gguf": llada[:half], "big-Q4_K_M-00003-of-00003.gguf": llada[half:]},
    "llama": {"x-Q4_K_M.gguf": llada.replace(b"llada", b"llama", 1) + bytes(3_000_000)},
    "empty": {"README.md": b"Nothing here.\n"},
    "cut": plain,
    "wrong": plain,
    "gated": plain,
    "forbidden": plain,
    "busy": plain,
    "rangeless": plain,
    "slow": plain,
    "huge": plain,
    "unhashed": plain,
    "nonsense": {},
    "tiny": {"tiny-F32.gguf": read("../../fuzz/corpus/model/llada")},
    "commit": plain,
    "digest": plain,
    "redirect": plain,
    "endless": {},
    # The names are what goes wrong: each is the quant that is preferred, but for the good one.
    "hostile": {"good-Q8_0.gguf": llada} | {f"{name}-Q4_K_M.gguf": dream for name in (
        "\x1b]0;title\x07", "\x1b[31mred", "c1\x9b31m", "delete\x7f", "line\nfeed", "carriage\rreturn", "quo\"te",
        "back\\slash", "../../outside", "a/../../../outside", "/outside", "a//empty", "./dot", ".hidden", "a/.git/x",
        "~" * 300, "d/" * 9 + "deep", "d/" * 60 + "deeper")},
    "many": {},
}
hits = {}
lock = threading.Lock()


def sibling(repo, name, data):
    digest = hashlib.sha256(data).hexdigest()
    if repo == "wrong":
        digest = digest[::-1]
    size = 1 << 60 if repo == "huge" else len(data)
    if repo == "digest":
        digest = "../../outside/" + digest[14:]
    entry = {"rfilename": name, "size": size}
    if name.endswith(".gguf") and repo != "unhashed":
        entry["lfs"] = {"sha256": digest, "size": size, "pointerSize": 134}
    return entry


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def note(self):
        with lock, open(log_path, "a", encoding="utf-8") as stream:
            token = "token" if self.headers.get("Authorization") else "-"
            stream.write(f"{self.path} {self.headers.get('Range', '-')} {token}\n")

    def do_GET(self):
        self.note()
        api = re.fullmatch(r"/api/models/test/(\w+)/revision/main\?blobs=true", self.path)
        file = re.fullmatch(rf"/(?:test/)?(\w+)/resolve/{COMMIT}/(.+)", self.path)
        repo = (api or file).group(1) if api or file else None
        if repo not in REPOS:
            return self.answer(404, b'{"error": "Repository not found"}')
        if repo == "gated" and self.server.is_hub and self.headers.get("Authorization") != TOKEN:
            return self.answer(401, b'{"error": "Invalid username or password."}')
        if repo == "forbidden":
            return self.answer(403, b'{"error": "Access to model is restricted"}')
        with lock:
            hits[repo] = hits.get(repo, 0) + 1
        if repo == "busy" and hits[repo] in (1, 3):
            return self.answer(503)
        if repo == "nonsense":
            return self.answer(200, b"<html>hello</html>")
        if api and repo == "endless":
            return self.blanks()
        if api:
            files = [sibling(repo, name, data) for name, data in REPOS[repo].items()]
            if repo == "many":
                files = [{"rfilename": f"{i}.gguf"} for i in range(299_999, 100_000, -1)]
            commit = "../../outside" if repo == "commit" else COMMIT
            return self.answer(200, json.dumps({"sha": commit, "siblings": files}).encode())
        name = file.group(2).replace("%20", " ")
        if name not in REPOS[repo]:
            return self.answer(404)
        if self.server.is_hub:
            where = f"http://localhost:{contents.server_port}/{repo}/resolve/{COMMIT}/{file.group(2)}"
            if repo == "redirect":
                where = "http://\x1b[31mred\x9b.invalid:99999/x"
            return self.answer(302, headers=[("Location", where), ("X-Repo-Commit", COMMIT)])
        return self.contents(repo, REPOS[repo][name])

    def blanks(self):
        """An answer that never ends."""
        self.send_response(200)
        self.end_headers()
        self.close_connection = True
        try:
            while True:
                self.wfile.write(b" " * (1 << 20))
        except OSError:  # the client has seen enough
            pass

    def contents(self, repo, data):
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not asked or repo == "rangeless":
            start, end, status, headers = 0, len(data), 200, []
        else:
            start = int(asked.group(1))
            end = min(len(data), int(asked.group(2) or len(data)) + 1)
            status, headers = 206, [("Content-Range", f"bytes {start}-{end - 1}/{len(data)}")]
        self.send_response(status)
        for header in headers:
            self.send_header(*header)
        self.send_header("Content-Length", str(end - start))
        self.end_headers()
        if repo == "cut" and end - start > CUT_AFTER:
            end = start + CUT_AFTER
            self.close_connection = True
        for at in range(start, end, 1 << 16):
            while repo == "slow" and at > start and os.path.exists(hold_file):
                time.sleep(0.02)
            try:
                self.wfile.write(data[at : min(at + (1 << 16), end)])
            except OSError:  # the client has seen enough
                self.close_connection = True
                return


def serve(is_hub):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.is_hub = is_hub
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=not is_hub).start()
    return server


contents = serve(False)
hub = serve(True)
with open(port_file + ".new", "w", encoding="utf-8") as stream:
    stream.write(str(hub.server_port))
os.rename(port_file + ".new", port_file)
