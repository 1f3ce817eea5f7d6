internal import ObjectStore

extension ObjectReader where Self: ~Copyable {
  /// The record with a URL, a key, an id, a unique id prefix or a unique file name, or the error
  /// `unknownRecord` or `ambiguousID`.
  ///
  /// A key is preferred to an id and to a file name.
  /// A prefix of fewer than eight digits that is also the file name of another download is
  /// ambiguous.
  ///
  /// - Complexity: O(log n) for a URL, for a key, and for an id or its first eight digits or more. Otherwise
  ///   the file names of all n records are compared, because no index serves them.
  func record(matching name: String) throws -> Result<DownloadRecord, RecordStoreError> {
    var filenames = FilenameScan(for: [name])
    return try record(matching: name, &filenames)
  }

  /// The record with one of some names, as ``record(matching:)`` finds it.
  ///
  /// The file names of all records are compared once for all the names, when the first of them needs it.
  func record(
    matching name: String,
    _ filenames: inout FilenameScan
  ) throws -> Result<DownloadRecord, RecordStoreError> {
    guard !name.isEmpty else { return .failure(.unknownRecord(name)) }
    if let record = try record(withURLOrKey: name) { return .success(record) }
    let isPrefix = name.utf8.count <= RecordIdentity.idLength && name.allSatisfy(\.isHexDigit)
    let prefixed =
      isPrefix
      ? try fetch(DownloadRecord.where { $0.id.hasPrefix(name.lowercased()) }.limit(4)) : []
    if prefixed.count > 1 { return .failure(.ambiguousPrefix(name, prefixed)) }
    if let record = prefixed.first, name.utf8.count >= RecordIdentity.distinctPrefixLength {
      return .success(record)
    }
    // A file name has no slash: a mistyped URL costs no scan.
    guard !name.utf8.contains(UInt8(ascii: "/")) else { return .failure(.unknownRecord(name)) }
    let named = try find(DownloadRecord.self, keys: filenames.urls(for: name, in: self))
      .compactMap { $0 }.filter { $0.url != prefixed.first?.url }
    switch (prefixed.first, named.count) {
    case (let record?, 0): return .success(record)
    case (nil, 0): return .failure(.unknownRecord(name))
    case (nil, 1): return .success(named[0])
    case (nil, _): return .failure(.ambiguousFilename(name, named))
    case (let record?, _): return .failure(.ambiguous(name, record, named[0]))
    }
  }
}

/// The downloads whose file name is one of some names.
struct FilenameScan {
  /// One more than a message lists.
  private static let maximum = 4

  private let names: Set<StoredText>
  /// The URLs of up to four downloads for each name; `nil` before the records were read.
  private var urls: [StoredText: [String]]?

  /// Creates a scan that reads nothing yet.
  init(for names: [String]) {
    // A file name has no slash.
    self.names = Set(names.filter { !$0.utf8.contains(UInt8(ascii: "/")) }.map(StoredText.init))
  }

  /// Returns the URLs of up to four downloads that had a file name, which is one of the names, when the
  /// records were read.
  mutating func urls<Reader: ObjectReader & ~Copyable>(
    for name: String,
    in reader: borrowing Reader
  ) throws -> [String] {
    let urls = try urls ?? read(from: reader)
    self.urls = urls
    return urls[StoredText(name)] ?? []
  }

  private func read<Reader: ObjectReader & ~Copyable>(
    from reader: borrowing Reader
  ) throws -> [StoredText: [String]] {
    let found = DownloadRecord.where {
      $0.filename.isIn(names.map(\.text)) && $0.state != .removed
    }
    var urls: [StoredText: [String]] = [:]
    _ = try reader.fetch(names.count == 1 ? found.limit(Self.maximum) : found) { view in
      let name = StoredText(try view.filename)
      guard urls[name, default: []].count < Self.maximum else { return }
      urls[name, default: []].append(try view.url)
    }
    return urls
  }
}

extension ObjectReader where Self: ~Copyable {
  /// The record with a URL, or else the one with a key; `nil` if there is none.
  func record(withURLOrKey name: String) throws -> DownloadRecord? {
    if let record = try find(DownloadRecord.self, key: name) { return record }
    return try record(withKey: name)
  }

  /// The record with a key, or else the one with a URL; `nil` if there is none.
  ///
  /// A request with a key is for this one.
  func record(withKeyOrURL name: String) throws -> DownloadRecord? {
    if let record = try record(withKey: name) { return record }
    return try find(DownloadRecord.self, key: name)
  }

  /// The record with a key; `nil` if there is none.
  func record(withKey key: String) throws -> DownloadRecord? {
    try first(DownloadRecord.where { $0.keys.contains(key) })
  }
}

extension RecordIdentity {
  /// The number of digits of an id.
  static let idLength = 16
  /// The number of digits from which an id prefix is not compared with file names, and which tables
  /// show at least.
  static let distinctPrefixLength = 8
}

extension RecordStoreError {
  /// The error for an unknown name.
  static func unknownRecord(_ name: String) -> Self {
    // A URL or a key that was copied from the output of a command.
    let hint =
      name.contains(Redaction.mark)
      ? "; \(Redaction.mark) stands for a secret that is not shown: use the id" : ""
    return Self(
      .unknownRecord,
      "no download has the URL, the id, the key or the file name '\(Redaction.argument(name))'"
        + hint
    )
  }

  fileprivate static func ambiguousPrefix(_ name: String, _ records: [DownloadRecord]) -> Self {
    let list = listed(records) { "\($0.id) (\(Redaction.argument($0.filename)))" }
    return Self(.ambiguousID, "several downloads have an id that begins with '\(name)': \(list)")
  }

  fileprivate static func ambiguousFilename(_ name: String, _ records: [DownloadRecord]) -> Self {
    let list = listed(records) { $0.id }
    let text = "several downloads have the file name '\(Redaction.argument(name))': \(list)"
    return Self(.ambiguousID, text)
  }

  /// Lists three records.
  private static func listed(
    _ records: [DownloadRecord],
    _ text: (DownloadRecord) -> String
  ) -> String {
    records.prefix(3).map(text).joined(separator: ", ") + (records.count > 3 ? ", …" : "")
  }

  fileprivate static func ambiguous(
    _ name: String,
    _ prefixed: DownloadRecord,
    _ named: DownloadRecord
  ) -> Self {
    Self(
      .ambiguousID,
      "'\(name)' is the beginning of the id \(prefixed.id) and the file name of \(named.id)"
    )
  }
}
