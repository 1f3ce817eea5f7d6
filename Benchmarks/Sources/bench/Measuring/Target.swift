/// The target of a row compared with a rival.
struct Target: Sendable {
  enum Rival: Sendable {
    /// Raw C in the layout of our store.
    case chosen
    /// Raw C in the fastest layout for the row.
    case best
    case statements
    case codable
    /// Another figure of the row.
    case figure(String)
  }

  enum Bound: Sendable {
    /// Our cost is at most this multiple of the rival's.
    case atMost(Double)
    /// The rival's cost is at least this multiple of ours.
    case faster(Double)
    /// Our cost exceeds the rival's by at most this amount, in the unit of the row.
    case atMostMore(Double)
  }

  let rival: Rival
  let bound: Bound
  /// The contender that the target is for.
  var contender = Contenders.ours

  /// The same target for the model that is stored by key.
  var byKey: Self {
    var target = self
    target.contender = Contenders.byKey
    return target
  }

  static func atMost(_ factor: Double, _ rival: Rival) -> Self {
    Self(rival: rival, bound: .atMost(factor))
  }

  static func faster(_ factor: Double, _ rival: Rival) -> Self {
    Self(rival: rival, bound: .faster(factor))
  }

  static func atMostMore(_ amount: Double, _ rival: Rival) -> Self {
    Self(rival: rival, bound: .atMostMore(amount))
  }

  /// Returns the outcome; `nil` if there are no measurements.
  func outcome(in row: TableRow) -> Outcome? {
    guard let ours = row.medians[contender], let theirs = row.cost(of: rival) else {
      return nil
    }
    switch bound {
    case .atMost(let factor):
      let ratio = ours / theirs
      return Outcome(
        "\(rivalName): at most \(factor.figure)x",
        "\(ratio.figure)x",
        ratio <= factor
      )
    case .faster(let factor):
      let ratio = theirs / ours
      return Outcome(
        "\(rivalName): at least \(factor.figure)x as fast",
        "\(ratio.figure)x",
        ratio >= factor
      )
    case .atMostMore(let amount):
      let difference = ours - theirs
      return Outcome(
        "\(rivalName): at most \(amount.figure) \(row.unit) more",
        difference.figure,
        difference <= amount
      )
    }
  }

  private var rivalName: String {
    contender == Contenders.ours ? name(of: rival) : "by key, \(name(of: rival))"
  }

  private func name(of rival: Rival) -> String {
    switch rival {
    case .chosen: "chosen C"
    case .best: "best C"
    case .statements: "statements"
    case .codable: "Codable"
    case .figure(let name): name
    }
  }

  /// A target, the measured value, and whether it meets the target.
  struct Outcome: Encodable {
    let target: String
    let reached: String
    let isMet: Bool

    init(_ target: String, _ reached: String, _ isMet: Bool) {
      self.target = target
      self.reached = reached
      self.isMet = isMet
    }
  }
}
