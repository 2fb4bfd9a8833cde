"""Brokers that take presigned requests for tokens, as those of Amazon MSK do."""

REGION = "eu-west-1"
KEY = "AKIDEXAMPLE"
SETTINGS = {
    "listener.name.sasl_plaintext.sasl.enabled.mechanisms": "OAUTHBEARER",
    "listener.name.sasl_plaintext.oauthbearer.sasl.jaas.config": (
        "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;"
    ),
    "listener.name.sasl_plaintext.oauthbearer.sasl.server.callback.handler.class": (
        "PresignedTokens"
    ),
}
OPTIONS = (f"-Dpresigned.region={REGION}", f"-Dpresigned.key={KEY}")
