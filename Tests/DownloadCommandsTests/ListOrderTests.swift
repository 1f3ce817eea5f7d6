import DownloadReports
import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The order and the streaming of lists, compared with sorting an array.
struct ListOrderTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String
  private let records: RecordStore
  private static let fields = ListOrder.Field.allCases

  init() async throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
    records = try RecordStore(at: store)
    try await records.add(
      (0..<60).map { DownloadRequest(url: "http://h\($0 % 3)/\(($0 * 7) % 60)?token=\($0)") }
    )
    let all = try records.records()
    try await records.objects.write { tx in
      var random = SplitMix64(seed: 8)
      for var record in all {
        record.state = DownloadState.allCases.dropLast().randomElement(using: &random) ?? .waiting
        record.received = Int64.random(in: 0...5, using: &random)
        record.expected =
          Bool.random(using: &random) ? Int64.random(in: 0...8, using: &random) : nil
        record.priority = Int32.random(in: -2...2, using: &random)
        record.failedAttempts = Int32.random(in: 0...3, using: &random)
        record.isHeld = Bool.random(using: &random)
        record.type = ["iso", "zip", ""].randomElement(using: &random) ?? ""
        record.updatedAt = Date(
          timeIntervalSince1970: .random(in: -9...9, using: &random).rounded()
        )
        record.completedAt = record.state == .completed ? record.updatedAt : nil
        try tx.upsert(record)
      }
    }
  }

  private func entries(_ listing: RecordListing) throws -> [DownloadEntry] {
    var found: [DownloadEntry] = []
    try listing.read(records) { entries in try entries { found.append($0) } }
    return found
  }

  /// The value by which a list is sorted; `nil` if the download has none.
  private func isBefore(
    _ field: ListOrder.Field,
    _ left: DownloadEntry,
    _ right: DownloadEntry
  ) -> Bool? {
    func compare<Value: Comparable>(_ value: (DownloadEntry) -> Value?) -> Bool? {
      guard let one = value(left), let other = value(right), one != other else { return nil }
      return one < other
    }
    func number(_ date: Date?) -> Double? { date?.timeIntervalSince1970 }
    return switch field {
    case .id: compare { $0.record.id }
    case .url: compare { $0.record.url }
    case .displayURL: compare { $0.displayURL }
    case .filename: compare { $0.record.filename }
    case .folder: compare { $0.record.folder }
    case .type: compare { $0.record.type }
    case .state: compare { DownloadState.words.firstIndex(of: $0.state) }
    case .intent: compare { $0.record.intent.rawValue }
    case .received: compare { $0.record.received }
    case .expected: compare { $0.record.expected }
    case .progress, .fraction: compare { $0.fraction }
    case .priority: compare { $0.record.priority }
    case .attempts: compare { $0.record.failedAttempts }
    case .heldByHand: compare { $0.record.isHeld ? 1 : 0 }
    case .createdAt: compare { number($0.record.createdAt) }
    case .updatedAt: compare { number($0.record.updatedAt) }
    case .completedAt: compare { number($0.record.completedAt) }
    case .localPath: compare { $0.localPath }
    case .fileStatus: compare { $0.fileStatus.rawValue }
    }
  }

  private func hasValue(_ field: ListOrder.Field, _ entry: DownloadEntry) -> Bool {
    switch field {
    case .expected, .progress, .fraction: entry.record.expected != nil
    case .completedAt: entry.record.completedAt != nil
    case .localPath: entry.localPath != nil
    default: true
    }
  }

  @Test(arguments: fields, ["asc", "desc"])
  func `a list is sorted stably, with missing values last, and a limit gives its beginning`(
    field: ListOrder.Field,
    direction: String
  ) throws {
    let order = try #require(ListOrder("\(field.rawValue):\(direction)"))
    let columns = DownloadRecord.columns
    for condition in [Filter.all, columns.priority > 0, columns.state.isIn([.waiting, .paused])] {
      let plain = try entries(RecordListing(condition: condition))
      let expected = plain.enumerated().sorted { left, right in
        let hasOne = hasValue(field, left.element)
        guard hasOne == hasValue(field, right.element) else { return hasOne }
        guard let isLess = isBefore(field, left.element, right.element) else {
          return left.offset < right.offset
        }
        return isLess == (direction == "asc")
      }
      .map(\.element.record)
      for limit in [nil, 0, 1, 10, 1_000] {
        let listing = RecordListing(condition: condition, order: order, limit: limit)
        #expect(try entries(listing).map(\.record) == Array(expected.prefix(limit ?? .max)))
      }
    }
  }

  @Test(arguments: OutputFormat.allCases)
  func `every format is written in parts, and only a table is read twice`(
    format: OutputFormat
  ) throws {
    let all = try entries(RecordListing(condition: .all))
    var readCount = 0
    var sizes: [Int] = []
    var text: [UInt8] = []
    try ListOutput(format: format).render(
      { visit in
        readCount += 1
        for _ in 0..<20 { try all.forEach(visit) }
      },
      to: { part in
        sizes.append(part.count)
        text += part
      }
    )
    #expect(readCount == (format == .table ? 2 : 1))
    #expect(sizes.count > 1 && sizes.allSatisfy { $0 < 80_000 })
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").count
    let extra: [OutputFormat: Int] = [.table: 1, .csv: 1, .json: 2]
    #expect(lines == 1_200 + (extra[format] ?? 0))
    if format == .json {
      #expect(try objects(String(decoding: text, as: UTF8.self)).count == 1_200)
    }
  }

  @Test func `only the files that a status depends on are examined`() throws {
    let entry = try #require(try entries(RecordListing(condition: .all)).first)
    var record = entry.record
    let roots = try records.roots()
    let layout = try roots.layout(of: record)
    try FileManager.default.createDirectory(
      atPath: layout.folderPath,
      withIntermediateDirectories: true
    )
    try Data("abc".utf8).write(to: URL(filePath: layout.finalPath))
    let identity = try #require(FileIdentity(ofFileAt: layout.finalPath))
    for state in DownloadState.allCases {
      for fileIdentity in [nil, identity] {
        record.state = state
        record.fileIdentity = fileIdentity
        for hasPartialFile in [false, true] {
          if hasPartialFile { try Data().write(to: URL(filePath: layout.partialPath)) }
          defer { try? FileManager.default.removeItem(atPath: layout.partialPath) }
          let entry = DownloadEntry(record, roots)
          let files = FileInspection(of: record, in: layout)
          #expect(entry.fileStatus == FileStatus(of: record, files: files))
          let isPresent = state == .completed || files.final == .ours
          #expect(entry.localPath == (isPresent ? layout.finalPath : nil))
        }
      }
    }
  }
}
