package io.vgpu.kube;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.ConfigBuilder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPairGenerator;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClientKeysTest {
  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"EC", "RSA"})
  void tellsTheKindOfAPkcs8Key(String algorithm) throws Exception {
    String pem = pem("PRIVATE KEY", algorithm);
    assertThat(ClientKeys.ofPem(pem)).isEqualTo(algorithm);
    String base64 = Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.US_ASCII));
    assertThat(
            ClientKeys.algorithm(
                new ConfigBuilder().withAutoConfigure(false).withClientKeyData(base64).build()))
        .isEqualTo(algorithm);
    Path file = Files.writeString(folder.resolve("key"), pem);
    assertThat(
            ClientKeys.algorithm(
                new ConfigBuilder()
                    .withAutoConfigure(false)
                    .withClientKeyFile(file.toString())
                    .build()))
        .isEqualTo(algorithm);
  }

  @Test
  void tellsTheOlderFormsByTheirHeads() {
    assertThat(ClientKeys.ofPem("-----BEGIN EC PRIVATE KEY-----\nAA==\n")).isEqualTo("EC");
    assertThat(ClientKeys.ofPem("-----BEGIN RSA PRIVATE KEY-----\nAA==\n")).isEqualTo("RSA");
  }

  @Test
  void needsNoKeyWhereATokenIsUsed() throws Exception {
    assertThat(ClientKeys.algorithm(new ConfigBuilder().withAutoConfigure(false).build()))
        .isEqualTo("RSA");
  }

  private static String pem(String head, String algorithm) throws Exception {
    byte[] der =
        KeyPairGenerator.getInstance(algorithm).generateKeyPair().getPrivate().getEncoded();
    return "-----BEGIN "
        + head
        + "-----\n"
        + Base64.getMimeEncoder().encodeToString(der)
        + "\n-----END "
        + head
        + "-----\n";
  }
}
