"""Send the service whatever its description allows, and what it does not.

``make fuzz-api`` runs schemathesis, from an environment of its own, against a service
on 127.0.0.1 with a policy of each kind. It fails if the service fails, or says
something that its description does not.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.policy.examples import EXAMPLES, make_example
from tests.serve.service import Server

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("schemathesis", help="path of the program")
    parser.add_argument("--seconds", default="60", help="how long to try")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    (folder / "policies").mkdir()
    for name in EXAMPLES:
        make_example(name).save(folder / "policies" / f"{name.replace(' ', '-')}.json")
    with Server(folder / "policies", "--db", folder / "sessions.db") as server:
        ran = subprocess.run(
            [
                arguments.schemathesis, "run", f"{server.address}/openapi.json",
                "--checks", ",".join(CHECKS), "--max-time", arguments.seconds,
                "--suppress-health-check", "all", "--warnings", "off",
            ],
            cwd=folder,
        )  # fmt: skip
        numbers = server.get_text("/metrics")
    failed = [line for line in numbers.splitlines() if 'status="500"' in line]
    print("\n".join(failed) or "No request failed in the service.")
    return ran.returncode or bool(failed)


if __name__ == "__main__":
    sys.exit(main())
