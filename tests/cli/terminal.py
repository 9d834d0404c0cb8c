"""A pseudo-terminal with a program in it, to type to and to read from."""

import os
import re
import select
import signal
import subprocess
import sys
import time

RUN = [sys.executable, "-c", "from askless.cli import main; main(prog_name='askless')"]
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r|\x07")


class Terminal:
    """Askless in a terminal of its own."""

    def __init__(self, *args, folder):
        import fcntl
        import pty
        import termios

        self._end, end = pty.openpty()
        env = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "NO_COLOR": "1"}
        env["INPUTRC"] = os.devnull
        self.process = subprocess.Popen(
            [*RUN, *map(str, args)],
            stdin=end,
            stdout=end,
            stderr=end,
            cwd=folder,
            env=env,
            start_new_session=True,
            # Its own terminal, so that Ctrl-C is a signal there.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(end)
        self.shown = ""
        self._read_to = 0

    def _read(self, seconds):
        ready, _, _ = select.select([self._end], [], [], seconds)
        if not ready:
            return False
        try:
            part = os.read(self._end, 65536)
        except OSError:
            return False
        self.shown += ESCAPES.sub("", part.decode("utf-8", "replace"))
        return bool(part)

    def expect(self, text, seconds=120):
        """Read until a text is shown, and return everything up to it."""
        deadline = time.monotonic() + seconds
        while text not in self.shown[self._read_to :]:
            if not self._read(0.2) and self.process.poll() is not None:
                self._read(0)
                if text in self.shown[self._read_to :]:
                    break
                raise AssertionError(f"no {text!r} in:\n{self.shown}")
            assert time.monotonic() < deadline, f"no {text!r} in:\n{self.shown}"
        at = self.shown.index(text, self._read_to) + len(text)
        before, self._read_to = self.shown[self._read_to : at], at
        return before

    def type(self, text):
        """Wait for the prompt, type a line, and press Enter."""
        self.expect("\n> ")
        os.write(self._end, text.encode() + b"\n")

    def press(self, key):
        """Wait for the prompt and press a key."""
        self.expect("\n> ")
        os.write(self._end, key)

    def press_until(self, text, key):
        """Wait for the prompt and press a key, again if nothing comes of it.

        Between showing the prompt and reading a line, a terminal is set up anew, and an
        interrupt that falls right there can get lost.
        """
        self.press(key)
        for patience in (10, 30, 120):
            try:
                return self.expect(text, patience)
            except AssertionError:
                if self.process.poll() is not None or patience == 120:
                    raise
                os.write(self._end, key)

    def kill(self):
        """End the program as no program can prevent."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait(timeout=60)
        self._close()

    def _close(self):
        if self._end is not None:
            os.close(self._end)
            self._end = None

    def clean_up(self):
        """Leave nothing behind, whatever a test came to."""
        if self.process.poll() is None:
            self.kill()
        self._close()

    def finish(self):
        """Wait for the end; return the exit code."""
        while self._read(0.5) or self.process.poll() is None:
            pass
        code = self.process.wait(timeout=120)
        self._close()
        return code
