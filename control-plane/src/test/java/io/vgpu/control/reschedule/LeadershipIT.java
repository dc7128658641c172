package io.vgpu.control.reschedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vgpu.claim.Names;
import io.vgpu.control.reschedule.kube.ControllerApi;
import io.vgpu.control.testing.ObjectApiServer;
import io.vgpu.kube.Leadership;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/** One of several processes leads; who loses the Lease hears of it once. */
class LeadershipIT {
  private static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/ns/leases";

  private final ObjectApiServer api = new ObjectApiServer();
  private final ControllerApi access =
      new ControllerApi(
          null,
          api.url(),
          Duration.ofSeconds(5),
          Names.DEFAULT,
          "copies",
          Duration.ofMinutes(5),
          new SimpleMeterRegistry());

  @AfterEach
  void close() {
    access.close();
    api.close();
  }

  @Test
  void theNextOneLeadsWhenTheFirstGivesTheLeaseBack() throws InterruptedException {
    CountDownLatch firstLeads = new CountDownLatch(1);
    CountDownLatch secondLeads = new CountDownLatch(1);
    CountDownLatch lost = new CountDownLatch(1);
    Leadership first = leadership("first");
    first.start(firstLeads::countDown, lost::countDown);
    await(firstLeads);
    try (Leadership second = leadership("second")) {
      second.start(secondLeads::countDown, lost::countDown);
      api.until(
          "both ask for the lease",
          a -> a.requests().stream().filter(r -> r.startsWith("GET " + LEASES)).count() > 4);
      assertThat(second.leading()).isFalse();
      first.close();
      await(secondLeads);
      assertThat(second.leading()).isTrue();
      assertThat(lost.getCount()).as("giving back is no loss").isEqualTo(1);
    }
  }

  @Test
  void whoLosesTheLeaseIsToldOnce() throws InterruptedException {
    CountDownLatch leads = new CountDownLatch(1);
    CountDownLatch lost = new CountDownLatch(1);
    try (Leadership leadership = leadership("first")) {
      leadership.start(leads::countDown, lost::countDown);
      await(leads);
      ObjectNode lease = api.get(LEASES, Names.CONTROLLER_LEASE);
      lease
          .withObject("/spec")
          .put("holderIdentity", "thief")
          .put("leaseDurationSeconds", 3600)
          .put("renewTime", "2099-01-01T00:00:00.000000Z");
      api.put(LEASES, lease);
      await(lost);
      assertThat(leadership.leading()).isFalse();
    }
  }

  private Leadership leadership(String identity) {
    return access.leadership(
        new Leadership.Settings(
            "ns",
            Names.CONTROLLER_LEASE,
            identity,
            Duration.ofSeconds(6),
            Duration.ofSeconds(4),
            Duration.ofMillis(200)));
  }

  private static void await(CountDownLatch latch) throws InterruptedException {
    assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
  }
}
