package io.vgpu.agent.deviceplugin;

import io.vgpu.agent.deviceplugin.AdmittedPod.Admitted;
import io.vgpu.agent.deviceplugin.AdmittedPod.Question;
import io.vgpu.agent.deviceplugin.AdmittedPod.Search;
import io.vgpu.agent.deviceplugin.ClaimResolver.Allocation;
import io.vgpu.agent.deviceplugin.ClaimResolver.Offer;
import io.vgpu.agent.deviceplugin.ClaimResolver.Proposal;
import io.vgpu.agent.deviceplugin.Ledger.Refusal;
import io.vgpu.event.VgpuEvent.ClaimAttached;
import io.vgpu.event.wire.EventBusPort;
import io.vgpu.model.ContainerRef;
import io.vgpu.model.Reason;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import k8s.deviceplugin.v1beta1.ContainerAllocateResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The kubelet's three questions about a container, answered one at a time (node-agent.md 2.7, 2.9):
 * which ids, what comes with them, may it start. Blocks within its own deadline; virtual threads
 * only.
 */
final class Admission {
  private static final Logger log = LoggerFactory.getLogger(Admission.class);
  static final String ALLOCATE = "Allocate check failed";
  static final String PRE_START = "PreStartContainer check failed";

  /** The watch of the API may be late, and ids of a pod that just went may still be noted. */
  private static final Duration LOOK_AGAIN_FOR = Duration.ofMillis(500);

  private static final Duration LOOK_AGAIN_EVERY = Duration.ofMillis(25);

  private final String node;
  private final Duration limit;
  private final Books books;
  private final PodViews views;
  private final ClaimResolver resolver;
  private final ContainerFiles files;
  private final AllocateResponses responses;
  private final MpsClients mps;
  private final ResponseFilter filter;
  private final SuccessMarker success;
  private final FailureMarker failure;
  private final StartUp startUp;
  private final KubeletLife kubelet;
  private final EventBusPort bus;
  private final Clock clock;
  private final LongSupplier nanoTime;

  Admission(
      String node,
      Duration limit,
      Books books,
      PodViews views,
      ClaimResolver resolver,
      ContainerFiles files,
      AllocateResponses responses,
      MpsClients mps,
      ResponseFilter filter,
      SuccessMarker success,
      FailureMarker failure,
      StartUp startUp,
      KubeletLife kubelet,
      EventBusPort bus,
      Clock clock,
      LongSupplier nanoTime) {
    this.node = node;
    this.limit = limit;
    this.books = books;
    this.views = views;
    this.resolver = resolver;
    this.files = files;
    this.responses = responses;
    this.mps = mps;
    this.filter = filter;
    this.success = success;
    this.failure = failure;
    this.startUp = startUp;
    this.kubelet = kubelet;
    this.bus = bus;
    this.clock = clock;
    this.nanoTime = nanoTime;
  }

  /** GetPreferredAllocation: the ids of the container whose turn it is. */
  Outcome<List<String>> preferred(Offer offer) {
    return books.alone(Deadline.in(limit, nanoTime), d -> noted(propose(offer, d), d));
  }

  private Outcome<List<String>> propose(Offer offer, Deadline deadline) {
    Deadline again = Deadline.in(deadline.atMost(LOOK_AGAIN_FOR), nanoTime);
    Seen before = kubelet.seen();
    while (true) {
      Outcome<Proposal> proposal = proposeNow(offer, before, deadline);
      if (proposal instanceof Outcome.Given<Proposal>(Proposal p)) {
        return switch (books.commit(p.ledger(), deadline)) {
          case Outcome.Given<Ledger> g -> {
            log.debug("proposed [pod: {}, ids: {}]", p.pod(), p.ids());
            yield Outcome.given(p.ids());
          }
          case Outcome.Refused<Ledger> r -> Outcome.refused(p.pod(), r.reason(), r.detail());
        };
      }
      Outcome.Refused<Proposal> refused = (Outcome.Refused<Proposal>) proposal;
      if (again.passed() || !mayPass(refused.reason(), offer)) {
        return refused.as();
      }
      LockSupport.parkNanos(LOOK_AGAIN_EVERY.toNanos());
    }
  }

