package io.vgpu.e2e.product;

/**
 * One of the agents that follow each other on the node: each has a log and a port of its own,
 * because two of them run at the same time.
 */
record AgentRun(int number) {
  static final AgentRun FIRST = new AgentRun(1);

  String process() {
    return number == 1 ? OurPart.AGENT.process() : OurPart.AGENT.process() + "-" + number;
  }

  /** The first one's is the default; the others take turns on two that no part uses. */
  int opsPort() {
    return number == 1 ? OurPart.AGENT.opsPort() : 3470 + number % 2;
  }

  AgentRun next() {
    return new AgentRun(number + 1);
  }
}
