package io.vgpu.agent.testing;

import io.vgpu.agent.gpu.GpuDriver;
import io.vgpu.agent.gpu.GpuDriverContract;
import io.vgpu.agent.gpu.HealthEvent;
import io.vgpu.model.GpuUuid;
import java.util.Optional;

class FakeGpuDriverTest extends GpuDriverContract {
  private final FakeGpuDriver fake = new FakeGpuDriver(4);

  @Override
  protected GpuDriver open() {
    return fake;
  }

  @Override
  protected void raiseXid(GpuUuid gpu, int xid) {
    fake.post(new HealthEvent.Xid(Optional.of(gpu), xid));
  }
}
