package io.vgpu.e2e.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;

/**
 * Writes kubeconfig files that carry all they need, so that a copy of one works anywhere on the
 * machine.
 */
final class Kubeconfigs {
  private final String server;
  private final Path caCertificate;

  Kubeconfigs(String server, Path caCertificate) {
    this.server = server;
    this.caCertificate = caCertificate;
  }

  void writeForCertificate(Path file, Pki.KeyPairFiles client) {
    write(
        file,
        "client-certificate-data: %s, client-key-data: %s"
            .formatted(base64(client.certificate()), base64(client.key())));
  }

  void writeForToken(Path file, String token) {
    write(file, "token: " + token);
  }

  private void write(Path file, String user) {
    String text =
        """
        apiVersion: v1
        kind: Config
        clusters: [{name: c, cluster: {server: "%s", certificate-authority-data: %s}}]
        users: [{name: u, user: {%s}}]
        contexts: [{name: x, context: {cluster: c, user: u}}]
        current-context: x
        """
            .formatted(server, base64(caCertificate), user);
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      Files.writeString(file, text);
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + file, e);
    }
  }

  private static String base64(Path file) {
    try {
      return Base64.getEncoder().encodeToString(Files.readAllBytes(file));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    }
  }
}
