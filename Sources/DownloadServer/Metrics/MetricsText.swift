/// Metrics in the text format of Prometheus, version 0.0.4.
struct MetricsText: Sendable {
  /// What a metric's values mean.
  enum Kind: String, Sendable {
    /// A value that may go down.
    case gauge
    /// A value that only grows.
    case counter
  }

  /// The lines so far.
  private(set) var text = ""

  /// Appends a metric with one value.
  mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: some BinaryInteger) {
    begin(name, kind, help)
    text += "\(name) \(value)\n"
  }

  /// Appends a metric with a value for each value of a label.
  mutating func add(
    _ name: String,
    _ kind: Kind,
    _ help: String,
    by label: String,
    _ values: [(String, some BinaryInteger)]
  ) {
    guard !values.isEmpty else { return }
    begin(name, kind, help)
    for (key, value) in values {
      text += "\(name){\(label)=\"\(Self.escaped(key))\"} \(value)\n"
    }
  }

  private mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
  }

  /// The value of a label, in which three characters are escaped.
  private static func escaped(_ value: String) -> String {
    value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}
