package io.vgpu.kube;

import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HexFormat;

/**
 * Which kind of key a kubeconfig's client certificate has: fabric8 takes every key for RSA unless
 * it is told, and many distributions write elliptic curve keys. Pure but for reading the file.
 */
final class ClientKeys {
  /** The object identifier of elliptic curve keys, as it stands inside a PKCS#8 key. */
  private static final String EC_OID = "06072a8648ce3d0201";

  private ClientKeys() {}

  /** {@code EC} or {@code RSA}. */
  static String algorithm(Config config) throws IOException {
    String data = config.getClientKeyData();
    String file = config.getClientKeyFile();
    if (data != null && !data.isBlank()) {
      String pem =
          data.contains("-----BEGIN")
              ? data
              : new String(Base64.getMimeDecoder().decode(data), StandardCharsets.US_ASCII);
      return ofPem(pem);
    }
    return file == null || file.isBlank() ? "RSA" : ofPem(Files.readString(Path.of(file)));
  }

  static String ofPem(String pem) {
    if (pem.contains("BEGIN EC PRIVATE KEY")) {
      return "EC";
    }
    if (!pem.contains("BEGIN PRIVATE KEY")) {
      return "RSA";
    }
    String body = pem.replaceAll("-----[^-]*-----", "");
    return HexFormat.of().formatHex(Base64.getMimeDecoder().decode(body)).contains(EC_OID)
        ? "EC"
        : "RSA";
  }
}
