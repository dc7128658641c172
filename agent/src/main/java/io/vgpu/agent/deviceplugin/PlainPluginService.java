package io.vgpu.agent.deviceplugin;

import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.vgpu.agent.kubelet.OpenStreams;
import k8s.deviceplugin.v1beta1.AllocateRequest;
import k8s.deviceplugin.v1beta1.AllocateResponse;
import k8s.deviceplugin.v1beta1.ContainerAllocateRequest;
import k8s.deviceplugin.v1beta1.ContainerAllocateResponse;
import k8s.deviceplugin.v1beta1.DevicePluginGrpc;
import k8s.deviceplugin.v1beta1.DevicePluginOptions;
import k8s.deviceplugin.v1beta1.Empty;
import k8s.deviceplugin.v1beta1.ListAndWatchResponse;
import k8s.deviceplugin.v1beta1.PreStartContainerRequest;
import k8s.deviceplugin.v1beta1.PreStartContainerResponse;
import k8s.deviceplugin.v1beta1.PreferredAllocationRequest;
import k8s.deviceplugin.v1beta1.PreferredAllocationResponse;

/**
 * The device plugin v1beta1 service of a {@link PlainPlugin}: it wants to be asked neither which
 * ids nor before a start, and answers with nothing when it is. Calls come on virtual threads.
 */
final class PlainPluginService extends DevicePluginGrpc.DevicePluginImplBase {
  /** Nothing but the two calls that every plugin has (node-agent.md 2.3). */
  static final DevicePluginOptions OPTIONS = DevicePluginOptions.getDefaultInstance();

  private final PlainPlugin.Resource resource;
  private final DeviceList devices;
  private final OpenStreams streams;

  PlainPluginService(PlainPlugin.Resource resource, DeviceList devices, OpenStreams streams) {
    this.resource = resource;
    this.devices = devices;
    this.streams = streams;
  }

  @Override
  public void getDevicePluginOptions(Empty request, StreamObserver<DevicePluginOptions> observer) {
    answer(observer, OPTIONS);
  }

  @Override
  public void listAndWatch(Empty request, StreamObserver<ListAndWatchResponse> observer) {
    devices.serve(observer, streams);
  }

  @Override
  public void allocate(AllocateRequest request, StreamObserver<AllocateResponse> observer) {
    AllocateResponse.Builder all = AllocateResponse.newBuilder();
    for (ContainerAllocateRequest c : request.getContainerRequestsList()) {
      switch (resource.answer().apply(c.getDevicesIdsList())) {
        case Outcome.Given<ContainerAllocateResponse>(ContainerAllocateResponse one) ->
            all.addContainerResponses(one);
        case Outcome.Refused<ContainerAllocateResponse> r -> {
          observer.onError(
              Status.UNKNOWN.withDescription(Admission.ALLOCATE + ": " + r.text()).asException());
          return;
        }
      }
    }
    answer(observer, all.build());
  }

  @Override
  public void getPreferredAllocation(
      PreferredAllocationRequest request, StreamObserver<PreferredAllocationResponse> observer) {
    answer(observer, PreferredAllocationResponse.getDefaultInstance());
  }

  @Override
  public void preStartContainer(
      PreStartContainerRequest request, StreamObserver<PreStartContainerResponse> observer) {
    answer(observer, PreStartContainerResponse.getDefaultInstance());
  }

  private static <T> void answer(StreamObserver<T> observer, T value) {
    observer.onNext(value);
    observer.onCompleted();
  }
}
