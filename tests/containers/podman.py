"""Podman and buildah over a store of their own, so that no image of the machine is touched.

They run with `runc`: `crun` needs rights that a machine without systemd may not give.
"""

import json
import os
import resource
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

ROOT = Path(__file__).parents[2]
PLACE = ROOT / "build" / "containers"
# What runs is forgotten when the machine starts again.
_RUNNING = Path("/run/ivm-containers")
_PACKAGES = {
    "podman": "podman",
    "buildah": "buildah",
    "runc": "runc",
    "catatonit": "catatonit",
    "iptables": "iptables",
    "mmdebstrap": "mmdebstrap",
    "promtool": "prometheus",
    "/usr/lib/podman/netavark": "netavark",
    "/usr/lib/podman/aardvark-dns": "aardvark-dns",
}


class NoContainers(RuntimeError):
    """The machine cannot build and run containers."""


class Podman:
    """Commands over the store in `build/containers` (raises NoContainers)."""

    def __init__(self) -> None:
        missing = [each for program, each in _PACKAGES.items() if shutil.which(program) is None]
        if missing:
            raise NoContainers(f"containers need Debian's packages {' '.join(missing)}")
        if os.geteuid() != 0:
            raise NoContainers("containers need root: chroots and networks do")
        PLACE.mkdir(parents=True, exist_ok=True)
        storage, engine = PLACE / "storage.conf", PLACE / "containers.conf"
        storage.write_text(
            f'[storage]\ndriver = "overlay"\ngraphroot = "{PLACE / "storage"}"\n'
            f'runroot = "{_RUNNING / "storage"}"\n'
        )
        # Podman's own limits may lie above the machine's, which then refuses them.
        files = min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 1 << 20)
        processes = min(resource.getrlimit(resource.RLIMIT_NPROC)[1], 1 << 15)
        engine.write_text(
            "[containers]\n"
            f'default_ulimits = ["nofile={files}:{files}", "nproc={processes}:{processes}"]\n'
            '[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n'
            f'tmp_dir = "{_RUNNING / "libpod"}"\n'
            '[network]\nnetwork_backend = "netavark"\n'
            f'network_config_dir = "{PLACE / "networks"}"\n'
        )
        self.environment = {
            **os.environ,
            "CONTAINERS_CONF": str(engine),
            "CONTAINERS_STORAGE_CONF": str(storage),
        }

    def __call__(self, *arguments: str | Path) -> str:
        """What `podman` writes (raises CalledProcessError)."""
        return self.run("podman", *arguments)

    def run(
        self,
        *command: str | Path,
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> str:
        """What a command over the store writes; its errors go to this process's own.

        `more` are further variables of its environment. Raises CalledProcessError.
        """
        finished: subprocess.CompletedProcess[str] = subprocess.run(
            command,
            cwd=ROOT,
            env={**self.environment, **more},
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        return finished.stdout.strip()

    def succeeds(self, *arguments: str | Path) -> bool:
        """Whether `podman` ends well."""
        finished = subprocess.run(
            ["podman", *arguments], cwd=ROOT, env=self.environment, capture_output=True
        )
        return finished.returncode == 0

    def inspected(self, name: str) -> Any:
        """What podman knows of a container or an image."""
        (known,) = json.loads(self("inspect", name))
        return known
