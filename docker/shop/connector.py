"""Makes Debezium's connector for the shop, once Kafka Connect answers; one that is there stays."""

import json
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

ADDRESS = "http://connect:8083/connectors/shop/config"
CONFIG = {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "plugin.name": "pgoutput",
    "database.hostname": "postgres",
    "database.user": "postgres",
    "database.password": "postgres",
    "database.dbname": "postgres",
    "topic.prefix": "shop",
    "table.include.list": "public.customers,public.orders",
    "publication.autocreate.mode": "filtered",
    "topic.creation.default.replication.factor": "1",
    "topic.creation.default.partitions": "1",
    # Truncations are left out unless they are asked for.
    "skipped.operations": "none",
    # Without schemas, nothing would tell the scale of a decimal in bytes.
    "decimal.handling.mode": "string",
    "key.converter": "org.apache.kafka.connect.json.JsonConverter",
    "key.converter.schemas.enable": "false",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
}
SECONDS = 120


def main() -> None:
    """Ask until it is made (raises OSError)."""
    body = json.dumps(CONFIG).encode()
    request = Request(ADDRESS, body, {"Content-Type": "application/json"}, method="PUT")
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            with urlopen(request, timeout=30):
                return
        except HTTPError as error:
            if error.code not in {404, 409, 503} or time.monotonic() > deadline:
                raise SystemExit(f"{ADDRESS}: {error.read().decode()}") from error
        except OSError:
            if time.monotonic() > deadline:
                raise
        time.sleep(1)


if __name__ == "__main__":
    main()
