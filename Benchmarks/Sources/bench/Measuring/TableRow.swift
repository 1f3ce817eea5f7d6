import Foundation

/// A workload and the cost of each contender; less is better.
struct TableRow: Sendable {
  let name: String
  let unit: String
  let targets: [Target]
  private(set) var samples: [String: [Double]] = [:]
  /// Wall-clock time if the samples are processor time, and vice versa.
  private(set) var otherClock: [String: [Double]] = [:]
  private(set) var medians: [String: Double] = [:]

  init(_ name: String, _ unit: Unit, _ targets: [Target] = []) {
    self.name = name
    self.unit = unit.name
    self.targets = targets
  }

  mutating func add(_ sample: Double, otherClock other: Double? = nil, for contender: String) {
    samples[contender, default: []].append(sample)
    if let other { otherClock[contender, default: []].append(other) }
    let sorted = samples[contender, default: []].sorted()
    let middle = sorted.count / 2
    medians[contender] =
      sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
  }

  /// The median of the rival; `nil` if it was not measured in this row.
  func cost(of rival: Target.Rival) -> Double? {
    switch rival {
    case .chosen: medians[Contenders.chosen]
    case .best: Contenders.rawC.compactMap { medians[$0] }.min()
    case .statements: medians[Contenders.statements]
    case .codable: medians[Contenders.codable]
    case .figure(let name): medians[name]
    }
  }

  /// The ratio of our cost to the rival's.
  func ratio(to rival: Target.Rival) -> Double? {
    guard let ours = medians[Contenders.ours], let theirs = cost(of: rival) else { return nil }
    return ours / theirs
  }

  var outcomes: [Target.Outcome] { targets.compactMap { $0.outcome(in: self) } }
}

/// The unit of a row.
enum Unit: Sendable {
  case nanoseconds
  case microseconds
  case milliseconds
  case megabytes
  /// The slowdown compared with running alone.
  case slowdown

  var name: String {
    switch self {
    case .nanoseconds: "ns"
    case .microseconds: "µs"
    case .milliseconds: "ms"
    case .megabytes: "MB"
    case .slowdown: "x"
    }
  }
}

extension Double {
  /// The value with three significant digits.
  var figure: String {
    let decimals = abs(self) >= 100 ? 0 : abs(self) >= 10 ? 1 : 2
    let text = String(format: "%.\(decimals)f", self)
    guard text.contains(".") else { return text }
    return String(text.reversed().drop { $0 == "0" }.drop { $0 == "." }.reversed())
  }
}
