package io.vgpu.testing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.concurrent.TimeUnit;

/**
 * Makes self-signed certificates with the JDK's own tool, so that no key lies in the repository.
 */
public final class TestCertificates {
  private static final String PASSWORD = "changeit";

  private TestCertificates() {}

  /** A certificate and its key, as PEM. */
  public record Pem(String certificate, String key) {}

  /** For the host {@code localhost}, with the given common name; made in {@code folder}. */
  public static Pem make(Path folder, String commonName)
      throws IOException, InterruptedException, GeneralSecurityException {
    Path store = folder.resolve(commonName + ".p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-keyalg",
                "EC",
                "-groupname",
                "secp256r1",
                "-validity",
                "2",
                "-alias",
                "a",
                "-dname",
                "CN=" + commonName,
                "-ext",
                "san=dns:localhost,ip:127.0.0.1",
                "-storetype",
                "PKCS12",
                "-keystore",
                store.toString(),
                "-storepass",
                PASSWORD)
            .redirectErrorStream(true)
            .start();
    String output = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (!keytool.waitFor(60, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
      throw new IOException("keytool: " + output);
    }
    KeyStore keys = KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
    return new Pem(
        pem("CERTIFICATE", keys.getCertificate("a").getEncoded()),
        pem("PRIVATE KEY", keys.getKey("a", PASSWORD.toCharArray()).getEncoded()));
  }

  /** Writes the pair where a server looks for it. */
  public static void write(Pem pem, Path certificate, Path key) throws IOException {
    Files.writeString(certificate, pem.certificate());
    Files.writeString(key, pem.key());
  }

  private static String pem(String what, byte[] der) {
    return "-----BEGIN "
        + what
        + "-----\n"
        + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der)
        + "\n-----END "
        + what
        + "-----\n";
  }
}
