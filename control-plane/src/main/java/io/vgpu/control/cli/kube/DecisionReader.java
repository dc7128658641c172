package io.vgpu.control.cli.kube;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Asks the extender for its explanation of a pod, directly or through the API server's proxy. */
public final class DecisionReader {
  private static final String SCHEDULERS = "vgpu-manager-scheduler";
  private static final int OPS_PORT = 3457;
  private static final Duration WITHIN = Duration.ofSeconds(10);

  private final KubernetesClient client;

  /** What came back. */
  public sealed interface Answer {
    /** The explanation, JSON. */
    record Told(String json) implements Answer {}

    /** None, and why. */
    record Nothing(String why) implements Answer {}
  }

  DecisionReader(KubernetesClient client) {
    this.client = client;
  }

  /** Asks every scheduler pod until one knows; only the one that leads has seen the pod. */
  public Answer throughApi(String schedulers, String namespace, String pod) {
    List<String> asked = new ArrayList<>();
    try {
      for (Pod p : client.pods().inNamespace(schedulers).list().getItems()) {
        String name = p.getMetadata().getName();
        if (name.startsWith(SCHEDULERS)) {
          asked.add(name);
          String json = proxied(schedulers, name, namespace, pod);
          if (!json.isEmpty()) {
            return new Answer.Told(json);
          }
        }
      }
    } catch (KubernetesClientException e) {
      return new Answer.Nothing("the scheduler could not be asked: " + e.getMessage());
    }
    return new Answer.Nothing(
        asked.isEmpty()
            ? "no pod " + SCHEDULERS + "-* in namespace " + schedulers + ": see --scheduler-url"
            : "nothing is known of it by " + String.join(", ", asked));
  }

  private String proxied(String schedulers, String scheduler, String namespace, String pod) {
    try {
      String json =
          client.raw(
              "/api/v1/namespaces/"
                  + schedulers
                  + "/pods/"
                  + scheduler
                  + ":"
                  + OPS_PORT
                  + "/proxy"
                  + path(namespace, pod));
      return json == null ? "" : json;
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
        return "";
      }
      throw e;
    }
  }

  private static String path(String namespace, String pod) {
    return "/explain/" + namespace + "/" + pod;
  }

  /** Asks one extender's health port. */
  public static Answer direct(URI url, String namespace, String pod) {
    try (HttpClient http = HttpClient.newHttpClient()) {
      HttpResponse<String> response =
          http.send(
              HttpRequest.newBuilder(url.resolve(path(namespace, pod))).timeout(WITHIN).build(),
              HttpResponse.BodyHandlers.ofString());
      return response.statusCode() == HttpURLConnection.HTTP_OK
          ? new Answer.Told(response.body())
          : new Answer.Nothing(url + ": " + response.body().strip());
    } catch (IOException e) {
      return new Answer.Nothing(url + " does not answer: " + e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Answer.Nothing(url + ": interrupted");
    }
  }
}
