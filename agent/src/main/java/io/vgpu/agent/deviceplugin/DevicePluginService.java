package io.vgpu.agent.deviceplugin;

import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.vgpu.agent.deviceplugin.ClaimResolver.Offer;
import io.vgpu.agent.kubelet.KubeletRegistrar;
import io.vgpu.agent.kubelet.OpenStreams;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import k8s.deviceplugin.v1beta1.AllocateRequest;
import k8s.deviceplugin.v1beta1.AllocateResponse;
import k8s.deviceplugin.v1beta1.ContainerAllocateResponse;
import k8s.deviceplugin.v1beta1.ContainerPreferredAllocationRequest;
import k8s.deviceplugin.v1beta1.ContainerPreferredAllocationResponse;
import k8s.deviceplugin.v1beta1.DevicePluginGrpc;
import k8s.deviceplugin.v1beta1.DevicePluginOptions;
import k8s.deviceplugin.v1beta1.Empty;
import k8s.deviceplugin.v1beta1.ListAndWatchResponse;
import k8s.deviceplugin.v1beta1.PreStartContainerRequest;
import k8s.deviceplugin.v1beta1.PreStartContainerResponse;
import k8s.deviceplugin.v1beta1.PreferredAllocationRequest;
import k8s.deviceplugin.v1beta1.PreferredAllocationResponse;

/**
 * The device plugin v1beta1 service: translates between the kubelet's messages and {@link
 * Admission}. A refusal is the call's error, and its text begins with the check's name, which the
 * rescheduler knows. Calls come on virtual threads.
 */
final class DevicePluginService extends DevicePluginGrpc.DevicePluginImplBase {
  private final Admission admission;
  private final DeviceList devices;
  private final OpenStreams streams;
  private final Runnable beforeList;
  private final Runnable listed;
  private final MeterRegistry meters;
  private final LongSupplier nanoTime;

  /**
   * {@code beforeList} runs whenever a stream has begun, {@code listed} when its first list is
   * sent.
   */
  DevicePluginService(
      Admission admission,
      DeviceList devices,
      OpenStreams streams,
      Runnable beforeList,
      Runnable listed,
      MeterRegistry meters,
      LongSupplier nanoTime) {
    this.admission = admission;
    this.devices = devices;
    this.streams = streams;
    this.beforeList = beforeList;
    this.listed = listed;
    this.meters = meters;
    this.nanoTime = nanoTime;
  }

  @Override
  public void getDevicePluginOptions(Empty request, StreamObserver<DevicePluginOptions> observer) {
    observer.onNext(KubeletRegistrar.options());
    observer.onCompleted();
  }

  @Override
  public void listAndWatch(Empty request, StreamObserver<ListAndWatchResponse> observer) {
    beforeList.run();
    devices.serve(observer, streams);
    listed.run();
  }

  @Override
  public void getPreferredAllocation(
      PreferredAllocationRequest request, StreamObserver<PreferredAllocationResponse> observer) {
    answer(
        "GetPreferredAllocation",
        Admission.ALLOCATE,
        observer,
        () -> {
          PreferredAllocationResponse.Builder all = PreferredAllocationResponse.newBuilder();
          for (ContainerPreferredAllocationRequest c : request.getContainerRequestsList()) {
            Offer offer =
                new Offer(
                    c.getAvailableDeviceIDsList(),
                    c.getMustIncludeDeviceIDsList(),
                    c.getAllocationSize());
            switch (admission.preferred(offer)) {
              case Outcome.Refused<List<String>> r -> {
                return r.as();
              }
              case Outcome.Given<List<String>>(List<String> ids) ->
                  all.addContainerResponses(
                      ContainerPreferredAllocationResponse.newBuilder().addAllDeviceIDs(ids));
            }
          }
          return Outcome.given(all.build());
        });
  }

  @Override
  public void allocate(AllocateRequest request, StreamObserver<AllocateResponse> observer) {
    List<List<String>> containers =
        request.getContainerRequestsList().stream()
            .map(c -> List.copyOf(c.getDevicesIdsList()))
            .toList();
    answer(
        "Allocate",
        Admission.ALLOCATE,
        observer,
        () -> map(admission.allocate(containers), DevicePluginService::allocated));
  }

  private static AllocateResponse allocated(List<ContainerAllocateResponse> answers) {
    return AllocateResponse.newBuilder().addAllContainerResponses(answers).build();
  }

  @Override
  public void preStartContainer(
      PreStartContainerRequest request, StreamObserver<PreStartContainerResponse> observer) {
    answer(
        "PreStartContainer",
        Admission.PRE_START,
        observer,
        () ->
            map(
                admission.preStart(request.getDevicesIdsList()),
                yes -> PreStartContainerResponse.getDefaultInstance()));
  }

  private interface Work<T> {
    Outcome<T> run();
  }

  private static <A, B> Outcome<B> map(Outcome<A> outcome, Function<A, B> f) {
    return switch (outcome) {
      case Outcome.Given<A>(A value) -> Outcome.given(f.apply(value));
      case Outcome.Refused<A> r -> r.as();
    };
  }

  private <T> void answer(String call, String check, StreamObserver<T> observer, Work<T> work) {
    long began = nanoTime.getAsLong();
    switch (work.run()) {
      case Outcome.Given<T>(T value) -> {
        measured(call, "ok", began);
        observer.onNext(value);
        observer.onCompleted();
      }
      case Outcome.Refused<T> r -> {
        measured(call, r.reason().code(), began);
        observer.onError(Status.UNKNOWN.withDescription(check + ": " + r.text()).asException());
      }
    }
  }

  private void measured(String call, String result, long began) {
    Timer.builder("vgpu.kubelet.call")
        .description("the kubelet's calls to the device plugin, by outcome")
        .tag("call", call)
        .tag("result", result)
        .register(meters)
        .record(nanoTime.getAsLong() - began, TimeUnit.NANOSECONDS);
  }
}
