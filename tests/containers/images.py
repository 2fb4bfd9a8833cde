"""Builds the service's image, and stand-ins for those of registries out of Debian's packages.

Each build reuses its layers from the store. The machine's own settings of pip, Maven and
certificates are mounted into builds, which else would not reach what the machine reaches.
"""

from collections.abc import Mapping
from pathlib import Path

from tests.containers.podman import PLACE, ROOT, Podman

SERVICE = "localhost/ivm"
_DEBIAN = "docker.io/library/debian:bookworm-slim"
_MIRROR = "http://deb.debian.org/debian"
_STANDINS = ROOT / "tests" / "containers" / "standins" / "Dockerfile"
# Each target of the stand-ins' file, and the image for which it stands.
STANDINS: Mapping[str, str] = {
    "maven": "docker.io/library/maven:3.9-eclipse-temurin-17",
    "python": "docker.io/library/python:3.11-slim-bookworm",
    "kafka": "docker.io/apache/kafka:4.3.1",
    "registry": "docker.io/apicurio/apicurio-registry-mem:2.6.13.Final",
    "connect": "quay.io/debezium/connect:3.7.0.Final",
    "postgres": "docker.io/library/postgres:15",
    "prometheus": "docker.io/prom/prometheus:v2.42.0",
}
_CLIENT_SETTINGS = (
    Path("/etc/ssl/certs"),
    Path("/etc/pip.conf"),
    Path.home() / ".config" / "pip",
    Path.home() / ".m2" / "settings.xml",
)
# Directories of /usr are linked from the start, not by a program in Perl.
_MERGED = ("--include=usr-is-merged", "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr")
# As the image proper: without pages and translations.
_SLIM = [
    f"--dpkgopt={option}"
    for option in (
        "path-exclude=/usr/share/doc/*",
        "path-exclude=/usr/share/locale/*",
        "force-unsafe-io",
    )
]


def build_service(podman: Podman) -> None:
    """Build the service's image, over stand-ins."""
    build_standins(podman, "maven", "python")
    settings = [path for path in _CLIENT_SETTINGS if path.exists()]
    volumes = [word for path in settings for word in ("--volume", f"{path}:{path}:ro")]
    _build(podman, ROOT / "docker" / "Dockerfile", SERVICE, *volumes)


def build_standins(podman: Podman, *targets: str) -> None:
    """Build these stand-ins, or those of `targets` that are not up to date."""
    if not podman.succeeds("image", "exists", _DEBIAN):
        _import_debian(podman)
    for target in targets:
        _build(podman, _STANDINS, STANDINS[target], "--target", target)


def _build(podman: Podman, file: Path, tag: str, *options: str) -> None:
    ignored = file.with_name(f"{file.name}.dockerignore")
    how = ("--isolation=chroot", "--network=host", "--format=docker", "--pull-never", "--quiet")
    files = ("--file", str(file), "--ignorefile", str(ignored))
    podman.run("buildah", "bud", "--layers", *how, *files, "--tag", tag, *options, ROOT)


def _import_debian(podman: Podman) -> None:
    """Make the image from which all others are made."""
    archive = PLACE / "bookworm.tar"
    options = ("--variant=minbase", "--quiet", *_MERGED, *_SLIM)
    podman.run("mmdebstrap", *options, "bookworm", archive, _MIRROR)
    podman("import", archive, _DEBIAN)
    archive.unlink()
