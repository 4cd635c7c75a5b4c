#!/usr/bin/python3
"""Copies a library with the GPU code of one generation of cards alone, as machine code.

usage: scripts/gpu_code_for.py LIBRARY COPY ARCH [CACHE]     ARCH: a compute capability, 90 for 9.0

nvcc puts a container ("fat binary") into a library for each source file, with machine code for some generations and
PTX, a language that the driver compiles, for others. What a card of ARCH takes is kept: its machine code, else what
ptxas makes of the PTX of the newest capability that is not above it. So the copy packs small, the driver need not
compile, which takes minutes, and one that is older than the PTX takes it too. Nothing else in the library moves.

Needs ptxas and fatbinary of the CUDA toolkit, and zstd. A large library takes a quarter of an hour: what was compiled is
kept in the folder CACHE.
"""
import concurrent.futures
import hashlib
import os
import re
import struct
import subprocess
import sys
import tempfile

MAGIC = struct.pack("<I", 0xBA55ED50)
CONTAINER = struct.Struct("<IHHQ")  # magic, version, bytes of this head, bytes behind it
ENTRY = struct.Struct("<HHIQ")      # kind, -, bytes of this head, bytes of code
ARCH_AT, LENGTH_AT = 28, 56         # in an entry's head: the capability; bytes of code when it is unpacked, 0: it is so
PTX, MACHINE_CODE = 1, 2


def containers(data):
    """(start, start of the entries, end) of each container."""
    at = data.find(MAGIC)
    while at >= 0:
        _, _, head, size = CONTAINER.unpack_from(data, at)
        yield at, at + head, at + head + size
        at = data.find(MAGIC, at + head + size)


def entries(data, start, end):
    """{(kind, capability): (its head, its code)}"""
    found = {}
    while start < end:
        kind, _, head, size = ENTRY.unpack_from(data, start)
        arch, = struct.unpack_from("<I", data, start + ARCH_AT)
        found[kind, arch] = bytes(data[start:start + head]), bytes(data[start + head:start + head + size])
        start += head + size
    return found


def unpacked(head, code):
    length, = struct.unpack_from("<Q", head, LENGTH_AT)
    if length == 0:
        return code
    run = subprocess.run(["zstd", "-dqc"], input=code, capture_output=True)  # complains of zeros behind the end
    if len(run.stdout) != length:
        raise ValueError("code that is not packed by zstd: %s" % run.stderr.decode().strip())
    return run.stdout


def run_tool(*command):
    run = subprocess.run(command, capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


def keep(code, out):
    """Containers with the same code are converted at the same time: whoever is last replaces what is alike."""
    with tempfile.NamedTemporaryFile(dir=os.path.dirname(out), delete=False) as file:
        file.write(code)
    os.replace(file.name, out)


def compile_ptx(text, arch, out):
    """A newer toolkit's PTX is compiled as this one's newest, which fails if it uses more than that knows."""
    with tempfile.TemporaryDirectory() as scratch:
        path, done = os.path.join(scratch, "code.ptx"), os.path.join(scratch, "code.cubin")
        for _ in range(2):
            with open(path, "wb") as file:
                file.write(text)
            status, said = run_tool("ptxas", "-arch=sm_%d" % arch, path, "-o", done)
            older = re.search(r"Unsupported \.version \S+; current version is '(\S+)'", said)
            if not older:
                break
            text = re.sub(rb"^\.version .*$", b".version " + older.group(1).encode(), text, count=1, flags=re.M)
        if status:
            raise ValueError(said.strip())
        with open(done, "rb") as file:
            keep(file.read(), out)


def machine_code(found, arch, cache):
    """The file of a container's machine code for the capability."""
    if (MACHINE_CODE, arch) in found:
        out = os.path.join(cache, hashlib.sha256(found[MACHINE_CODE, arch][1]).hexdigest() + ".cubin")
        keep(unpacked(*found[MACHINE_CODE, arch]), out)
        return out
    usable = [its for kind, its in found if kind == PTX and its <= arch]
    if not usable:
        raise ValueError("there is no code for a compute capability of %.1f in it" % (arch / 10))
    text = unpacked(*found[PTX, max(usable)]).rstrip(b"\0")
    out = os.path.join(cache, "%s-%d.cubin" % (hashlib.sha256(text).hexdigest(), arch))
    if not os.path.exists(out):
        compile_ptx(text, arch, out)
    return out


def container_of(cubin, arch):
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "container")
        status, said = run_tool("fatbinary", "--64", "--compress-all", "--create=" + out,
                                "--image3=kind=elf,sm=%d,file=%s" % (arch, cubin))
        if status:
            raise ValueError(said.strip())
        with open(out, "rb") as file:
            return file.read()


def convert(data, arch, cache):
    """Bytes of containers before and now; data changes."""
    places = list(containers(data))
    before = now = 0

    def convert_one(place):
        return container_of(machine_code(entries(data, *place[1:]), arch, cache), arch)

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        made = list(pool.map(convert_one, places))
    for (start, _, end), container in zip(places, made):
        if len(container) > end - start:
            raise ValueError("machine code of %d bytes has no room in %d" % (len(container), end - start))
        data[start:end] = container.ljust(end - start, b"\0")
        before += end - start
        now += len(container)
    return before, now


def main():
    if len(sys.argv) not in (4, 5) or not sys.argv[3].isdigit():
        sys.exit(__doc__)
    with open(sys.argv[1], "rb") as file:
        data = bytearray(file.read())
    try:
        with tempfile.TemporaryDirectory() as scratch:
            cache = sys.argv[4] if len(sys.argv) == 5 else scratch
            os.makedirs(cache, exist_ok=True)
            before, now = convert(data, int(sys.argv[3]), cache)
    except (OSError, ValueError) as reason:
        sys.exit("error: %s: %s" % (sys.argv[1], reason))
    with open(sys.argv[2], "wb") as file:
        file.write(data)
    print("%s: %.1f MB of GPU code are now %.1f MB" % (sys.argv[2], before / 1e6, now / 1e6))


if __name__ == "__main__":
    main()
