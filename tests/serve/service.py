"""A service that is asked in this process, and a server in one of its own."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

from askless.serve import create_app

__all__ = ["Server", "Service", "Thread", "free_port"]


class Service:
    """An app, and what a client gets from it."""

    def __init__(self, policies, **options):
        self.app = create_app(policies, **options)
        self.api = self.app.app.state.api
        self.headers = {}

    def close(self):
        self.api.sessions.store.close()

    def request(self, method, path, **options):
        """Return the response; what goes wrong in the app is not raised here."""
        import httpx

        headers = {**self.headers, **options.pop("headers", {})}

        async def ask():
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://test", timeout=60
            ) as client:
                return await client.request(method, path, headers=headers, **options)

        return asyncio.run(ask())

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def post(self, path, body=None, **options):
        if body is not None:
            options["json"] = body
        return self.request("POST", path, **options)

    def begin(self, policy, **options):
        """Return the identifier of a new session."""
        begun = self.post("/v1/sessions", {"policy": policy}, **options)
        assert begun.status_code == 201, begun.text
        return begun.json()["session"]


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Thread:
    """A server in a thread of this process, on 127.0.0.1."""

    def __init__(self, policies, **options):
        import uvicorn

        from askless.serve._server import make_config

        self.app = create_app(policies, **options)
        self.api = self.app.app.state.api
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        config = make_config(self.app, host="127.0.0.1", port=self.port)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run)
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive()
            time.sleep(0.01)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.should_exit = True
        self._thread.join()
        self.api.sessions.store.close()


class Server:
    """`askless serve` in a process of its own, on 127.0.0.1."""

    def __init__(self, *arguments, port=None):
        self.port = port or free_port()
        self.arguments = [*map(str, arguments), "--port", str(self.port)]
        self.start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "askless", "serve", *self.arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self.wait_until_alive()

    def wait_until_alive(self, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(self.process.stderr.read().decode())
            try:
                self.get("/healthz")
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise RuntimeError("the server does not answer")

    def get_text(self, path):
        with urllib.request.urlopen(self.address + path, timeout=30) as answer:
            return answer.read().decode()

    def get(self, path):
        with urllib.request.urlopen(self.address + path, timeout=30) as answer:
            return json.loads(answer.read())

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stderr.close()

    def stop(self):
        """Stop it as Ctrl-C does, and return what it said."""
        self.process.send_signal(signal.SIGINT)
        said = self.process.communicate(timeout=30)[1].decode()
        return self.process.returncode, said

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()
