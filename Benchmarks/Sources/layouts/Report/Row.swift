/// One workload and what each contender took for it.
struct Row: Encodable {
  let workload: String
  let unit: String
  private(set) var samples: [String: [Double]] = [:]
  private(set) var medians: [String: Double] = [:]

  init(_ workload: String, _ unit: String) {
    self.workload = workload
    self.unit = unit
  }

  mutating func add(_ sample: Double, for contender: String) {
    samples[contender, default: []].append(sample)
    let sorted = samples[contender, default: []].sorted()
    let middle = sorted.count / 2
    medians[contender] =
      sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
  }
}

extension Duration {
  /// The number of units of so many seconds.
  func inUnits(of seconds: Double) -> Double {
    let (whole, attoseconds) = components
    return (Double(whole) + Double(attoseconds) * 1e-18) / seconds
  }
}
