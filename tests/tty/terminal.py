"""A program in a terminal of its own: what it writes is read by a terminal emulator (pyte), what it
reads is typed. Keeps the picture of every frame that the program marks as complete."""
import copy
import errno
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

import pyte

PATIENCE = 300  # seconds until what does not come is a hang, on the busiest machine
ENTER, LEAVE, FRAME = b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?2026l"
LONGEST = max(len(ENTER), len(LEAVE), len(FRAME))


class Terminal:
    """rows and columns of the screen; env is the child's whole environment."""

    def __init__(self, command, rows=24, columns=80, env=None):
        self.rows, self.columns = rows, columns
        self.main = pyte.Screen(columns, rows)
        self.other = pyte.Screen(columns, rows)
        self.streams = {id(s): pyte.ByteStream(s) for s in (self.main, self.other)}
        self.screen = self.main
        self.frames = []  # (lines of text, the screen's cells, time) of the alternate screen
        self.output = b""
        self.held = b""
        self.code = None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            try:
                os.execvpe(command[0], command, env)
            finally:
                os._exit(127)

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def text(self):
        return "\n".join(self.lines()).rstrip("\n")

    def cells(self, row):
        """(character, foreground, background, bold, underscore, reverse) along a row."""
        line = self.screen.buffer[row]
        return [line[column] for column in range(self.columns)]

    def _feed(self, data):
        if data:
            self.streams[id(self.screen)].feed(data)

    def _take(self, data):
        """Feeds data, acting on the marks in it; a mark may be cut by the end of a read."""
        data = self.held + data
        while True:
            found = [(data.find(mark), mark) for mark in (ENTER, LEAVE, FRAME) if mark in data]
            if not found:
                break
            at, mark = min(found)
            self._feed(data[:at])
            data = data[at + len(mark):]
            if mark == FRAME:
                self.frames.append((self.lines(), copy.deepcopy(self.screen.buffer), time.time()))
            else:
                self.screen = self.other if mark == ENTER else self.main
                if mark == ENTER:
                    self.other.reset()
        at = data.rfind(b"\x1b", max(0, len(data) - LONGEST + 1))
        self.held = data[at:] if at >= 0 else b""
        self._feed(data[:at] if at >= 0 else data)

    def read(self, timeout):
        """Reads what is there within timeout; False at the end of the output."""
        if not select.select([self.fd], [], [], timeout)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            data = b""
        self.output += data
        self._take(data)
        return bool(data)

    def until(self, condition, timeout=PATIENCE):
        """Reads until condition() holds; an AssertionError shows the screen if it never does."""
        end = time.time() + timeout
        while not condition():
            more = self.read(0.05)
            if condition():
                return
            assert more, f"the program ended; the screen:\n{self.text()}"
            assert time.time() < end, f"waited {timeout} s; the screen:\n{self.text()}"

    def shows(self, text, timeout=PATIENCE):
        self.until(lambda: text in self.text(), timeout)

    def edits(self):
        """Whether the program reads keys instead of lines."""
        return not termios.tcgetattr(self.fd)[3] & termios.ICANON

    def type(self, text):
        os.write(self.fd, text.encode())

    def resize(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.main.resize(rows, columns)
        self.other.resize(rows, columns)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def send(self, number):
        os.kill(self.pid, number)

    def finish(self, timeout=PATIENCE):
        """Reads to the end; the exit code, or minus the signal's number."""
        end = time.time() + timeout
        while self.read(0.1) and time.time() < end:
            pass
        if time.time() >= end:
            self.send(signal.SIGKILL)
        if self.code is None:
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self._feed(self.held)
        self.held = b""
        return self.code
