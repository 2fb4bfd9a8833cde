"""Java programs as processes that tests kill, freeze and start again.

A program's jars are those that `make jars` fetches for a pom of `docker/kafka`.
"""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[2]
JARS = ROOT / "build" / "jars"
START_SECONDS = 180.0
STOP_SECONDS = 30.0

# Small and quick to start: what a test asks of it never pays for the better compiler.
_OPTIONS = (
    "-Xmx256m",
    "-XX:+ExitOnOutOfMemoryError",
    "-Xshare:auto",
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
)
_LOG_LEVEL = "-Dorg.apache.logging.log4j.level=WARN"


class NoJars(RuntimeError):
    """The machine has no Java, or not the jars of a program."""


class NotStarted(RuntimeError):
    """A process ended before it was ready."""


def classpath(name: str) -> str:
    """The jars of `docker/kafka/NAME.xml` (raises NoJars)."""
    if not any((JARS / name).glob("*.jar")):
        raise NoJars(f"no jars in build/jars/{name} (`make jars` fetches them with Maven)")
    return str(JARS / name / "*")


def compiled(name: str, jars: str, directory: Path) -> Path:
    """The directory with a class of this folder, made with these jars.

    Raises NoJars without them, or without a compiler, and CalledProcessError.
    """
    javac = shutil.which("javac")
    if javac is None:
        raise NoJars("no javac (Debian's package is default-jdk-headless)")
    source = Path(__file__).with_name(f"{name}.java")
    command = [javac, "-cp", classpath(jars), "-d", str(directory), str(source)]
    subprocess.run(command, check=True)
    return directory


def run(
    jars: str,
    main: str,
    *arguments: str | Path,
    options: Iterable[str] = (),
    classes: Path | None = None,
) -> str:
    """Run a Java program to its end; what it wrote (raises CalledProcessError).

    `classes` is a directory of classes beside those of `jars`.
    """
    path = classpath(jars) if classes is None else f"{classpath(jars)}:{classes}"
    command = [_java(), *_OPTIONS, _LOG_LEVEL, *options, "-cp", path, main, *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def await_true(what: str, condition: Callable[[], object], seconds: float = START_SECONDS) -> None:
    """Wait until `condition` holds (raises TimeoutError that names `what`)."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds:g} s")
        time.sleep(0.05)


class JavaProcess:
    """One Java program, its log in `directory`; started, killed, frozen and started again."""

    def __init__(
        self,
        directory: Path,
        jars: str,
        main: str,
        arguments: Sequence[str | Path],
        options: Iterable[str] = (),
        classes: Path | None = None,
    ) -> None:
        """`classes` is a directory of classes beside those of `jars`."""
        self.log = directory / f"{main.rpartition('.')[2].lower()}.log"
        path = classpath(jars) if classes is None else f"{classpath(jars)}:{classes}"
        self._command = [_java(), *_OPTIONS, _LOG_LEVEL, *options, "-cp", path, main]
        self._command += map(str, arguments)
        self._directory = directory
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The process's id."""
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the process lives, frozen or not."""
        return self._process is not None and self._process.poll() is None

    def start(self, is_ready: Callable[[], bool]) -> None:
        """Start the process and wait until it is ready.

        Raises NotStarted with its log's end if it ended, and TimeoutError.
        """
        with self.log.open("ab") as output:
            self._process = _spawn(self._command, self._directory, output)
        try:
            await_true(self.log.stem, lambda: is_ready() or not self.is_running)
        except BaseException:
            self.kill()
            raise
        if not self.is_running:
            raise NotStarted(f"{self.log.name} ends:\n{self.tail()}")

    def kill(self) -> None:
        """SIGKILL: nothing is flushed, nobody is told."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def stop(self) -> None:
        """Ask it to stop; kill it if it does not."""
        if self._process is not None and self.is_running:
            self._process.send_signal(signal.SIGCONT)
            self._process.terminate()
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()

    def wait(self) -> None:
        """Wait until it ends by itself."""
        assert self._process is not None
        self._process.wait()

    def pause(self) -> None:
        """SIGSTOP: it holds its connections and answers nothing."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT."""
        os.kill(self.pid, signal.SIGCONT)

    def tail(self) -> str:
        """The last lines of its log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-30:])


def _spawn(command: Sequence[str], directory: Path, output: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command, cwd=directory, stdout=output, stderr=output, start_new_session=True
    )


def _java() -> str:
    """The program (raises NoJars)."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin") if home else None)
    if found is None:
        raise NoJars("no Java (Debian's package is openjdk-17-jre-headless)")
    return found
