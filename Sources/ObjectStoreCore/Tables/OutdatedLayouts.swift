package import LMDB

/// The layouts of a model whose records are converted by the steps of a migration when they are
/// read.
///
/// A record refers to its layout, and this entry of the store says which schema version the layout
/// has. A field that a step changes gets another id in these layouts. So no program takes a value
/// from before the steps for one after them, whether or not it has the steps.
package struct OutdatedLayouts: Sendable, Hashable {
  /// The layouts of one schema version.
  package struct Version: Sendable, Hashable {
    package let version: UInt32
    var layouts: [UInt16] = []
    package var fields: [Field] = []

    /// Returns the field that has an id in these layouts.
    func field(withID id: UInt32) -> Field? { fields.first { $0.id == id } }
  }

  /// A field of these layouts, as the steps see it.
  package struct Field: Sendable, Hashable {
    /// Its id in the layouts now.
    package var id: UInt32
    /// Its id when the records were written.
    package let originalID: UInt32
    /// Its name in the schema version.
    package let name: String

    package var isChanged: Bool { id != originalID }
  }

  /// The versions that records may have; empty when all records are converted.
  package var versions: [Version] = []
  /// The ids of the fields that the steps set or change, which old records do not have.
  ///
  /// An index over one of them is built when all records are converted.
  var changedFields: [UInt32] = []
  /// The ids of the fields that only converted records had.
  var formerFields: [UInt32] = []
  /// The least object id whose record may not be converted.
  package var next: UInt64 = 0
  /// The number of objects before that.
  var objectCount: UInt64 = 0

  /// Whether records may need a conversion.
  package var isPending: Bool { !versions.isEmpty }

  /// Returns the version of the records with a layout; `nil` if it is that of the store.
  package func version(ofLayout number: UInt16) -> Version? {
    versions.first { $0.layouts.contains(number) }
  }

  /// Whether an index cannot be built before all records are converted.
  package func delays(_ index: IndexDescription) -> Bool {
    isPending && index.parts.contains { changedFields.contains($0.fieldID) }
  }

  /// Whether a column of a field, or a rule for references in it, cannot be added before all records
  /// are converted.
  func delays(fieldWithID id: UInt32) -> Bool { isPending && changedFields.contains(id) }

  // MARK: The start of a migration

  /// Adds the layouts that steps make outdated.
  ///
  /// - Parameters:
  ///   - version: The schema version of the store before the steps.
  ///   - changed: The ids of the fields that the steps change.
  ///   - names: The names of the fields in that version, by id.
  ///   - layouts: The layouts of the model, in the order of their numbers.
  ///   - own: The layout of the program.
  /// - Returns: The layouts with other ids for the changed fields.
  package mutating func begin(
    version: UInt32,
    changed: Set<UInt32>,
    names: [UInt32: String],
    layouts: [RecordLayout],
    own: RecordLayout
  ) -> [RecordLayout] {
    var taken = Set(layouts.flatMap { $0.fields.map(\.id) } + own.fields.map(\.id)).union(changed)
    var current = Version(version: version)
    var result = layouts
    for (position, layout) in layouts.enumerated() {
      let number = UInt16(position + 1)
      let earlier = versions.firstIndex { $0.layouts.contains(number) }
      // No record has the layouts of conversions that are complete.
      guard earlier != nil || !Self.isMarked(layout) else { continue }
      var group = earlier.map { versions[$0] } ?? current
      let fields = layout.fields.map { field in
        guard changed.contains(field.id) else { return field }
        return group.retire(field, names, &taken)
      }
      if earlier == nil, RecordLayout(fields: fields, storage: layout.storage) == own { continue }
      if let earlier {
        versions[earlier] = group
      } else {
        group.add(number, fields, names)
        current = group
      }
      result[position] = RecordLayout(
        fields: fields.map { group.marking($0) },
        storage: layout.storage
      )
    }
    if !current.layouts.isEmpty { versions.append(current) }
    changedFields = Set(changedFields).union(changed).sorted()
    next = 0
    objectCount = 0
    return result
  }

  /// Whether a layout is outdated, or was until all of its records were converted.
  static func isMarked(_ layout: RecordLayout) -> Bool {
    layout.fields.contains { $0.isPrimaryKey && $0.name.contains(Version.mark) }
  }

  /// Ends the conversion, when no record has one of the layouts.
  mutating func complete() {
    formerFields += versions.flatMap(\.fields).filter(\.isChanged).map(\.id)
    formerFields = Set(formerFields).sorted()
    versions = []
    changedFields = []
    next = 0
    objectCount = 0
  }
}

