"""Spark standalone: runs its master or a worker in this process, from the package pyspark.

    python -m connectors.spark.standalone master --port 7077
    python -m connectors.spark.standalone worker spark://MASTER:7077 --cores 2 --memory 2g

Both listen at `--host`, by default the name of this machine. With `IVM_CLUSTER_SECRET` they let in
whoever knows it alone, and encrypt what they say; the service has it as `cluster.secret`.
"""

import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkstemp
from typing import Annotated

import pyspark
import typer

from connectors.spark.java import java_home
from connectors.spark.session import secured

SECRET = "IVM_CLUSTER_SECRET"
HOST = typer.Option(help="the address to listen at", default_factory=socket.gethostname)
# Seconds in which those that a master knew before have to answer it, which else takes a minute to
# notice that an application has ended meanwhile.
RECOVERY_SECONDS = 15
# A worker asks for its master once a minute; one that gives up ends, and its executors with it.
WITHOUT_END = 2**31 - 1

app = typer.Typer(add_completion=False, help=__doc__)


@app.command()
def master(
    host: Annotated[str, HOST],
    port: int = 7077,
    recovery: Annotated[Path, typer.Option(help="a directory of what it knows")] = Path("recovery"),
) -> None:
    """Run a master, which knows the workers and places executors on them.

    One that comes back and has lost its directory ends the executors that it no longer knows.
    """
    properties = {
        "spark.deploy.recoveryMode": "FILESYSTEM",
        "spark.deploy.recoveryDirectory": str(recovery.resolve()),
        "spark.deploy.recoveryTimeout": f"{RECOVERY_SECONDS}s",
    }
    _become("master.Master", properties, "--host", host, "--port", str(port))


@app.command()
def worker(
    master: Annotated[str, typer.Argument(help="spark://HOST:PORT")],
    host: Annotated[str, HOST],
    cores: Annotated[int, typer.Option(help="slots of its executors")] = 1,
    memory: Annotated[str, typer.Option(help="memory of its executors' JVMs")] = "1g",
    work: Annotated[Path, typer.Option(help="a directory for what executors write")] = Path("work"),
) -> None:
    """Run a worker, which starts executors; their Python is this one."""
    size = ("--cores", str(cores), "--memory", memory, "--work-dir", str(work))
    properties = {"spark.worker.maxRegistrationRetries": str(WITHOUT_END)}
    _become("worker.Worker", properties, "--host", host, *size, master)


def _become(main: str, properties: Mapping[str, str], *options: str) -> None:
    """Run a class of Spark's in place of this process (raises JavaMissing)."""
    home = Path(next(iter(pyspark.__path__)))
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_DAEMON_MEMORY": "256m",
    }
    if (java := java_home()) is not None:
        environment["JAVA_HOME"] = str(java)
    program = str(home / "bin" / "spark-class")
    secret = environment.pop(SECRET, None)
    file = _written({"spark.master.rest.enabled": "false", **properties, **secured(secret)})
    command = [program, f"org.apache.spark.deploy.{main}", "--properties-file", file]
    os.execve(program, [*command, "--webui-port", "0", *options], environment)


def _written(properties: Mapping[str, str]) -> str:
    """A file of properties that nobody else can read, as they could arguments."""
    number, name = mkstemp(suffix=".conf")
    with os.fdopen(number, "w") as file:
        file.writelines(f"{key} {value}\n" for key, value in properties.items())
    return name


if __name__ == "__main__":
    app()
