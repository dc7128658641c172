package io.vgpu.agent.deviceplugin;

import io.vgpu.agent.gpu.GpuInventory;
import io.vgpu.agent.gpu.GpuInventory.Card;
import io.vgpu.agent.gpu.PhysicalGpu.MigDevice;
import io.vgpu.claim.Names;
import io.vgpu.model.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Collectors;
import k8s.deviceplugin.v1beta1.ContainerAllocateResponse;
import k8s.deviceplugin.v1beta1.Device;
import k8s.deviceplugin.v1beta1.ListAndWatchResponse;

/**
 * MIG slices as resources, one a profile (node-agent.md 2.12). A slice is given whole: no claim, no
 * library, no limits. Any thread.
 */
final class MigResources {
  private final GpuInventory inventory;
  private final Injection injection;

  MigResources(GpuInventory inventory, Injection injection) {
    this.inventory = inventory;
    this.injection = injection;
  }

  /** One for each profile that a card of the node has, sorted by profile. */
  List<PlainPlugin.Resource> all(Names names) {
    return inventory.cards().stream()
        .flatMap(c -> c.gpu().migDevices().stream())
        .map(MigDevice::profile)
        .collect(Collectors.toCollection(TreeSet::new))
        .stream()
        .map(profile -> resource(names, profile))
        .toList();
  }

  private PlainPlugin.Resource resource(Names names, String profile) {
    String name = "mig-" + profile.replace('+', '.'); // no resource name has a plus
    return new PlainPlugin.Resource(
        names.domain() + "/" + name,
        "nvidia-" + name + ".sock",
        () -> list(profile),
        ids -> answer(profile, ids));
  }

  private ListAndWatchResponse list(String profile) {
    ListAndWatchResponse.Builder list = ListAndWatchResponse.newBuilder();
    for (Card card : inventory.cards()) {
      for (MigDevice slice : card.gpu().migDevices()) {
        if (slice.profile().equals(profile)) {
          Device.Builder device =
              list.addDevicesBuilder()
                  .setID(slice.uuid().value())
                  .setHealth(DeviceList.health(card.healthy(slice)));
          if (card.gpu().numa() >= 0) {
            device.getTopologyBuilder().addNodesBuilder().setID(card.gpu().numa());
          }
        }
      }
    }
    return list.build();
  }

  private Outcome<ContainerAllocateResponse> answer(String profile, List<String> ids) {
    List<Injection.Device> devices = new ArrayList<>();
    for (String id : ids) {
      Optional<Injection.Device> device = device(profile, id);
      if (device.isEmpty()) {
        return Outcome.refused(
            Reason.DEVICE_UNKNOWN, "\"" + id + "\" is no MIG slice " + profile + " of this node");
      }
      devices.add(device.get());
    }
    ContainerAllocateResponse.Builder answer = ContainerAllocateResponse.newBuilder();
    injection.into(answer, devices);
    return Outcome.given(answer.build());
  }

  private Optional<Injection.Device> device(String profile, String id) {
    for (Card card : inventory.cards()) {
      for (MigDevice slice : card.gpu().migDevices()) {
        if (slice.profile().equals(profile) && slice.uuid().value().equals(id)) {
          return Optional.of(
              new Injection.Device(slice.uuid(), injection.nodes().slice(card.gpu(), slice)));
        }
      }
    }
    return Optional.empty();
  }
}
