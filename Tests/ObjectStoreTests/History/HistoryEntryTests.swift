import TestSupport
import Testing

@testable import ObjectStoreCore

@Suite struct HistoryEntryTests {
  private static func decode(_ bytes: [UInt8], of model: String? = nil) throws -> HistoryEntry {
    try unsafe bytes.withUnsafeBytes { bytes in
      var reader = unsafe ByteReader(bytes)
      return try HistoryEntry(from: &reader, of: model)
    }
  }

  private static func encode(_ entry: HistoryEntry) -> [UInt8] {
    HistoryEntry.encode(
      nonce: entry.nonce,
      commitSum: entry.commitSum,
      byteSum: entry.byteSum,
      models: HistoryEntry.encode(entry.models)
    )
  }

  private static func entry(_ random: inout SplitMix64) -> HistoryEntry {
    let models = (0..<Int.random(in: 0...3, using: &random)).map { number in
      var changes = CoalescedChanges()
      if Int.random(in: 0..<4, using: &random) == 0 { changes.coverAllObjects() }
      for _ in 0..<Int.random(in: 0...20, using: &random) {
        let id = random.next() >> UInt64.random(in: 0...63, using: &random)
        let fields = random.next() >> UInt64.random(in: 0...63, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: changes.add(ObjectChange(kind: .inserted, fields: .max), to: id)
        case 1: changes.add(ObjectChange(kind: .updated, fields: fields), to: id)
        default:
          let key = (0..<Int.random(in: 0...300, using: &random)).map {
            UInt8(truncatingIfNeeded: $0)
          }
          changes.add(ObjectChange(kind: .deleted, fields: .max, key: key), to: id)
        }
      }
      return HistoryEntry.ModelEntry(
        model: "Model\(number)",
        layoutNumber: .random(in: .min ... .max, using: &random),
        changes: changes
      )
    }
    return HistoryEntry(
      nonce: .random(in: .min ... .max, using: &random),
      commitSum: random.next(),
      byteSum: random.next(),
      models: models
    )
  }

  @Test func `an entry round-trips`() throws {
    var random = SplitMix64(seed: 1)
    for _ in 0..<500 {
      let entry = Self.entry(&random)
      #expect(try Self.decode(Self.encode(entry)) == entry)
      let one = try Self.decode(Self.encode(entry), of: "Model1").models
      #expect(one == entry.models.filter { $0.model == "Model1" })
    }
  }

  @Test func `the bytes of an entry match the documented format`() {
    var changes = CoalescedChanges()
    changes.add(ObjectChange(kind: .inserted, fields: .max), to: 300)
    changes.add(ObjectChange(kind: .updated, fields: 5), to: 1)
    changes.add(ObjectChange(kind: .deleted, fields: .max, key: [7, 8]), to: 301)
    var whole = CoalescedChanges()
    whole.coverAllObjects()
    let bytes = Self.encode(
      HistoryEntry(
        nonce: 0x0102_0304,
        commitSum: 7,
        byteSum: 9,
        models: [
          .init(model: "A", layoutNumber: 2, changes: changes),
          .init(model: "B", layoutNumber: 200, changes: whole),
        ]
      )
    )
    #expect(
      bytes == [1, 4, 3, 2, 1, 7, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0]
        + [1, 65, 2, 4] + [2, 1, 5] + [1, 0xAB, 2] + [3, 1, 2, 7, 8]
        + [1, 66, 0xC8, 1, 0]
    )
  }

  @Test func `a truncated or changed entry is decoded or refused without a trap`() {
    var random = SplitMix64(seed: 2)
    var refused = 0
    for _ in 0..<300 {
      let bytes = Self.encode(Self.entry(&random))
      for _ in 0..<20 {
        var damaged = bytes
        if Bool.random(using: &random) {
          damaged.removeLast(Int.random(in: 1...damaged.count, using: &random))
        } else {
          damaged[Int.random(in: 0..<damaged.count, using: &random)] = .random(
            in: .min ... .max,
            using: &random
          )
        }
        do { _ = try Self.decode(damaged) } catch { refused += 1 }
      }
    }
    #expect(refused > 1_000)
  }

  @Test(arguments: [0, 1, 127, 128, 300, 16_383, 16_384, UInt64.max >> 1, .max])
  func `a variable-length integer of any size round-trips`(number: UInt64) throws {
    var writer = ByteWriter()
    writer.writeVarint(number)
    let bytes = writer.bytes
    let read = try unsafe bytes.withUnsafeBytes { bytes in
      var reader = unsafe ByteReader(bytes)
      let number = try reader.readVarint()
      return (number, reader.remaining)
    }
    #expect(read == (number, 0))
  }

  @Test func `a variable-length integer beyond 64 bits is refused`() {
    for bytes in [[UInt8](repeating: 0xFF, count: 10), Array(repeating: 0x80, count: 11) + [0]] {
      #expect(throws: RecordError.self) {
        try unsafe bytes.withUnsafeBytes { bytes in
          var reader = unsafe ByteReader(bytes)
          return try reader.readVarint()
        }
      }
    }
  }
}

@Suite struct CoalescedChangesTests {
  private typealias Kind = ChangeLog.Change.Kind

  /// Every sequence of up to five changes of one object.
  @Test func `any sequence of changes of an object coalesces into one change`() {
    func sequences(_ exists: Bool, _ depth: Int) -> [[Kind]] {
      guard depth > 0 else { return [[]] }
      let next: [Kind] = exists ? [.updated, .deleted] : []
      return [[]]
        + next.flatMap { kind in
          sequences(kind != .deleted, depth - 1).map { [kind] + $0 }
        }
    }
    for existedBefore in [true, false] {
      let all = sequences(true, 5).map { existedBefore ? $0 : [.inserted] + $0 }
      #expect(all.count == 11)
      for sequence in all where !sequence.isEmpty {
        var changes = CoalescedChanges()
        for (step, kind) in sequence.enumerated() {
          let fields: UInt64 = kind == .updated ? 1 << UInt64(step) : .max
          changes.add(
            ObjectChange(kind: kind, fields: fields, key: kind == .deleted ? [1] : []),
            to: 7
          )
        }
        let exists = sequence.last != .deleted
        let expected: Kind? =
          switch (existedBefore, exists) {
          case (true, true): .updated
          case (true, false): .deleted
          case (false, true): .inserted
          case (false, false): nil
          }
        #expect(changes.objects[7]?.kind == expected)
        if expected == .updated {
          let fields: UInt64 = (1 << UInt64(sequence.count)) - 1
          #expect(changes.objects[7]?.fields == fields)
        }
        if expected == .deleted { #expect(changes.objects[7]?.key == [1]) }
      }
    }
  }

  @Test func `a change log beyond its limit covers the whole model and stays that way`() {
    var log = ChangeLog()
    for id in 0...UInt64(ChangeLog.limit) { log.append(id, .inserted) }
    var changes = CoalescedChanges(log)
    changes.add(ObjectChange(kind: .updated, fields: 1), to: 5)
    #expect(changes.coversAllObjects && changes.objects.isEmpty)
    var sum = CoalescedChanges()
    sum.add(ObjectChange(kind: .updated, fields: 1), to: 5)
    sum.add(changes)
    #expect(sum.coversAllObjects && sum.objects.isEmpty)
  }
}
