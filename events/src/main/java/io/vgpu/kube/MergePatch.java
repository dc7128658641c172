package io.vgpu.kube;

import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A JSON merge patch in one request: the client's own {@code patch(context, text)} reads the object
 * first, which would double the requests of every write. Blocks; failures are the client's
 * exception with the server's code, 0 when there was no answer.
 */
public final class MergePatch {
  private static final String CONTENT_TYPE = "application/merge-patch+json";
  private static final long LIMIT_SECONDS = 30; // the client's request timeout comes first
  private static final int MAX_MESSAGE = 500;

  private MergePatch() {}

  /** Sends the patch; {@code path} begins with {@code /api} or {@code /apis}. */
  public static void send(KubernetesClient client, String path, String body) {
    HttpClient http = client.getHttpClient();
    try {
      HttpResponse<String> response =
          http.sendAsync(
                  http.newHttpRequestBuilder()
                      .url(url(client, path))
                      .method("PATCH", CONTENT_TYPE, body)
                      .build(),
                  String.class)
              .get(LIMIT_SECONDS, TimeUnit.SECONDS);
      if (!response.isSuccessful()) {
        throw refused(path, response);
      }
    } catch (ExecutionException e) {
      throw new KubernetesClientException(
          "PATCH " + path + ": " + (e.getCause() == null ? e : e.getCause()), e);
    } catch (TimeoutException e) {
      throw new KubernetesClientException("PATCH " + path + ": no answer", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new KubernetesClientException("PATCH " + path + ": interrupted", e);
    }
  }

  private static URL url(KubernetesClient client, String path) {
    String master = client.getMasterUrl().toString();
    String base = master.endsWith("/") ? master.substring(0, master.length() - 1) : master;
    try {
      return URI.create(base + path).toURL();
    } catch (MalformedURLException e) {
      throw new IllegalArgumentException(base + path + ": must be a URL", e);
    }
  }

  private static KubernetesClientException refused(String path, HttpResponse<String> response) {
    String text = text(response);
    return new KubernetesClientException(
        "PATCH " + path + ": " + response.code() + " " + text, response.code(), new Status());
  }

  private static String text(HttpResponse<String> response) {
    try {
      String body = response.bodyString();
      return body.length() <= MAX_MESSAGE ? body : body.substring(0, MAX_MESSAGE) + "…";
    } catch (IOException e) {
      return "unreadable answer";
    }
  }
}
