package io.vgpu.agent.inject;

import io.vgpu.agent.gpu.PhysicalGpu;
import io.vgpu.agent.gpu.PhysicalGpu.MigDevice;
import io.vgpu.agent.inject.CdiSpec.Edits;
import io.vgpu.agent.inject.CdiSpec.Hook;
import io.vgpu.agent.inject.DeviceNodes.Node;
import io.vgpu.agent.shim.Disk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The specs of this node, written once at the start (node-agent.md 2.8): one of the cards and MIG
 * slices, one of the IMEX channels, one of each extra mode that the node has. They stay when the
 * agent ends: a container that starts again is made from them.
 */
public final class CdiSpecs {
  private static final Logger log = LoggerFactory.getLogger(CdiSpecs.class);
  public static final String GPU = "gpu";
  public static final String IMEX = "imex-channel";

  /** The device of an extra mode. */
  public static final String ALL = "all";

  /** Tells a runtime of the older kind to bring nothing, whatever the image asks for (13-41). */
  public static final String VOID = "void";

  private static final String HOOK = "nvidia-cdi-hook";

  /**
   * Where things are.
   *
   * @param cdiRoot the folder that container runtimes read
   * @param containerDriverRoot the driver's root as this process sees it
   * @param hostDriverRoot the same on the host
   * @param tools folder of programs as this process sees it
   * @param hostTools the same on the host
   */
  public record Places(
      Path cdiRoot, Path containerDriverRoot, Path hostDriverRoot, Path tools, Path hostTools) {}

  private final Places places;
  private final DeviceNodes nodes;
  private final DriverFiles files;

  public CdiSpecs(Places places, DeviceNodes nodes) {
    this.places = places;
    this.nodes = nodes;
    this.files = new DriverFiles(places.containerDriverRoot(), places.hostDriverRoot());
  }

  /**
   * Writes them; answers the classes that can be asked for. {@code onlyCdi}: no other way of
   * injection is in use. Blocks; a failure to write is an {@link IOException}.
   */
  public Set<String> write(
      List<PhysicalGpu> gpus,
      boolean slices,
      ImexChannels imex,
      Set<ExtraMode> extras,
      boolean onlyCdi)
      throws IOException {
    Files.createDirectories(places.cdiRoot());
    Set<String> written = new TreeSet<>();
    for (CdiSpec spec : specs(gpus, slices, imex, extras, onlyCdi)) {
      if (spec.devices().isEmpty()) {
        // CDI has no spec without devices, and one bad spec would be all that a runtime reports
        log.info("nothing to inject, spec left out [class: {}]", spec.deviceClass());
        Files.deleteIfExists(places.cdiRoot().resolve(spec.fileName()));
        continue;
      }
      Disk.replace(
          places.cdiRoot().resolve(spec.fileName()),
          ByteBuffer.wrap(spec.json().getBytes(StandardCharsets.UTF_8)),
          "rw-r--r--",
          true);
      written.add(spec.deviceClass());
    }
    log.info("CDI specs written [folder: {}, classes: {}]", places.cdiRoot(), written);
    return written;
  }

  /** Removes all of ours from a folder; returns them. Blocks. */
  public static List<Path> remove(Path cdiRoot) throws IOException {
    List<Path> removed = new ArrayList<>();
    if (Files.isDirectory(cdiRoot)) {
      try (DirectoryStream<Path> files =
          Files.newDirectoryStream(cdiRoot, CdiSpec.VENDOR + "-*.json")) {
        for (Path file : files) {
          if (Files.deleteIfExists(file)) {
            removed.add(file);
          }
        }
      }
    }
    return removed;
  }

  private List<CdiSpec> specs(
      List<PhysicalGpu> gpus,
      boolean slices,
      ImexChannels imex,
      Set<ExtraMode> extras,
      boolean onlyCdi) {
    List<CdiSpec> specs = new ArrayList<>();
    specs.add(new CdiSpec(GPU, cards(gpus, slices), common(onlyCdi)));
    if (!imex.channels().isEmpty()) {
      Map<String, List<Node>> channels = new LinkedHashMap<>();
      imex.channels().forEach(c -> channels.put(Integer.toString(c.id()), List.of(c.node())));
      specs.add(new CdiSpec(IMEX, channels, Edits.NONE));
    }
    for (ExtraMode extra : extras) {
      List<Node> of = extra.nodes(nodes);
      specs.add(
          new CdiSpec(
              extra.cdiClass(),
              of.isEmpty() ? Map.of() : Map.of(ALL, of),
              new Edits(List.of(), List.of(), files.existing(extra.files()), List.of())));
    }
    return specs;
  }

  private Map<String, List<Node>> cards(List<PhysicalGpu> gpus, boolean slices) {
    Map<String, List<Node>> devices = new LinkedHashMap<>();
    for (PhysicalGpu gpu : gpus) {
      if (!gpu.mig()) {
        put(devices, gpu.uuid().value(), nodes.card(gpu));
      } else if (slices) {
        for (MigDevice slice : gpu.migDevices()) {
          put(devices, slice.uuid().value(), nodes.slice(gpu, slice));
        }
      }
    }
    return devices;
  }

  private static void put(Map<String, List<Node>> devices, String name, List<Node> nodes) {
    if (nodes.isEmpty()) {
      log.warn("card without a device node is in no CDI spec [device: {}]", name);
    } else {
      devices.put(name, nodes);
    }
  }

  private Edits common(boolean onlyCdi) {
    List<DriverFiles.Bind> binds = new ArrayList<>(files.libraries());
    List<Hook> hooks = hooks(binds);
    binds.addAll(files.programs());
    return new Edits(
        // beside the answer's own: a pod's own variable would win over that, but not over this
        onlyCdi ? List.of("NVIDIA_VISIBLE_DEVICES=" + VOID) : List.of(),
        nodes.control(),
        binds,
        hooks);
  }

  /** Where the image's linker does not look into the folder, its cache is made to. */
  private List<Hook> hooks(List<DriverFiles.Bind> libraries) {
    if (libraries.isEmpty() || !Files.isExecutable(places.tools().resolve(HOOK))) {
      return List.of();
    }
    List<String> args = new ArrayList<>(List.of(HOOK, "update-ldcache"));
    libraries.stream()
        .map(b -> String.valueOf(Path.of(b.containerPath()).getParent()))
        .collect(Collectors.toCollection(TreeSet::new))
        .forEach(folder -> args.addAll(List.of("--folder", folder)));
    return List.of(new Hook(places.hostTools().resolve(HOOK).toString(), args));
  }

  /** The name by which a device of a class is asked for. */
  public static String qualifiedName(String deviceClass, String device) {
    return CdiSpec.qualifiedName(deviceClass, device);
  }
}
