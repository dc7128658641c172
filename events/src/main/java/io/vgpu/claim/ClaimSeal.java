package io.vgpu.claim;

import static io.vgpu.model.Checks.check;

import io.vgpu.model.ContainerClaim;
import io.vgpu.model.PodClaim;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Proof that our scheduler wrote a claim for just this pod (D5): HMAC-SHA256, lower-case hex, over
 * pod UID, newline, container, newline, the container's entry. Sealed with the first key; verified
 * with each, so that keys can rotate. Any thread.
 */
public final class ClaimSeal {
  public static final int MIN_KEY_BYTES = 16;
  private static final String ALGORITHM = "HmacSHA256";

  private final List<SecretKeySpec> keys;

  /** {@code keys}: the current one first, then the previous one where a rotation is under way. */
  public ClaimSeal(List<byte[]> keys) {
    check(!keys.isEmpty(), "claim key: at least one is needed");
    for (byte[] key : keys) {
      check(
          key.length >= MIN_KEY_BYTES,
          "claim key of %d bytes: at least %d are needed",
          key.length,
          MIN_KEY_BYTES);
    }
    this.keys = keys.stream().map(k -> new SecretKeySpec(k, ALGORITHM)).toList();
  }

  /**
   * Reads the key file: one key a line, current first; blank lines are skipped. The bytes of a line
   * are the key.
   */
  public static ClaimSeal parse(String file) {
    List<byte[]> keys =
        file.lines()
            .map(String::strip)
            .filter(l -> !l.isEmpty())
            .map(l -> l.getBytes(StandardCharsets.UTF_8))
            .toList();
    return new ClaimSeal(keys);
  }

  /** The annotation's text for a pod: {@code container=hex;…}. */
  public String seal(String podUid, PodClaim claim) {
    return claim.containers().stream()
        .map(c -> c.container() + "=" + hex(keys.getFirst(), podUid, c))
        .collect(Collectors.joining(";"));
  }

  /**
   * Whether {@code sealText} holds a valid seal of this container's claim. Constant time in the hex
   * digits.
   */
  public boolean verify(String podUid, ContainerClaim claim, String sealText) {
    for (String part : sealText.replace(" ", "").split(";", -1)) {
      int equals = part.indexOf('=');
      if (equals > 0 && part.substring(0, equals).equals(claim.container())) {
        byte[] given = part.substring(equals + 1).getBytes(StandardCharsets.UTF_8);
        boolean valid = false;
        for (SecretKeySpec key : keys) {
          valid |=
              MessageDigest.isEqual(
                  given, hex(key, podUid, claim).getBytes(StandardCharsets.UTF_8));
        }
        return valid;
      }
    }
    return false;
  }

  private static String hex(SecretKeySpec key, String podUid, ContainerClaim claim) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      String text = podUid + "\n" + claim.container() + "\n" + ClaimCodec.encode(claim);
      return HexFormat.of().formatHex(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has " + ALGORITHM, e);
    }
  }
}
