package io.vgpu.agent.shim;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * File operations with exact modes, whatever the umask; none follows a symbolic link at its end.
 * Lane {@code files}.
 */
public final class Disk {
  private Disk() {}

  /** Makes a directory, or takes a real one that is there, and sets its mode. */
  public static void directory(Path dir, String mode) throws IOException {
    try {
      Files.createDirectory(dir);
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(dir, LinkOption.NOFOLLOW_LINKS)) {
        throw (NotDirectoryException)
            new NotDirectoryException(dir + ": is there and is no directory").initCause(e);
      }
    }
    chmod(dir, mode);
  }

  /** Makes an empty file if nothing is there, and sets its mode. */
  static void emptyFile(Path file, String mode) throws IOException {
    try {
      Files.createFile(file);
    } catch (FileAlreadyExistsException e) {
      if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
        throw new IOException(file + ": is there and is no regular file", e);
      }
    }
    chmod(file, mode);
  }

  /** Puts whole content under a name at once: a reader sees all of it or what was there before. */
  public static void replace(Path file, ByteBuffer content, String mode, boolean durable)
      throws IOException {
    Path temporary = file.resolveSibling("." + file.getFileName() + ".tmp");
    Files.deleteIfExists(temporary);
    try (FileChannel out =
        FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      while (content.hasRemaining()) {
        out.write(content);
      }
      if (durable) {
        out.force(true);
      }
    }
    chmod(temporary, mode);
    Files.move(
        temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    if (durable) {
      Path parent = file.getParent();
      if (parent != null) {
        try (FileChannel dir = FileChannel.open(parent, StandardOpenOption.READ)) {
          dir.force(true);
        }
      }
    }
  }

  /** Removes a directory and the files in it; what is absent is no failure. */
  static void removeDirectory(Path dir) throws IOException {
    if (!Files.isDirectory(dir, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(dir)) {
      for (Path file : files) {
        Files.deleteIfExists(file);
      }
    } catch (NoSuchFileException e) {
      return; // gone meanwhile
    }
    Files.deleteIfExists(dir);
  }

  private static void chmod(Path path, String mode) throws IOException {
    Set<PosixFilePermission> permissions = PosixFilePermissions.fromString(mode);
    if (!Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS).equals(permissions)) {
      Files.setPosixFilePermissions(path, permissions);
    }
  }
}
