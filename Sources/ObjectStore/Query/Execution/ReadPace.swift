/// Ends a long read when the task that runs it is cancelled.
///
/// Looks once in some hundred steps, so that a step costs next to nothing.
struct ReadPace {
  private(set) var steps: UInt32 = 0

  @inline(__always)
  mutating func step() throws {
    steps &+= 1
    if steps & 0xFF == 0 { try check() }
  }

  @inline(never)
  func check() throws {
    if Task.isCancelled { throw CancellationError() }
  }
}
