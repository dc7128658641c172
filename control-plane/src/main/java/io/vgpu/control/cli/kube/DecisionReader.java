package io.vgpu.control.cli.kube;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.vgpu.claim.FormatException;
import io.vgpu.control.explain.DecisionFeed;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Asks for the explanation of a pod: every extender, because any of them may have decided, and the
 * controller, which remembers for those that were started again. The latest decision wins; of
 * equals the extender's, which also knows how the nodes are now.
 */
public final class DecisionReader {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final Duration WITHIN = Duration.ofSeconds(10);

  private final KubernetesClient client;
  private final String namespace;
  private final String pod;
  private final String uid;
  private final List<Found> found = new ArrayList<>();
  private final List<String> ignorant = new ArrayList<>();

  /** Whose pods are asked through the API server's proxy. */
  public enum Part {
    SCHEDULER("vgpu-manager-scheduler", 3457),
    CONTROLLER("vgpu-manager-controller", 3460);

    private final String pods;
    private final int opsPort;

    Part(String pods, int opsPort) {
      this.pods = pods;
      this.opsPort = opsPort;
    }
  }

  /** What came back. */
  public sealed interface Answer {
    /** The explanation, JSON, and who told it. */
    record Told(String json, String by) implements Answer {}

    /** None, and why. */
    record Nothing(String why) implements Answer {}
  }

  private record Found(Instant at, String json, String by) {}

  /** About a pod; a {@code uid} that is not empty leaves out what was decided of another one. */
  DecisionReader(KubernetesClient client, String namespace, String pod, String uid) {
    this.client = client;
    this.namespace = namespace;
    this.pod = pod;
    this.uid = uid;
  }

  /** Asks the pods of a part. */
  public DecisionReader throughApi(String parts, Part part) {
    int asked = 0;
    try {
      for (Pod p : client.pods().inNamespace(parts).list().getItems()) {
        String name = p.getMetadata().getName();
        if (name.startsWith(part.pods)) {
          asked++;
          proxied(parts, name, part.opsPort);
        }
      }
    } catch (KubernetesClientException e) {
      ignorant.add(part.pods + "-* could not be asked: " + e.getMessage());
      return this;
    }
    if (asked == 0) {
      ignorant.add("no pod " + part.pods + "-* in namespace " + parts);
    }
    return this;
  }

  private void proxied(String parts, String name, int port) {
    try {
      String json =
          client.raw(
              "/api/v1/namespaces/" + parts + "/pods/" + name + ":" + port + "/proxy" + path());
      told(name, json == null ? "" : json);
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
        told(name, "");
      } else {
        ignorant.add(name + " could not be asked: " + e.getMessage());
      }
    }
  }

  private String path() {
    return "/explain/" + namespace + "/" + pod;
  }

  /** Asks one health port. */
  public DecisionReader direct(URI url) {
    try (HttpClient http = HttpClient.newHttpClient()) {
      HttpResponse<String> response =
          http.send(
              HttpRequest.newBuilder(url.resolve(path())).timeout(WITHIN).build(),
              HttpResponse.BodyHandlers.ofString());
      switch (response.statusCode()) {
        case HttpURLConnection.HTTP_OK -> told(url.toString(), response.body());
        case HttpURLConnection.HTTP_NOT_FOUND -> told(url.toString(), "");
        default -> ignorant.add(url + ": " + response.body().strip());
      }
    } catch (IOException e) {
      ignorant.add(url + " does not answer: " + e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      ignorant.add(url + ": interrupted");
    }
    return this;
  }

  private void told(String by, String json) {
    if (json.isEmpty()) {
      ignorant.add(by + " knows nothing of it");
      return;
    }
    try {
      JsonNode decision = JSON.readTree(json);
      String of = decision.path("pod").path("uid").asString("");
      if (uid.isEmpty() || uid.equals(of)) {
        found.add(new Found(DecisionFeed.latest(decision), json, by));
      } else {
        ignorant.add(by + " knows of an earlier pod of that name only");
      }
    } catch (JacksonException | FormatException e) {
      ignorant.add(by + " answers what cannot be read: " + e.getMessage());
    }
  }

  /** The latest of all answers, or what each said instead. */
  public Answer answer() {
    Optional<Found> latest = Optional.empty();
    for (Found f : found) {
      latest = latest.filter(l -> !f.at().isAfter(l.at())).or(() -> Optional.of(f));
    }
    return latest
        .<Answer>map(f -> new Answer.Told(f.json(), f.by()))
        .orElseGet(() -> new Answer.Nothing(String.join("; ", ignorant)));
  }
}
