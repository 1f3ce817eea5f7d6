/// A metric with its current values.
package struct Metric: Sendable, Hashable {
  /// What the values mean.
  package enum Kind: String, Sendable, Hashable {
    /// A value that may go down.
    case gauge
    /// A value that only grows.
    case counter
  }

  /// A value.
  package struct Value: Sendable, Hashable {
    /// The value of the metric's label; `nil` without one.
    package var label: String?
    package var number: Int64
  }

  /// The name, in the form of Prometheus.
  package var name: String
  package var kind: Kind
  /// The description, a sentence.
  package var help: String
  /// The name of the label by which the values differ; `nil` for a metric with one value.
  package var label: String?
  package var values: [Value]

  /// Creates a metric with one value.
  init(_ name: String, kind: Kind = .gauge, _ help: String, _ value: some BinaryInteger) {
    self.name = name
    self.kind = kind
    self.help = help
    values = [Value(label: nil, number: Int64(clamping: value))]
  }

  /// Creates a gauge with a value for each value of a label.
  init(
    _ name: String,
    _ help: String,
    by label: String,
    _ values: [(String, some BinaryInteger)]
  ) {
    self.name = name
    kind = .gauge
    self.help = help
    self.label = label
    self.values = values.map { Value(label: $0, number: Int64(clamping: $1)) }
  }
}
