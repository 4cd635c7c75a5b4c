#!/usr/bin/env python3
"""dllm from Python, through ctypes: token ids of a text, an answer, and logits as a NumPy array.

    python3 docs/example.py build/libdllm.so MODEL.gguf "Your question"

The structs are those of dllm.h, as far as they are used here; bytes at an end stand for the rest.
"""

import ctypes as c
import sys

import numpy as np


class Error(c.Structure):
    _fields_ = [("status", c.c_int), ("message", c.c_char * 1000)]


class EngineOptions(c.Structure):
    _fields_ = [("model_path", c.c_char_p), ("threads", c.c_int), ("rest", c.c_char * 256)]


class ModelInfo(c.Structure):
    _fields_ = [("name", c.c_char_p), ("architecture", c.c_char_p), ("quantization", c.c_char_p)]
    _fields_ += [("layers", c.c_int), ("hidden", c.c_int), ("vocab", c.c_int), ("rest", c.c_char * 512)]


class String(c.Structure):
    _fields_ = [("data", c.c_char_p), ("size", c.c_size_t)]


class Message(c.Structure):
    _fields_ = [("role", c.c_char_p), ("content", String)]


class Ids(c.Structure):
    _fields_ = [("ids", c.POINTER(c.c_int32)), ("count", c.c_size_t)]


class Text(c.Structure):
    _fields_ = [("data", c.POINTER(c.c_char)), ("size", c.c_size_t)]


class GenerateOptions(c.Structure):
    _fields_ = [("max_tokens", c.c_int), ("steps", c.c_int), ("block_length", c.c_int), ("rest", c.c_char * 1024)]


class Result(c.Structure):
    _fields_ = [("ids", Ids), ("text", Text), ("rest", c.c_char * 1024)]


def check(status, error):
    if status != 0:
        raise RuntimeError(error.message.decode())


def main(library, model, question):
    dllm = c.CDLL(library)
    error, engine, session = Error(), c.c_void_p(), c.c_void_p()
    options = EngineOptions(model_path=model.encode())
    check(dllm.dllm_engine_open(c.byref(options), c.byref(engine), c.byref(error)), error)
    check(dllm.dllm_session_create(engine, c.byref(session), c.byref(error)), error)

    text = question.encode()
    message, prompt = Message(b"user", String(text, len(text))), Ids()
    status = dllm.dllm_encode_chat(engine, c.byref(message), c.c_size_t(1), False, c.byref(prompt), c.byref(error))
    check(status, error)
    print("ids:", list(prompt.ids[: prompt.count]))

    settings, result = GenerateOptions(), Result()
    dllm.dllm_generate_defaults(engine, True, c.byref(settings))
    settings.max_tokens = 32
    count = c.c_size_t(prompt.count)
    status = dllm.dllm_generate(
        session, prompt.ids, count, c.byref(settings), c.byref(result), c.byref(error)
    )
    check(status, error)
    print("answer:", result.text.data[: result.text.size].decode())

    info = ModelInfo()
    dllm.dllm_engine_info(engine, c.byref(info))
    logits = np.empty((prompt.count, info.vocab), np.float32)
    rows = (c.c_int32 * prompt.count)(*range(prompt.count))
    out = logits.ctypes.data_as(c.POINTER(c.c_float))
    check(dllm.dllm_logits(session, prompt.ids, count, rows, count, False, out, c.byref(error)), error)
    print("logits:", logits.shape, "best of the last row:", int(logits[-1].argmax()))

    dllm.dllm_result_free(c.byref(result))
    dllm.dllm_ids_free(c.byref(prompt))
    dllm.dllm_session_destroy(session)
    dllm.dllm_engine_close(engine)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(f"usage: {sys.argv[0]} libdllm.so MODEL.gguf QUESTION")
    main(*sys.argv[1:])
