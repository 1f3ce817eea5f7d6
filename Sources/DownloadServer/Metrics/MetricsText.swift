internal import DownloadMetrics

/// Metrics in the text format of Prometheus, version 0.0.4.
enum MetricsText {
  /// Returns the text; a metric without values has no lines.
  static func text(of metrics: [Metric]) -> String {
    metrics.filter { !$0.values.isEmpty }.map(text).joined()
  }

  private static func text(of metric: Metric) -> String {
    let lines = metric.values.map { value in
      let label = metric.label.flatMap { name in
        value.label.map { "{\(name)=\"\(escaped($0))\"}" }
      }
      return "\(metric.name)\(label ?? "") \(value.number)\n"
    }
    return "# HELP \(metric.name) \(metric.help)\n# TYPE \(metric.name) \(metric.kind.rawValue)\n"
      + lines.joined()
  }

  /// The value of a label, in which three characters are escaped.
  private static func escaped(_ value: String) -> String {
    var text = String.UnicodeScalarView()
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\\", "\"": text += ["\\", scalar]
      case "\n": text += ["\\", "n"]
      default: text.append(scalar)
      }
    }
    return String(text)
  }
}
