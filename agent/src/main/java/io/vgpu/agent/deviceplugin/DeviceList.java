package io.vgpu.agent.deviceplugin;

import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.vgpu.agent.gpu.GpuInventory;
import io.vgpu.model.GpuDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import k8s.deviceplugin.v1beta1.Device;
import k8s.deviceplugin.v1beta1.ListAndWatchResponse;

/**
 * What the kubelet sees of the cards: one id per slot, no topology, because hints would make it
 * take aligned ids without asking us (node-agent.md 2.4, 2.7). Sent when a stream opens and again
 * when the list changed. Any thread.
 */
final class DeviceList {
  private static final int MAX_STREAMS = 16;

  private final Supplier<ListAndWatchResponse> current;
  private final List<ServerCallStreamObserver<ListAndWatchResponse>> streams = new ArrayList<>();
  private ListAndWatchResponse sent = ListAndWatchResponse.getDefaultInstance();

  DeviceList(GpuInventory inventory, boolean numaHints) {
    this.current = () -> of(inventory.published().devices(), numaHints);
  }

  static ListAndWatchResponse of(List<GpuDevice> devices, boolean numaHints) {
    ListAndWatchResponse.Builder list = ListAndWatchResponse.newBuilder();
    for (GpuDevice d : devices) {
      for (int n = 0; !d.mig() && n < d.number(); n++) {
        Device.Builder device =
            list.addDevicesBuilder()
                .setID(DeviceIds.of(d.uuid(), n))
                .setHealth(d.healthy() ? "Healthy" : "Unhealthy");
        if (numaHints && d.numa() >= 0) {
          device.getTopologyBuilder().addNodesBuilder().setID(d.numa());
        }
      }
    }
    return list.build();
  }

  /** Adds a stream and sends the list; false when there are too many. */
  synchronized boolean open(StreamObserver<ListAndWatchResponse> stream) {
    if (streams.size() >= MAX_STREAMS) {
      return false;
    }
    streams.add((ServerCallStreamObserver<ListAndWatchResponse>) stream);
    sent = current.get();
    stream.onNext(sent);
    return true;
  }

  synchronized void closed(StreamObserver<ListAndWatchResponse> stream) {
    streams.removeIf(s -> s == stream);
  }

  /** The cards may have changed: tells every stream when they did. */
  synchronized void changed() {
    ListAndWatchResponse now = current.get();
    if (!now.equals(sent)) {
      sent = now;
      for (ServerCallStreamObserver<ListAndWatchResponse> s : streams) {
        if (!s.isCancelled()) {
          s.onNext(now);
        }
      }
    }
  }

  /** Devices in the last list. */
  synchronized int size() {
    return sent.getDevicesCount();
  }
}
