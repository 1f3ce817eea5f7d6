import Foundation
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

@Suite struct TransactionMetricsTests {
  let folder: TemporaryFolder
  let store: Store

  init() throws {
    folder = try TemporaryFolder()
    store = try Store(at: folder.path, models: [Ticket.self])
  }

  private func transactions() throws -> TransactionStatistics {
    try store.statistics().transactions
  }

  @Test func `the metrics of an unused store are zero`() throws {
    #expect(try transactions() == TransactionStatistics())
    #expect(try transactions().commits.mean == .zero)
  }

  @Test func `reads, writes and commits are counted`() async throws {
    try runSynchronousTransactions()
    try await store.write { tx in try tx.insert(Ticket(id: 4, seat: "4", row: 0)) }
    for _ in 0..<4 { #expect(try await store.read { try $0.count(Ticket.all) } == 4) }

    let transactions = try transactions()
    #expect(transactions.reads == 7)
    #expect(transactions.writes.count == 6)
    #expect(transactions.writeWaits.count == 6)
    #expect(transactions.commits.count == 4)
    for timing in [transactions.writes, transactions.writeWaits, transactions.commits] {
      #expect(timing.shortest > .zero)
      #expect(timing.shortest <= timing.mean)
      #expect(timing.mean <= timing.longest)
      #expect(timing.shortest <= timing.last && timing.last <= timing.longest)
      #expect(timing.longest <= timing.total)
    }
  }

  private func runSynchronousTransactions() throws {
    for id in 1...3 {
      try store.write(durability: .deferred) { tx in
        try tx.insert(Ticket(id: id, seat: "\(id)", row: 0))
      }
    }
    // Neither a write without changes nor a write that throws counts as a commit.
    try store.write { _ in }
    struct Failure: Error {}
    #expect(throws: Failure.self) { try store.write { _ in throw Failure() } }
    for _ in 0..<3 { #expect(try store.read { try $0.count(Ticket.all) } == 3) }
  }

  @Test func `each store instance counts its own transactions`() throws {
    let other = try Store(at: folder.path, models: [Ticket.self])
    try other.write { tx in try tx.insert(Ticket(id: 1, seat: "1", row: 0)) }
    #expect(try transactions().writes.count == 0)
    #expect(try other.statistics().transactions.commits.count == 1)
  }

  @Test func `a timing computes total, mean, shortest, longest and last`() {
    var timing = TransactionStatistics.Timing()
    for milliseconds in [30, 10, 20] { timing.add(.milliseconds(milliseconds)) }
    #expect(timing.count == 3)
    #expect(timing.total == .milliseconds(60))
    #expect(timing.mean == .milliseconds(20))
    #expect(timing.shortest == .milliseconds(10))
    #expect(timing.longest == .milliseconds(30))
    #expect(timing.last == .milliseconds(20))
  }
}
