package io.vgpu.e2e.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The cluster's certificate authority and what it signs (EC P-256, by openssl). Made anew at each
 * start; also signs for our own servers, as the webhook.
 */
public final class Pki {
  private static final String CURVE = "ec_paramgen_curve:prime256v1";

  private final Path folder;

  /** A certificate and its key, both PEM; the key is PKCS#8. */
  public record KeyPairFiles(Path certificate, Path key) {}

  private Pki(Path folder) {
    this.folder = folder;
  }

  /** Makes an authority and the service accounts' signing key in the folder. */
  static Pki create(Path folder) {
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot create " + folder, e);
    }
    Pki pki = new Pki(folder);
    Commands.must(
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        CURVE,
        "-nodes",
        "-days",
        "3650",
        "-keyout",
        pki.file("ca.key"),
        "-out",
        pki.file("ca.crt"),
        "-subj",
        "/CN=vgpu-e2e-ca");
    Commands.must(
        "openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", CURVE, "-out", pki.file("sa.key"));
    Commands.must(
        "openssl", "pkey", "-in", pki.file("sa.key"), "-pubout", "-out", pki.file("sa.pub"));
    return pki;
  }

  /** An authority that {@link #create} made earlier. */
  static Pki open(Path folder) {
    if (!Files.exists(folder.resolve("ca.key"))) {
      throw new ClusterException("no certificate authority in " + folder);
    }
    return new Pki(folder);
  }

  public Path caCertificate() {
    return folder.resolve("ca.crt");
  }

  Path serviceAccountKey() {
    return folder.resolve("sa.key");
  }

  Path serviceAccountPublicKey() {
    return folder.resolve("sa.pub");
  }

  /**
   * Signs a server's certificate for names such as {@code DNS:localhost} and {@code IP:127.0.0.1}.
   */
  public KeyPairFiles server(String name, List<String> alternativeNames) {
    return sign(
        name,
        "/CN=" + name,
        "extendedKeyUsage=serverAuth\nsubjectAltName="
            + alternativeNames.stream().collect(Collectors.joining(","))
            + "\n");
  }

  /**
   * Signs a client's certificate; Kubernetes reads the organisation as group and the common name as
   * user.
   */
  public KeyPairFiles client(String name, String user, String group) {
    String subject = (group.isEmpty() ? "" : "/O=" + group) + "/CN=" + user;
    return sign(name, subject, "extendedKeyUsage=clientAuth\n");
  }

  private KeyPairFiles sign(String name, String subject, String extensions) {
    try {
      Path extensionFile = Files.writeString(folder.resolve(name + ".ext"), extensions);
      Commands.must(
          "openssl",
          "req",
          "-new",
          "-newkey",
          "ec",
          "-pkeyopt",
          CURVE,
          "-nodes",
          "-keyout",
          file(name + ".key"),
          "-out",
          file(name + ".csr"),
          "-subj",
          subject);
      Commands.must(
          "openssl",
          "x509",
          "-req",
          "-in",
          file(name + ".csr"),
          "-CA",
          file("ca.crt"),
          "-CAkey",
          file("ca.key"),
          "-CAcreateserial",
          "-days",
          "3650",
          "-extfile",
          extensionFile.toString(),
          "-out",
          file(name + ".crt"));
      Files.delete(extensionFile);
      Files.delete(folder.resolve(name + ".csr"));
      return new KeyPairFiles(folder.resolve(name + ".crt"), folder.resolve(name + ".key"));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot make the certificate " + name, e);
    }
  }

  private String file(String name) {
    return folder.resolve(name).toString();
  }
}
