import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.security.auth.callback.Callback;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerToken;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallback;

/**
 * Takes presigned requests for tokens, as Amazon MSK does, of the key and region in the properties
 * `presigned.key` and `presigned.region`. Whether the signature is right only Amazon knows.
 */
public final class PresignedTokens implements AuthenticateCallbackHandler {
    private static final DateTimeFormatter MOMENT =
        DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);

    @Override
    public void configure(
        Map<String, ?> configs, String mechanism, List<AppConfigurationEntry> entries) {}

    @Override
    public void close() {}

    @Override
    public void handle(Callback[] callbacks) throws IOException {
        for (Callback callback : callbacks) {
            if (callback instanceof OAuthBearerValidatorCallback asked) {
                Token token = decoded(asked.tokenValue());
                if (token == null) {
                    asked.error("invalid_token", null, null);
                } else {
                    asked.token(token);
                }
            }
        }
    }

    private record Token(String value, String principalName, Long startTimeMs, long lifetimeMs)
        implements OAuthBearerToken {
        @Override
        public Set<String> scope() {
            return Set.of();
        }
    }

    private static Token decoded(String value) {
        URI request = URI.create(
            new String(Base64.getUrlDecoder().decode(value), StandardCharsets.UTF_8));
        Map<String, String> given = new HashMap<>();
        for (String pair : request.getRawQuery().split("&")) {
            String[] parts = pair.split("=", 2);
            given.put(parts[0], URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
        }
        String region = System.getProperty("presigned.region");
        String[] credential = given.get("X-Amz-Credential").split("/");
        long began = Instant.from(MOMENT.parse(given.get("X-Amz-Date"))).toEpochMilli();
        long ends = began + 1000 * Long.parseLong(given.get("X-Amz-Expires"));
        boolean isTaken = request.getHost().equals("kafka." + region + ".amazonaws.com")
            && given.get("Action").equals("kafka-cluster:Connect")
            && credential[0].equals(System.getProperty("presigned.key"))
            && credential[2].equals(region)
            && given.get("X-Amz-Signature").length() == 64
            && ends > System.currentTimeMillis();
        return isTaken ? new Token(value, credential[0], began, ends) : null;
    }
}
