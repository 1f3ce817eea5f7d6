internal import DownloadStore

/// Which connection of a transfer writes which bytes.
///
/// Pure. A range changes hands when the response that has it has arrived, and not when it is requested. So
/// a connection that is refused takes nothing from the others. The bytes that a connection leaves are
/// given to the one whose response reaches them next. While the response of the first connection
/// lasts, it has therefore every byte after its position that no other connection is writing.
struct ConnectionClaims: Sendable, Hashable {
  /// The claims of the connections whose responses have arrived, by number.
  private var claims: [Int: PartClaim] = [:]
  /// The ranges that were requested, and have no response yet, by the number of the connection.
  private var requested: [Int: Range<Int64>] = [:]
  /// The connections that were requested to take over what others would reach only after a long skip.
  private var heirs: Set<Int> = []

  /// The claim of a connection whose response has arrived.
  subscript(_ number: Int) -> PartClaim? { claims[number] }

  /// Gives bytes to a connection, whatever it had before.
  mutating func open(_ number: Int, _ claim: PartClaim) {
    requested[number] = nil
    claims[number] = claim
  }

  /// Notes the size of the file, which no claim exceeds.
  mutating func limit(to total: Int64) {
    for number in claims.keys.sorted() { claims[number]?.give(total..<Int64.max) }
  }

  /// Notes that a connection requests a range: the end of one that another has, or a free one.
  mutating func request(_ range: Range<Int64>, for number: Int) {
    for (other, wanted) in requested where wanted.overlaps(range) {
      requested[other] = wanted.lowerBound..<max(wanted.lowerBound, range.lowerBound)
    }
    requested[number] = range
  }

  /// Notes that a connection requests what another one would reach only after a long skip.
  mutating func requestSpare(_ range: Range<Int64>, for number: Int) {
    requested[number] = range
    heirs.insert(number)
  }

  /// Gives the requested range to a connection, because its response has arrived.
  ///
  /// A response may have fewer bytes than were requested (RFC 9110, 15.3.7). The others stay where
  /// they are.
  ///
  /// - Parameters:
  ///   - number: The connection.
  ///   - position: The offset of the first byte of the response.
  ///   - responseEnd: The offset after its last byte.
  ///   - written: The bytes that are written.
  /// - Returns: Whether any byte of the range was left.
  mutating func accept(
    _ number: Int,
    from position: Int64,
    to responseEnd: Int64,
    written: ByteRanges
  ) -> Bool {
    guard let wanted = requested.removeValue(forKey: number) else { return false }
    let range = wanted.clamped(to: position..<max(position, responseEnd))
    var bytes = written.gaps(in: range)
    if heirs.remove(number) != nil {
      bytes = ByteRanges()
      for other in claims.keys.sorted() {
        if let given = claims[other]?.giveSpare(range) { bytes = bytes.union(given) }
      }
    } else {
      for other in claims.keys.sorted() {
        claims[other]?.give(range)
        if let reserved = claims[other]?.reserved { bytes.remove(reserved) }
      }
    }
    claims[number] = PartClaim(bytes, from: position, to: responseEnd)
    return !bytes.isEmpty
  }

  /// Forgets a connection that has ended, and gives its bytes to others.
  mutating func close(_ number: Int) {
    var left = claims.removeValue(forKey: number)?.rest ?? ByteRanges()
    heirs.remove(number)
    if let range = requested.removeValue(forKey: number) {
      // Another connection may reach these bytes before the one that has them.
      for other in claims.keys.sorted() {
        if let given = claims[other]?.giveLater(range) { left = left.union(given) }
      }
    }
    for range in left.ranges { distribute(range) }
  }

  /// Gives the bytes of a range to the connections whose responses reach them next.
  ///
  /// Bytes that no response has are left to a further connection.
  mutating func distribute(_ range: Range<Int64>) {
    var rest = range
    while !rest.isEmpty {
      let start = rest.lowerBound
      let possible = claims.filter { !$0.value.hasEnded && $0.value.responseEnd > start }
      let reaching = possible.filter { $0.value.position <= start }
      // Of several at the same position the first one.
      if let (number, claim) = reaching.max(by: {
        ($0.value.position, $1.key) < ($1.value.position, $0.key)
      }) {
        let end = min(rest.upperBound, claim.responseEnd)
        claims[number]?.take(start..<end)
        rest = end..<rest.upperBound
      } else {
        let next = possible.values.map(\.position).min() ?? rest.upperBound
        rest = min(next, rest.upperBound)..<rest.upperBound
      }
    }
  }

  /// Takes the next bytes of the response of a connection, up to a number.
  mutating func next(_ number: Int, _ count: Int) -> PartClaim.Step {
    claims[number]?.next(count) ?? .end
  }

  /// Notes that the bytes that a connection has reserved are written.
  ///
  /// - Returns: Whether it is to end although its response has more bytes.
  mutating func noteWritten(_ number: Int) -> Bool { claims[number]?.noteWritten() ?? false }

  /// The bytes from the first one that a connection has left to write, up to the last one.
  ///
  /// Empty if it has none. If the size of the file is not known and there is no end, these are the
  /// bytes between the end of the response and the first one to write: the response should have had
  /// those, which are on disk.
  func left(_ number: Int, ofSize total: Int64?) -> Range<Int64> {
    guard let rest = claims[number]?.rest else { return requested[number] ?? 0..<0 }
    let position = claims[number]?.position ?? 0
    guard let start = rest.ranges.first?.lowerBound else { return position..<position }
    if rest.end == .max, total == nil { return min(position, start)..<start }
    let end = rest.end == .max ? total ?? start : rest.end
    return start..<max(start, end)
  }

  /// The ranges that the connections fetch, for a file of the given size.
  ///
  /// Bytes after a long gap are in none: they are best fetched by a further connection.
  func ranges(ofSize total: Int64) -> [ConnectionPlan.Claim] {
    var ranges = requested.map { number, range in
      ConnectionPlan.Claim(number: number, range: range, reserved: range.lowerBound)
    }
    for (number, claim) in claims {
      let start = claim.reserved.isEmpty ? claim.current.lowerBound : claim.reserved.lowerBound
      let reserved = claim.reserved.isEmpty ? start : claim.reserved.upperBound
      var end = claim.skipsLong ? reserved : min(claim.current.upperBound, total)
      for range in requested.values where claim.current.contains(range.lowerBound) {
        end = min(end, range.lowerBound)
      }
      let range = start..<max(reserved, end)
      ranges.append(ConnectionPlan.Claim(number: number, range: range, reserved: reserved))
    }
    return ranges.sorted { $0.number < $1.number }
  }

  /// What a connection would reach only after a long skip, and none was requested for; `nil` if there
  /// is nothing.
  var spare: Range<Int64>? {
    guard heirs.isEmpty else { return nil }
    let skipping = claims.sorted { $0.key < $1.key }.first { $0.value.skipsLong }?.value
    return skipping.map { $0.current.lowerBound..<$0.rest.end }
  }

  /// Whether a connection writes nothing, because another one takes over its bytes, or has done so.
  var hasIdle: Bool { claims.values.contains { $0.skipsLong || $0.rest.isEmpty } }

  /// The offset of the next byte of each connection, by number.
  var positions: [Int: Int64] {
    claims.mapValues(\.position).merging(requested.mapValues(\.lowerBound)) { open, _ in open }
  }
}
