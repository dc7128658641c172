package io.vgpu.agent.deviceplugin;

import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.vgpu.agent.gpu.GpuInventory;
import io.vgpu.agent.kubelet.KubeletTransport;
import io.vgpu.agent.kubelet.OpenStreams;
import io.vgpu.model.GpuDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import k8s.deviceplugin.v1beta1.Device;
import k8s.deviceplugin.v1beta1.ListAndWatchResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the kubelet sees of a resource: sent when a stream opens and again when the list changed
 * (node-agent.md 2.4). Any thread.
 */
final class DeviceList {
  private static final Logger log = LoggerFactory.getLogger(DeviceList.class);
  static final String UNHEALTHY = "Unhealthy";
  private static final int MAX_STREAMS = 16;

  private final Supplier<ListAndWatchResponse> current;
  private final List<ServerCallStreamObserver<ListAndWatchResponse>> streams = new ArrayList<>();
  private ListAndWatchResponse sent = ListAndWatchResponse.getDefaultInstance();

  /** {@code current} makes the list of now; called under this object's lock. */
  DeviceList(Supplier<ListAndWatchResponse> current) {
    this.current = current;
  }

  /** Slots of cards: those of {@code vgpu-number}. */
  static DeviceList slots(GpuInventory inventory, boolean numaHints) {
    return new DeviceList(() -> of(inventory.published().devices(), numaHints));
  }

  /** The kubelet's word. */
  static String health(boolean healthy) {
    return healthy ? "Healthy" : UNHEALTHY;
  }

  /** One id per slot, no topology: hints would make the kubelet take aligned ids unasked (2.7). */
  static ListAndWatchResponse of(List<GpuDevice> devices, boolean numaHints) {
    ListAndWatchResponse.Builder list = ListAndWatchResponse.newBuilder();
    for (GpuDevice d : devices) {
      for (int n = 0; !d.mig() && n < d.number(); n++) {
        Device.Builder device =
            list.addDevicesBuilder()
                .setID(DeviceIds.of(d.uuid(), n))
                .setHealth(health(d.healthy()));
        if (numaHints && d.numa() >= 0) {
          device.getTopologyBuilder().addNodesBuilder().setID(d.numa());
        }
      }
    }
    return list.build();
  }

  /** Whether there is anything to list now; without devices a resource is not registered. */
  boolean isEmpty() {
    return current.get().getDevicesCount() == 0;
  }

  /** Adds a stream and sends the list; false when there are too many. */
  private synchronized boolean open(StreamObserver<ListAndWatchResponse> stream) {
    if (streams.size() >= MAX_STREAMS) {
      return false;
    }
    streams.add((ServerCallStreamObserver<ListAndWatchResponse>) stream);
    sent = now();
    stream.onNext(sent);
    return true;
  }

  /** A kubelet's call: the list now, and again with each change, until the stream ends. */
  void serve(StreamObserver<ListAndWatchResponse> observer, OpenStreams open) {
    var stream = (ServerCallStreamObserver<ListAndWatchResponse>) observer;
    stream.setOnCancelHandler(
        () -> {
          closed(observer);
          open.ended();
        });
    open.opened();
    if (!open(observer)) {
      open.ended();
      observer.onError(
          Status.RESOURCE_EXHAUSTED.withDescription("too many ListAndWatch streams").asException());
    }
  }

  private synchronized void closed(StreamObserver<ListAndWatchResponse> stream) {
    streams.removeIf(s -> s == stream);
  }

  /** The cards may have changed: tells every stream when they did. */
  synchronized void changed() {
    ListAndWatchResponse now = now();
    if (!now.equals(sent)) {
      sent = now;
      for (ServerCallStreamObserver<ListAndWatchResponse> s : streams) {
        if (!s.isCancelled()) {
          s.onNext(now);
        }
      }
    }
  }

  /** The list of now, or the last one where the kubelet would break the stream over its length. */
  private ListAndWatchResponse now() {
    ListAndWatchResponse now = current.get();
    int bytes = now.getSerializedSize();
    if (bytes <= KubeletTransport.KUBELET_MAX_MESSAGE) {
      return now;
    }
    log.error(
        "list is longer than the kubelet takes, the last one stays [devices: {}, bytes: {}]",
        now.getDevicesCount(),
        bytes);
    return sent;
  }
}