extension OutdatedLayouts.Version {
  /// Separates a name from a version.
  ///
  /// No Swift identifier contains it.
  fileprivate static let mark: Character = "@"

  /// The name with the version, in at most the 100 bytes that a name may have.
  private func marked(_ name: String) -> String {
    let suffix = "\(Self.mark)\(version)"
    var name = name
    while name.utf8.count + suffix.utf8.count > 100 { name.removeLast() }
    return name + suffix
  }

  /// Gives a field another id in these layouts.
  fileprivate mutating func retire(
    _ field: RecordLayout.Field,
    _ names: [UInt32: String],
    _ taken: inout Set<UInt32>
  ) -> RecordLayout.Field {
    let position = fields.firstIndex { $0.originalID == field.id }
    let name = position.map { fields[$0].name } ?? names[field.id] ?? field.name
    var retired = field
    retired.name = marked(name)
    if let position, fields[position].isChanged {
      // Another layout has the field too.
      retired.id = fields[position].id
      return retired
    }
    var unique = retired.name
    while !taken.insert(FieldSchema.id(forName: unique)).inserted { unique.append("'") }
    retired.id = FieldSchema.id(forName: unique)
    if let position {
      fields[position].id = retired.id
    } else {
      fields.append(.init(id: retired.id, originalID: field.id, name: name))
    }
    return retired
  }

  /// Adds a layout with these fields.
  fileprivate mutating func add(
    _ number: UInt16,
    _ layout: [RecordLayout.Field],
    _ names: [UInt32: String]
  ) {
    layouts.append(number)
    for field in layout where self.field(withID: field.id) == nil {
      fields.append(.init(id: field.id, originalID: field.id, name: names[field.id] ?? field.name))
    }
  }

  /// Marks the primary key, so that no program ever writes in the layout.
  fileprivate func marking(_ field: RecordLayout.Field) -> RecordLayout.Field {
    guard field.isPrimaryKey, !field.name.contains(Self.mark) else { return field }
    var field = field
    field.name = marked(field.name)
    return field
  }
}

// MARK: On disk

extension OutdatedLayouts {
  private static let codingVersion: UInt8 = 1

  /// The entry that the store keeps.
  package var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.write(Self.codingVersion)
    writer.write(UInt16(versions.count))
    for version in versions {
      writer.write(version.version)
      writer.write(UInt16(version.layouts.count))
      for layout in version.layouts { writer.write(layout) }
      writer.write(UInt16(version.fields.count))
      for field in version.fields {
        writer.write(field.id)
        writer.write(field.originalID)
        writer.writeSized(field.name)
      }
    }
    for ids in [changedFields, formerFields] {
      writer.write(UInt16(ids.count))
      for id in ids { writer.write(id) }
    }
    writer.write(next)
    writer.write(objectCount)
    return writer.bytes
  }

  package init(encoded reader: inout ByteReader) throws(RecordError) {
    guard try reader.read(UInt8.self) == Self.codingVersion else {
      throw RecordError(.unknownCoding)
    }
    for _ in 0..<(try reader.read(UInt16.self)) {
      var version = Version(version: try reader.read())
      for _ in 0..<(try reader.read(UInt16.self)) { version.layouts.append(try reader.read()) }
      for _ in 0..<(try reader.read(UInt16.self)) {
        version.fields.append(
          Field(
            id: try reader.read(),
            originalID: try reader.read(),
            name: try reader.readSized(String.self)
          )
        )
      }
      versions.append(version)
    }
    for _ in 0..<(try reader.read(UInt16.self)) { changedFields.append(try reader.read()) }
    for _ in 0..<(try reader.read(UInt16.self)) { formerFields.append(try reader.read()) }
    next = try reader.read()
    objectCount = try reader.read()
  }
}

extension Metadata {
  /// Returns the outdated layouts of a model.
  package func outdatedLayouts(
    of model: String,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> OutdatedLayouts {
    guard let value = try bytes(MetadataKey.outdatedLayouts(model), in: transaction) else {
      return OutdatedLayouts()
    }
    return try decode(value, "the outdated layouts of \(model)") { reader throws(RecordError) in
      try OutdatedLayouts(encoded: &reader)
    }
  }
}
