import ObjectStore
import TestSupport
import Testing

@Suite struct ReadOnlyTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    let store = try open(.create)
    try store.write { tx in try tx.insert(Ticket(id: 1, seat: "1", row: 0)) }
  }

  private func open(_ access: StoreOptions.Access) throws -> Store {
    try Store(
      at: folder.path("store"),
      models: [Ticket.self],
      options: StoreOptions(access: access)
    )
  }

  @Test func `a read-only store sees the commits of a writer in the same process`()
    throws
  {
    let writer = try open(.readWrite)
    let reader = try open(.readOnly)
    #expect(!writer.isReadOnly)
    #expect(reader.isReadOnly)
    try writer.write { tx in try tx.insert(Ticket(id: 2, seat: "2", row: 0)) }
    #expect(try reader.read { try $0.count(Ticket.all) } == 2)
    let error = #expect(throws: StoreError.self) { try reader.write { _ in } }
    #expect(error?.code == .permissionDenied)
    #expect(throws: StoreError.self) { try reader.importJSONLines(from: "/dev/null") }
    // The writer is not affected by the refused write of the reader.
    try writer.write { tx in try tx.insert(Ticket(id: 3, seat: "3", row: 0)) }
    #expect(try reader.commitNumber() == writer.commitNumber())
  }

  @Test func `a write by an earlier program says which program has changed the store`() throws {
    let path = folder.path("store")
    let later = StoreOptions(schemaVersion: 2)
    _ = try Store(at: path, models: [Ticket.self], options: later)
    let error = #expect(throws: StoreError.self) { try open(.readWrite).write { _ in } }
    #expect(
      error?.message == """
        writing \(path): the store is open read-only, because a program with schema version 2 has \
        changed it: update this program
        """
    )
  }

  @Test func `a read-only store observes the commits of a writer in the same process`() async throws
  {
    let writer = try open(.readWrite)
    let reader = try open(.readOnly)
    var changes = reader.observe(Ticket.all).makeAsyncIterator()
    #expect(try await changes.next()?.snapshot.count == 1)
    try await writer.write { tx in try tx.insert(Ticket(id: 2, seat: "2", row: 0)) }
    #expect(try await changes.next()?.snapshot.count == 2)
  }

  @Test(arguments: [StoreOptions.Access.create, .readWrite])
  func `opening for writing throws busy while the process has the store open read-only`(
    access: StoreOptions.Access
  ) throws {
    do {
      let reader = try open(.readOnly)
      let error = #expect(throws: StoreError.self) { try open(access) }
      #expect(error?.code == .busy)
      #expect(
        error?.message == """
          opening \(folder.path("store")): this process already has the store open read-only; \
          close it first, or open it for writing there too
          """
      )
      #expect(try reader.read { try $0.count(Ticket.all) } == 1)
    }
    // Succeeds after the reader is released.
    try open(access).write { tx in try tx.insert(Ticket(id: 2, seat: "2", row: 0)) }
  }
}
