package io.vgpu.control.simulate;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Allocated and fragmented cards by what has arrived, a line each for every policy (the mean over
 * its seeds), as SVG. Pure.
 */
public final class Chart {
  private static final int WIDTH = 900;
  private static final int HEIGHT = 560;
  private static final int LEFT = 60;
  private static final int RIGHT = 170;
  private static final int TOP = 40;
  private static final int BOTTOM = 50;
  private static final int STEP = 10;
  private static final List<String> COLOURS =
      List.of(
          "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999933",
          "#882255");

  private Chart() {}

  /** The whole document. */
  public static String svg(List<Point> points) {
    double most = points.stream().mapToDouble(Point::arrived).max().orElse(1);
    int right = Math.max(STEP, (int) (Math.ceil(most / STEP) * STEP));
    StringBuilder svg = new StringBuilder();
    line(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\""
            + " height=\"%d\" font-family=\"sans-serif\" font-size=\"12\" role=\"img\">",
        WIDTH,
        HEIGHT,
        WIDTH,
        HEIGHT);
    line(svg, "<title>GPUs allocated and fragmented by arrived workload</title>");
    line(svg, "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>", WIDTH, HEIGHT);
    axes(svg, right);
    int number = 0;
    for (Map.Entry<String, List<Point>> policy : PointTable.byPolicy(points).entrySet()) {
      String colour = COLOURS.get(number % COLOURS.size());
      curves(svg, policy.getValue(), colour, right);
      legend(svg, policy.getKey(), colour, number++);
    }
    line(svg, "</svg>");
    return svg.toString();
  }

  private static void axes(StringBuilder svg, int right) {
    for (int percent = 0; percent <= 100; percent += STEP) {
      line(
          svg,
          "<path d=\"M%.1f %.1fH%.1f\" stroke=\"#dddddd\" fill=\"none\"/>",
          x(0, right),
          y(percent),
          x(right, right));
      line(
          svg,
          "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%d</text>",
          x(0, right) - 6,
          y(percent) + 4,
          percent);
    }
    for (int percent = 0; percent <= right; percent += STEP) {
      line(
          svg,
          "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%d</text>",
          x(percent, right),
          y(0) + 18,
          percent);
    }
    line(
        svg,
        "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">GPUs asked for so far, %% of the"
            + " cluster's</text>",
        (x(0, right) + x(right, right)) / 2,
        HEIGHT - 12);
    line(svg, "<text x=\"%d\" y=\"%d\">%% of the cluster's GPUs</text>", LEFT - 40, TOP - 16);
  }

  private static void curves(StringBuilder svg, List<Point> points, String colour, int right) {
    Map<Integer, List<Point>> byLoad = new TreeMap<>();
    points.forEach(
        p -> byLoad.computeIfAbsent((int) Math.round(p.arrived()), x -> new ArrayList<>()).add(p));
    StringBuilder allocated = new StringBuilder();
    StringBuilder fragmented = new StringBuilder();
    byLoad.forEach(
        (load, here) -> {
          String at = allocated.isEmpty() ? "M" : "L";
          double a = here.stream().mapToDouble(Point::allocated).average().orElse(0);
          double f = here.stream().mapToDouble(Point::fragmented).average().orElse(0);
          allocated.append(format("%s%.1f %.1f", at, x(load, right), y(a)));
          fragmented.append(format("%s%.1f %.1f", at, x(load, right), y(f)));
        });
    line(
        svg,
        "<path d=\"%s\" stroke=\"%s\" fill=\"none\" stroke-width=\"1.8\"/>",
        allocated,
        colour);
    line(
        svg,
        "<path d=\"%s\" stroke=\"%s\" fill=\"none\" stroke-width=\"1.2\""
            + " stroke-dasharray=\"5 3\"/>",
        fragmented,
        colour);
  }

  private static void legend(StringBuilder svg, String policy, String colour, int number) {
    int x = WIDTH - RIGHT + 14;
    int y = TOP + 14 + number * 34;
    line(
        svg,
        "<path d=\"M%d %dh24\" stroke=\"%s\" stroke-width=\"1.8\"/><text x=\"%d\" y=\"%d\">%s"
            + " allocated</text>",
        x,
        y - 4,
        colour,
        x + 30,
        y,
        policy);
    line(
        svg,
        "<path d=\"M%d %dh24\" stroke=\"%s\" stroke-width=\"1.2\" stroke-dasharray=\"5 3\"/><text"
            + " x=\"%d\" y=\"%d\">fragmented</text>",
        x,
        y + 11,
        colour,
        x + 30,
        y + 15);
  }

  private static double x(double percent, int right) {
    return LEFT + percent / right * (WIDTH - LEFT - RIGHT);
  }

  private static double y(double percent) {
    return HEIGHT - BOTTOM - percent / 100 * (HEIGHT - TOP - BOTTOM);
  }

  private static void line(StringBuilder svg, String form, Object... values) {
    svg.append(format(form, values)).append('\n');
  }

  private static String format(String form, Object... values) {
    return values.length == 0 ? form : String.format(Locale.ROOT, form, values);
  }
}
