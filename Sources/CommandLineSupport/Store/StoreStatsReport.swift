package import ObjectStore

/// The size and the use of a store, as text and as JSON.
package struct StoreStatsReport {
  /// The absolute path of the store's folder.
  package let path: String
  /// The size of `data.mdb` on disk, in bytes.
  package let fileSize: Int64
  /// The statistics.
  package let statistics: StoreStatistics

  /// Reads the statistics of an open store.
  ///
  /// - Throws: ``StoreError``.
  package init(of store: Store, path: String) throws {
    self.path = path
    statistics = try store.statistics()
    fileSize = StoreFolder.fileSize(path) ?? Int64(statistics.fileSize)
  }

  private var freeBytes: Int64 { Int64(statistics.freePages * statistics.pageSize) }
  private var usedBytes: Int64 { Int64(statistics.fileSize) - freeBytes }

  private var mapFraction: Double {
    statistics.mapSize > 0 ? Double(statistics.fileSize) / Double(statistics.mapSize) : 0
  }

  private var models: [(name: String, model: StoreStatistics.Model)] {
    statistics.models.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  // MARK: Text

  /// One line for each property, with its name and its value.
  package static func lines(of properties: [(String, String)]) -> [String] {
    properties.map { name, value in TerminalText.padded(name, to: 18) + TerminalText.safe(value) }
  }

  /// The names and values of the properties.
  package var properties: [(String, String)] {
    var rows = [
      ("store", path),
      ("file size", "\(ByteAmount.text(fileSize)) (\(fileSize) bytes)"),
      ("used", "\(ByteAmount.text(usedBytes)); \(ByteAmount.text(freeBytes)) in free pages"),
      ("map use", "\(percent(mapFraction)) of \(ByteAmount.text(Int64(statistics.mapSize)))"),
      ("last transaction", "\(statistics.lastCommit)"),
      ("readers", "\(statistics.readers.count) of at most \(statistics.maximumReaders)"),
    ]
    rows += statistics.readers.map { reader in
      ("", "process \(reader.processID), \(reader.ageInCommits) commits behind")
    }
    return rows
  }

  /// A table of the models.
  package var modelTable: TableOutput {
    var table = TableOutput(columns: [
      .init(title: "MODEL"), .init(title: "OBJECTS", isAlignedRight: true),
      .init(title: "SIZE", isAlignedRight: true), .init(title: "INDEXES", isAlignedRight: true),
    ])
    table.rows = models.map { name, model in
      [
        name, "\(model.objects)", ByteAmount.text(Int64(model.byteCount)),
        "\(model.indexes.count)",
      ]
    }
    return table
  }

  private func percent(_ fraction: Double) -> String {
    let hundredths = Int((fraction * 10_000).rounded(.up))
    return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)%"
  }

  // MARK: JSON

  /// The members of a JSON object, with `additions` before the models.
  package func json(adding additions: [JSONValue.Member] = []) -> JSONValue {
    let file: JSONValue = [
      "size": .integer(fileSize), "used": .integer(usedBytes), "free": .integer(freeBytes),
      "pageSize": .integer(Int64(statistics.pageSize)),
    ]
    let readers = JSONValue.array(
      statistics.readers.map { reader in
        [
          "process": .integer(Int64(reader.processID)),
          "commitsBehind": .number("\(reader.ageInCommits)"),
        ]
      }
    )
    let models = JSONValue.array(
      models.map { name, model in
        [
          "name": .string(name), "objects": .integer(Int64(model.objects)),
          "size": .integer(Int64(model.byteCount)),
          "indexes": .integer(Int64(model.indexes.count)),
        ]
      }
    )
    let members: [(String, JSONValue)] = [
      ("path", .string(path)), ("file", file),
      ("map", ["size": .integer(Int64(statistics.mapSize)), "fraction": .double(mapFraction)]),
      ("lastTransaction", .number("\(statistics.lastCommit)")), ("readers", readers),
      ("maximumReaders", .integer(Int64(statistics.maximumReaders))),
    ]
    return .object(
      members.map { JSONValue.Member(name: $0.0, value: $0.1) } + additions
        + [JSONValue.Member(name: "models", value: models)]
    )
  }
}
