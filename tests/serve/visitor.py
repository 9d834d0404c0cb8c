"""A person in front of a browser: looks for what the page offers, and uses it."""

import time
from pathlib import Path

import pytest

from tests.export.chromium import Page

__all__ = ["Visitor", "find_axe"]

AXE = Path(__file__).parents[2] / "build/npm/node_modules/axe-core/axe.min.js"
CHOICES = "[...document.querySelectorAll('.choice')].map((e) => e.innerText)"


def find_axe():
    """Return the text of axe-core, or skip the test."""
    if not AXE.exists():
        pytest.skip("needs axe-core: make axe")
    return AXE.read_text("utf-8")


class Visitor(Page):
    """A browser with what an interview page offers."""

    @property
    def heading(self):
        return self.run("document.querySelector('h1').innerText")

    @property
    def text(self):
        return self.run("document.body.innerText")

    @property
    def choices(self):
        return self.run(CHOICES)

    @property
    def is_question(self):
        return self.run("document.querySelector('#question') !== null")

    def follow(self, selector):
        """Click something that leads to another page."""
        with self.loading():
            self.click(selector)

    def press_to(self, key, **options):
        """Press a key that leads to another page."""
        with self.loading():
            self.press(key, **options)

    def tab_to(self, selector):
        """Press Tab until something has the focus."""
        for _ in range(40):
            self.press("Tab")
            if self.run(f"document.activeElement.matches({selector!r})"):
                return
        raise AssertionError(f"Tab never comes to {selector}")

    def wait_for(self, condition, seconds=20):
        """Wait until an expression of the page is true."""
        end = time.monotonic() + seconds
        while not self.run(condition):
            assert time.monotonic() < end, condition
            time.sleep(0.02)

    def allow_scripts(self, are_allowed):
        self.call("Emulation.setScriptExecutionDisabled", value=not are_allowed)

    def find_barriers(self):
        """Return what axe-core finds wrong, each with where."""
        self.run(find_axe() + "; 0")
        return self.run(
            "axe.run(document, {runOnly: {type: 'tag', values: ['wcag2a', 'wcag2aa',"
            "'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}}).then((r) =>"
            "r.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html)}`))"
        )

    @property
    def is_too_wide(self):
        root = "document.documentElement"
        return self.run(f"{root}.scrollWidth > {root}.clientWidth")