  private boolean mayPass(Reason reason, Offer offer) {
    return switch (reason) {
      case POD_UNKNOWN -> true;
      case CLAIM_UNSATISFIABLE ->
          offer.available().stream().anyMatch(id -> books.ledger().heldByAnother(id, ""));
      default -> false;
    };
  }

  private Outcome<Proposal> proposeNow(Offer offer, Seen before, Deadline deadline) {
    return switch (views.look(deadline)) {
      case Outcome.Refused<PodView> r -> r.as();
      case Outcome.Given<PodView>(PodView view) -> {
        Ledger ledger = books.ledger().withEnded(view::isOver);
        Question question = new Question(offer.size(), Set.copyOf(offer.mustInclude()));
        Search search = find(view, ledger, before, question, deadline);
        // a refusal ends the admission of whoever it was: nobody here is asked for again
        kubelet.changed(
            s -> before.asked(search.view(), search.waiting(), given(search), kubelet.now()));
        yield switch (search.outcome()) {
          case Outcome.Refused<Admitted> r -> r.as();
          case Outcome.Given<Admitted>(Admitted admitted) ->
              ledger
                  .refusal(admitted.pod().ref().uid())
                  .map(r -> Outcome.<Proposal>refused(r.pod(), r.reason(), r.detail()))
                  .orElseGet(() -> resolver.propose(admitted, offer, ledger));
        };
      }
    };
  }

  private static Optional<Admitted> given(Search search) {
    return search.outcome() instanceof Outcome.Given<Admitted>(Admitted a)
        ? Optional.of(a)
        : Optional.empty();
  }

  /** In the first view that knows somebody: the kubelet's, the API's, single GETs. */
  private Search find(
      PodView view, Ledger ledger, Seen before, Question question, Deadline deadline) {
    Search found = AdmittedPod.find(view, ledger, before, question);
    if (isUnknown(found.outcome()) && view.fromKubelet()) {
      found = AdmittedPod.find(views.byApi(view.listed()), ledger, before, question);
    }
    if (isUnknown(found.outcome())) {
      found = AdmittedPod.find(views.byFetching(view.listed(), deadline), ledger, before, question);
    }
    return found;
  }

  private static boolean isUnknown(Outcome<?> outcome) {
    return outcome instanceof Outcome.Refused<?> r && r.reason() == Reason.POD_UNKNOWN;
  }

  /** Allocate: from memory only, because a List here could lose the kubelet's ids in flight. */
  Outcome<List<ContainerAllocateResponse>> allocate(List<List<String>> requests) {
    return books.alone(Deadline.in(limit, nanoTime), d -> noted(allocateAll(requests, d), d));
  }

  private Outcome<List<ContainerAllocateResponse>> allocateAll(
      List<List<String>> requests, Deadline deadline) {
    List<ContainerAllocateResponse> answers = new ArrayList<>();
    for (List<String> ids : requests) {
      switch (allocateOne(ids, deadline)) {
        case Outcome.Refused<ContainerAllocateResponse> r -> {
          return r.as();
        }
        case Outcome.Given<ContainerAllocateResponse>(ContainerAllocateResponse a) ->
            answers.add(a);
      }
    }
    return Outcome.given(answers);
  }

