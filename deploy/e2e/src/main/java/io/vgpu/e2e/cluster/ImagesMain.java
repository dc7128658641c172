package io.vgpu.e2e.cluster;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code make images}: the images that the cluster's pods use, as archives. */
@Command(
    name = "images",
    description = "Makes the images of demo and tests as OCI archives.",
    mixinStandardHelpOptions = true)
public final class ImagesMain implements Callable<Integer> {
  @Option(names = "--out", required = true, description = "Folder of the archives.")
  private Path out = Path.of(".");

  private ImagesMain() {}

  @Override
  public Integer call() {
    Images.writeAll(out, List.of()).forEach(System.out::println);
    return 0;
  }
}
