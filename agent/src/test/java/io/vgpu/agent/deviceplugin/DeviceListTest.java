package io.vgpu.agent.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.stub.ServerCallStreamObserver;
import io.vgpu.agent.kubelet.OpenStreams;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import k8s.deviceplugin.v1beta1.Device;
import k8s.deviceplugin.v1beta1.ListAndWatchResponse;
import org.junit.jupiter.api.Test;

class DeviceListTest {
  /** The kubelet's end. */
  private static final class Stream extends ServerCallStreamObserver<ListAndWatchResponse> {
    final List<Integer> sizes = new ArrayList<>();

    @Override
    public void onNext(ListAndWatchResponse list) {
      sizes.add(list.getDevicesCount());
    }

    @Override
    public void onError(Throwable t) {
      throw new AssertionError(t);
    }

    @Override
    public void onCompleted() {}

    @Override
    public boolean isCancelled() {
      return false;
    }

    @Override
    public void setOnCancelHandler(Runnable onCancelHandler) {}

    @Override
    public void setCompression(String compression) {}

    @Override
    public boolean isReady() {
      return true;
    }

    @Override
    public void setOnReadyHandler(Runnable onReadyHandler) {}

    @Override
    public void request(int count) {}

    @Override
    public void setMessageCompression(boolean enable) {}

    @Override
    public void disableAutoInboundFlowControl() {}
  }

  private static ListAndWatchResponse list(int devices, String id) {
    ListAndWatchResponse.Builder list = ListAndWatchResponse.newBuilder();
    for (int i = 0; i < devices; i++) {
      list.addDevices(Device.newBuilder().setID(id + i));
    }
    return list.build();
  }

  @Test
  void aListThatBecomesLongerThanTheKubeletTakesIsNotSent_13_27() {
    AtomicReference<ListAndWatchResponse> current = new AtomicReference<>(list(3, "a"));
    DeviceList devices = new DeviceList(current::get);
    Stream stream = new Stream();
    devices.serve(stream, new OpenStreams());

    current.set(list(100_000, "a".repeat(50)));
    devices.changed();
    current.set(list(2, "a"));
    devices.changed();
    devices.changed();

    assertThat(stream.sizes).containsExactly(3, 2);
  }
}
