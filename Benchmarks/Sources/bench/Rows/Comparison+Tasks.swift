extension Comparison {
  private static let oneTask = "\(Contenders.ours), one task"
  private static let tasks = 64
  private static let commitsOfOne = 20

  /// Raw C is left out: it has neither tasks nor observers.
  private static func hasTasks(_ name: String) -> Bool { !Contenders.rawC.contains(name) }

  /// Each task writes one record after another, each in its own commit.
  mutating func commitFromTasks() async throws {
    var row = TableRow(
      "durable commits from 64 concurrent tasks, a commit",
      .microseconds,
      [.faster(10, .figure(Self.oneTask)), .faster(3, .statements)]
    )
    for repetition in repetitions(3) {
      for name in turn(names.filter(Self.hasTasks), repetition) {
        let store = try Contenders.open(name, in: smallFolder)
        guard let writer = store as? any TaskWriter else { continue }
        if name == Contenders.ours {
          row.add(try await time(writer, tasks: 1, commits: 100), for: Self.oneTask)
        }
        row.add(
          try await time(writer, tasks: Self.tasks, commits: Self.commitsOfOne),
          for: name
        )
      }
    }
    rows.append(row)
  }

  /// Returns the time per commit, in microseconds.
  private mutating func time(
    _ store: any TaskWriter,
    tasks: Int,
    commits: Int
  ) async throws -> Double {
    round += 1
    let changes = (0..<tasks).map { task in
      (0..<commits).map { generator.progress(task * commits + $0, round: round) }
    }
    let start = ContinuousClock.now
    try await withThrowingTaskGroup { group in
      for changes in changes {
        group.addTask {
          for change in changes { try await store.update(change) }
        }
      }
      try await group.waitForAll()
    }
    let time = start.duration(to: .now)
    for change in changes.joined() {
      guard let found = try store.download(change.url), change.isSeen(in: found) else {
        throw Mismatch("the change of \(change.url) was lost")
      }
    }
    return time.inUnits(of: 1e-6) / Double(tasks * commits)
  }

  /// Changes one record of an observed result.
  mutating func observe() async throws {
    var row = TableRow(
      "one record changes under an observed result of 10,000",
      .milliseconds,
      [.faster(50, .statements), .faster(50, .codable)]
    )
    let changes = repetitions(10).map { repetition in
      generator.progress(repetition * 17, round: round + repetition + 1)
    }
    round += changes.count
    for name in names.filter(Self.hasTasks) {
      let store = try Contenders.open(name, in: smallFolder)
      guard let observer = store as? any Observing else { continue }
      for cost in try await observer.costOfObserving(changes) {
        row.add(cost.inUnits(of: 1e-3), for: name)
      }
    }
    rows.append(row)
  }
}
