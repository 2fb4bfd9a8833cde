"""A batch is a trace, from its offsets to the commit of its deltas, that a collector gets."""

import gzip
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

PROGRAM = """
import sys
from pathlib import Path

from opentelemetry import trace

from api import traces
from connectors.ingest.delivery import Delivery
from connectors.ingest.meter import Meter
from connectors.files.writer import TopicWriter
from connectors.progress.journal import Journal
from connectors.quarantine.store import Quarantine
from tests.unit.connectors.records import insert, table
from tests.unit.connectors.test_delivery import batch

traces.send("shop")
root, meter = Path(sys.argv[1]), Meter()


class Receiver:
    def receive(self, batch):
        with meter.stage("engine"):
            pass
        with meter.stage("sink"):
            pass


TopicWriter(root / "topics", "people").append([insert(1), insert(2)])
delivery = Delivery(Journal(root / "journal"), Quarantine(root / "quarantine"), Receiver())
delivery.add_table("people@0", table())
delivery.open()
delivery.deliver(batch(root / "topics", [(0, 2)]))
trace.get_tracer_provider().shutdown()
"""


@contextmanager
def collector() -> Iterator[tuple[str, list[Span]]]:
    """The address of a collector, and the spans that it gets."""
    found: list[Span] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                for scope in resource.scope_spans:
                    found.extend(scope.spans)
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *arguments: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", found
    server.shutdown()
    server.server_close()


def test_a_collector_gets_the_spans_of_a_batch(tmp_path: Path) -> None:
    with collector() as (address, spans):
        subprocess.run(
            [sys.executable, "-c", PROGRAM, str(tmp_path)],
            env=os.environ | {"OTEL_EXPORTER_OTLP_ENDPOINT": address},
            check=True,
        )
    by_name = {span.name: span for span in spans}
    assert by_name.keys() == {"batch", "journal", "engine", "sink"}
    batch = by_name["batch"]
    about = {each.key: each.value for each in batch.attributes}
    assert about["ivm.time"].int_value == 1
    assert [v.int_value for v in about["ivm.offsets.people.0"].array_value.values] == [0, 2]
    parts = [by_name[name] for name in ("journal", "engine", "sink")]
    assert {part.parent_span_id for part in parts} == {batch.span_id}
    assert [part.start_time_unix_nano for part in parts] == sorted(
        part.start_time_unix_nano for part in parts
    )
