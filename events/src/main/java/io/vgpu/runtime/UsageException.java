package io.vgpu.runtime;

/**
 * The command line or configuration cannot be used; the message is for the user, and the process
 * ends with 2.
 */
public final class UsageException extends RuntimeException {
  public UsageException(String message) {
    super(message);
  }
}
