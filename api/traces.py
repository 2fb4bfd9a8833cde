"""Traces: sends the spans of batches to a collector of OpenTelemetry, if the setting says so.

The address and all else are OpenTelemetry's own variables, `OTEL_EXPORTER_OTLP_ENDPOINT` first of
all. Without the setting the spans cost nothing: there is nobody to take them. The packages are the
extra `traces`.
"""

from importlib import import_module

from opentelemetry import trace

from ivm.errors import IvmError


class TracesMissing(IvmError):
    """The packages that send traces are not installed."""

    code = "traces-missing"


def send(service: str) -> None:
    """Send spans from now on, as those of `service` (raises TracesMissing)."""
    try:
        resources = import_module("opentelemetry.sdk.resources")
        sdk = import_module("opentelemetry.sdk.trace")
        export = import_module("opentelemetry.sdk.trace.export")
        otlp = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    except ImportError as error:
        raise TracesMissing(
            "traces = true needs packages that are not installed: pip install 'ivm[traces]'"
        ) from error
    resource = resources.Resource.create({"service.name": service})
    provider = sdk.TracerProvider(resource=resource)
    provider.add_span_processor(export.BatchSpanProcessor(otlp.OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
