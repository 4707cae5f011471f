"""Look the locked packages up among the known vulnerabilities, with pip-audit.

python scripts/audit.py [LOCK ...]

Exits with 1 for a vulnerability. Where the data of PyPI cannot be reached, or a mirror answers in
its place, one line says how many packages were not looked up; that alone fails nothing.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

LOCKS = sorted(map(str, Path(__file__).parents[1].glob("requirements*.lock")))
OPTIONS = ("--require-hashes", "--disable-pip", "--progress-spinner", "off", "--format", "json")


def main() -> None:
    locks = [f"--requirement={lock}" for lock in sys.argv[1:] or LOCKS]
    done = subprocess.run(
        [sys.executable, "-m", "pip_audit", *OPTIONS, *locks],
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except json.JSONDecodeError:
        print(f"pip-audit: nothing was looked up: {done.stderr.strip().splitlines()[-1][:200]}")
        return
    sys.exit(_report(packages))


def _report(packages: list[dict[str, Any]]) -> int:
    """Print what was found; return 1 for a vulnerability, else 0."""
    skipped = sum("skip_reason" in package for package in packages)
    found = [package for package in packages if package.get("vulns")]
    for package in found:
        for each in package["vulns"]:
            mended = ", ".join(each["fix_versions"]) or "no version"
            name = f"{package['name']} {package['version']}"
            print(f"pip-audit: {name}: {each['id']}, mended in {mended}")
    if skipped:
        print(f"pip-audit: {skipped} of {len(packages)} packages were not looked up: PyPI is away")
    return int(bool(found))


if __name__ == "__main__":
    main()
