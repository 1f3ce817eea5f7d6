internal import ObjectStoreCore

/// Copies of the pages of the table `store` that earlier commits have left in a file.
///
/// A commit that changes a page of the table writes a new one. The epoch advances with each change of
/// a layout and of the schema version, so copies of one epoch agree on both.
struct StaleMetadata {
  typealias Entries = [String: [UInt8]]

  /// The schema version 0, as it would be stored.
  static let versionZero: [UInt8] = [0, 0, 0, 0]

  private var pages: [UInt64: Entries] = [:]

  /// The first parts of the keys of entries that a repair needs.
  private static let kinds: Set<Substring> = [
    "conversion", "counter", "default", "epoch", "floor", "format", "index", "layout", "migration",
    "outdated", "reference", "schema version", "seed",
  ]

  /// Adds an entry of a page, if it can be one of the table.
  mutating func add(_ key: String, _ value: [UInt8], ofPage page: UInt64) {
    guard let kind = key.metadataKeyParts.first, Self.kinds.contains(kind) else { return }
    pages[page, default: [:]][key] = value
  }

  /// Adds the entries that the readable ones lack, as far as they cannot be outdated.
  ///
  /// - Parameter entries: The readable entries of the table at the last commit.
  /// - Returns: Notes about entries that were found, but cannot be used.
  func complete(_ entries: inout Entries) -> [String] {
    let copies = pages.sorted { $0.key < $1.key }.map(\.value)
    var notes: [String] = []
    if var newest = Self.newest(of: copies), !Self.isOlder(newest, than: entries) {
      // It has all keys near that of the version, which version 0 does not store.
      if newest[MetadataKey.schemaVersion] == nil {
        newest[MetadataKey.schemaVersion] = Self.versionZero
      }
      entries.merge(newest) { current, _ in current }
    } else {
      notes = Self.addStable(copies, to: &entries)
    }
    for copy in copies {
      for (key, value) in copy {
        switch key.metadataKeyParts.first {
        // They only grow.
        case "counter", "floor": entries[key] = Self.greater(value, entries[key])
        case "seed": if entries[key] == nil { entries[key] = value }
        default: break
        }
      }
    }
    return notes
  }

  /// Returns the entries between epoch and seed at the greatest epoch; `nil` if no page has all.
  private static func newest(of copies: [Entries]) -> Entries? {
    let whole = copies.filter { copy in
      copy[MetadataKey.seed] != nil && integer(copy[MetadataKey.epoch]) != nil
    }
    guard let epoch = whole.compactMap({ integer($0[MetadataKey.epoch]) }).max() else { return nil }
    return whole.filter { integer($0[MetadataKey.epoch]) == epoch }
      .reduce(into: [:]) { all, copy in all.merge(copy) { first, _ in first } }
  }

  /// Whether the schema has changed since a copy, as far as the readable entries tell.
  private static func isOlder(_ copy: Entries, than entries: Entries) -> Bool {
    entries.contains { key, value in
      switch key.metadataKeyParts.first {
      case "epoch", "layout", "schema version": copy[key] != value
      default: false
      }
    }
  }

  /// Adds the schema version, and the layouts that no steps and no conversion have changed.
  ///
  /// The copies may be of any epoch. Versions only grow.
  private static func addStable(_ copies: [Entries], to entries: inout Entries) -> [String] {
    let all = copies + [entries]
    let version = all.compactMap { $0[MetadataKey.schemaVersion] }.reduce(nil, greater)
    if let version { entries[MetadataKey.schemaVersion] = version }
    var layouts: [String: [String: Set<[UInt8]>]] = [:]
    var changed: Set<String> = []
    for (key, value) in all.joined() {
      let parts = key.metadataKeyParts.map { String($0) }
      guard parts.count > 1 else { continue }
      switch parts[0] {
      case "layout": layouts[parts[1], default: [:]][key, default: []].insert(value)
      case "outdated", "conversion": changed.insert(parts[1])
      default: break
      }
    }
    var notes: [String] = []
    for (model, found) in layouts.sorted(by: { $0.key < $1.key }) {
      let lost = found.filter { entries[$0.key] == nil }
      guard !lost.isEmpty else { continue }
      guard !changed.contains(model), found.values.allSatisfy({ $0.count == 1 }) else {
        notes.append("layouts of \(model) are lost: those of earlier commits may be outdated")
        continue
      }
      for (key, values) in lost { entries[key] = values.first }
    }
    return notes
  }

  /// Returns the greater of two integers of one size.
  private static func greater(_ one: [UInt8]?, _ other: [UInt8]?) -> [UInt8]? {
    (integer(one) ?? 0) < (integer(other) ?? 0) ? other : one ?? other
  }

  /// Returns an integer of 4 or 8 bytes, with the least significant one first.
  private static func integer(_ bytes: [UInt8]?) -> UInt64? {
    guard let bytes, bytes.count == 4 || bytes.count == 8 else { return nil }
    return bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}
