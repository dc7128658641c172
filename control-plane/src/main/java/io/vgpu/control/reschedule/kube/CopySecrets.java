package io.vgpu.control.reschedule.kube;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.vgpu.control.reschedule.StoredCopy;
import io.vgpu.model.PodRef;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/**
 * A copy as a Secret: pods may hold literal secrets in their env. Compressed, because a pod may be
 * larger than a Secret. Pure.
 */
final class CopySecrets {
  /** On every copy: the digest of namespace and name, by which those of one name are found. */
  static final String OF_NAME_LABEL = "vgpu-manager.io/copy-of";

  private static final String PREFIX = "vgpu-manager.io/";
  private static final String DATA = "pod.json.gz";
  private static final int MAX_JSON = 4 << 20; // the API server takes no object of more than 3 MiB

  private CopySecrets() {}

  static String name(PodRef original) {
    return "vgpu-copy-" + original.uid();
  }

  /** A label's value for a name that may be longer than label values are. */
  static String ofName(String namespace, String name) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256")
              .digest((namespace + "/" + name).getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest, 0, 16);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  static Secret encode(StoredCopy copy, String namespace) {
    PodRef pod = copy.original();
    return new SecretBuilder()
        .withNewMetadata()
        .withName(name(pod))
        .withNamespace(namespace)
        .addToLabels(OF_NAME_LABEL, ofName(pod.namespace(), pod.name()))
        .addToAnnotations(PREFIX + "pod-namespace", pod.namespace())
        .addToAnnotations(PREFIX + "pod-name", pod.name())
        .addToAnnotations(PREFIX + "pod-uid", pod.uid())
        .addToAnnotations(PREFIX + "pod-version", copy.resourceVersion())
        .addToAnnotations(PREFIX + "since", copy.since().toString())
        .endMetadata()
        .withType("vgpu-manager.io/pod-copy")
        .addToData(DATA, Base64.getEncoder().encodeToString(compressed(copy.json())))
        .build();
  }

  /** Empty when it is none of ours, or not whole. */
  static Optional<StoredCopy> decode(Secret secret) {
    Map<String, String> notes = FailedPods.annotations(secret.getMetadata());
    String data = secret.getData() == null ? null : secret.getData().get(DATA);
    if (data == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          new StoredCopy(
              new PodRef(
                  notes.getOrDefault(PREFIX + "pod-namespace", ""),
                  notes.getOrDefault(PREFIX + "pod-name", ""),
                  notes.getOrDefault(PREFIX + "pod-uid", "")),
              notes.getOrDefault(PREFIX + "pod-version", ""),
              expanded(Base64.getDecoder().decode(data)),
              Instant.parse(notes.getOrDefault(PREFIX + "since", ""))));
    } catch (IllegalArgumentException | DateTimeParseException | UncheckedIOException e) {
      return Optional.empty();
    }
  }

  private static byte[] compressed(String json) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
      gzip.write(json.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory", e);
    }
    return bytes.toByteArray();
  }

  private static String expanded(byte[] bytes) {
    try (GZIPInputStream gzip = new GZIPInputStream(new ByteArrayInputStream(bytes))) {
      byte[] json = gzip.readNBytes(MAX_JSON + 1);
      if (json.length > MAX_JSON) {
        throw new IllegalArgumentException("copy of more than " + MAX_JSON + " bytes");
      }
      return new String(json, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("copy cannot be expanded", e);
    }
  }
}