  private Outcome<ContainerAllocateResponse> allocateOne(List<String> ids, Deadline deadline) {
    return switch (resolver.allocate(ids, books.ledger(), kubelet.seen().last())) {
      case Outcome.Refused<Allocation> r -> r.as();
      case Outcome.Given<Allocation>(Allocation a) -> {
        ContainerRef container = new ContainerRef(a.pod(), a.claim().container());
        yield switch (files.attach(a, deadline)) {
          case Outcome.Refused<ContainerFiles.Attached> r ->
              Outcome.refused(a.pod(), r.reason(), r.detail());
          case Outcome.Given<ContainerFiles.Attached>(ContainerFiles.Attached attached) ->
              switch (books.commit(a.ledger(), deadline)) {
                case Outcome.Refused<Ledger> r -> Outcome.refused(a.pod(), r.reason(), r.detail());
                case Outcome.Given<Ledger> g -> {
                  kubelet.changed(s -> s.allocated(a.pod().uid(), a.claim().container()));
                  settled(a, container);
                  mps.tell(container, attached);
                  yield Outcome.given(
                      filter.apply(
                          container,
                          mps.with(
                              responses.of(container, a.claim(), attached.files()), attached)));
                }
              };
        };
      }
    };
  }

  private void settled(Allocation a, ContainerRef container) {
    log.info("claim attached [container: {}, devices: {}]", container, a.claim().devices());
    bus.publish(new ClaimAttached(clock.instant(), node, container, a.claim().devices()));
    if (a.entry().complete() && !success.allocated(a.entry())) {
      log.debug("success not marked yet, the next look does [pod: {}]", a.pod());
    }
  }

  /** PreStartContainer: verifies and resets {@code usage}; never repairs, and fails nobody. */
  Outcome<Boolean> preStart(List<String> requested) {
    return books.alone(
        Deadline.in(limit, nanoTime),
        deadline -> {
          Set<String> ids = new HashSet<>(requested);
          List<Allocation> owners = ClaimResolver.owners(ids, books.ledger());
          if (owners.isEmpty()) {
            // an agent without its checkpoint: the kubelet still knows whose they are
            startUp.rebuild(deadline);
            owners = ClaimResolver.owners(ids, books.ledger());
          }
          if (owners.isEmpty()) {
            return Outcome.refused(
                Reason.DEVICES_NOT_PROPOSED, "nobody was given exactly " + requested);
          }
          return started(owners, deadline);
        });
  }

  private Outcome<Boolean> started(List<Allocation> owners, Deadline deadline) {
    Ledger ledger = books.ledger();
    for (Allocation owner : owners) {
      Outcome<Boolean> ready = ready(owner, deadline);
      if (ready instanceof Outcome.Refused<Boolean>) {
        return ready;
      }
      PodEntry entry = ledger.entry(owner.pod().uid()).orElse(owner.entry());
      ledger = ledger.with(entry.asAsked(owner.claim().container()));
    }
    return switch (books.commit(ledger, deadline)) {
      case Outcome.Refused<Ledger> r -> r.as();
      case Outcome.Given<Ledger> g -> Outcome.given(true);
    };
  }

  /**
   * Several owners are an init container and those that use its ids again: they never run at the
   * same time, so when one of them starts, all may be reset.
   */
  private Outcome<Boolean> ready(Allocation owner, Deadline deadline) {
    if (!resolver.isSealed(owner)) {
      return Outcome.refused(
          owner.pod(), Reason.CLAIM_FORGED, "container " + owner.claim().container());
    }
    return files.verifyAndReset(owner, deadline);
  }

  /** A refusal of the admission itself is final for the pod: it is remembered and made known. */
  private <T> Outcome<T> noted(Outcome<T> outcome, Deadline deadline) {
    if (outcome instanceof Outcome.Refused<T> r) {
      if (r.pod().isEmpty()) {
        log.warn("refused, pod unknown [reason: {}, detail: {}]", r.reason().code(), r.detail());
      } else {
        var pod = r.pod().get();
        Ledger more = books.ledger().withRefusal(new Refusal(pod, r.reason(), r.detail()));
        if (books.commit(more, deadline) instanceof Outcome.Refused<Ledger> unwritten) {
          log.warn("refusal not remembered [pod: {}, cause: {}]", pod, unwritten.detail());
        }
        failure.refused(pod, r.reason(), ALLOCATE + ": " + r.text());
      }
    }
    return outcome;
  }
}
