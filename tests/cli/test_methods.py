"""``askless methods``: the registry, for people and for machines."""

import json

from askless.solve import METHODS


def test_every_method_is_shown_with_its_guarantee_and_options(run):
    shown = " ".join(run("methods").stdout.split())
    for method in METHODS.values():
        for text in (method.name, method.summary, method.guarantee):
            assert " ".join(text.split()) in shown
        for option, meaning in method.options.items():
            assert f"{option} {meaning}" in shown


def test_json_has_the_same(run):
    listed = json.loads(run("methods", "--json").stdout)["methods"]
    assert [entry["name"] for entry in listed] == list(METHODS)
    for entry in listed:
        method = METHODS[entry["name"]]
        assert entry["summary"] == method.summary
        assert entry["guarantee"] == method.guarantee
        assert entry["options"] == method.options
