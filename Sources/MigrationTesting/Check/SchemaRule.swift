/// The effect of a change on the stores that exist, from harmless to impossible.
public enum SchemaVerdict: Int, Sendable, Hashable, Comparable, CaseIterable {
  /// Programs before and after the change read and write the same store at the same time.
  case safe
  /// New programs need nothing, and older ones open the store read-only.
  case olderReadOnly
  /// New programs build an index, or the first of them builds a column or copies objects.
  case rebuilds
  /// The stored objects must be changed before the new program can use all of them.
  case needsStep
  /// Values in the stores are not read any more.
  case losesData
  /// New programs cannot open the stores that exist, or would misread them.
  case refused

  /// Returns whether the first verdict is less serious.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

  /// The verdict in words, such as `needs a step`.
  public var words: String {
    switch self {
    case .safe: "safe"
    case .olderReadOnly: "safe for new programs, older ones open read-only"
    case .rebuilds: "rebuilds"
    case .needsStep: "needs a step"
    case .losesData: "loses data"
    case .refused: "refused"
    }
  }
}

/// The kinds of differences between two schemas, each with its verdict.
///
/// Every difference falls under exactly one rule. The rules of a change decide about a release:
/// ``SchemaFolder/check(_:version:objectCounts:)``.
public enum SchemaRule: String, Sendable, Hashable, CaseIterable {
  /// A model is new.
  case modelAdded
  /// A model is not in the program any more.
  case modelRemoved
  /// The order in which the store keeps the objects is another one.
  case layoutChanged
  /// A field is new, and is optional or has a default value.
  case fieldAdded
  /// A field is new, and objects without it cannot be read.
  case requiredFieldAdded
  /// A field is gone that older programs do not need to read an object.
  case fieldRemoved
  /// A field is gone without which older programs cannot read an object.
  case requiredFieldRemoved
  /// A field has another name and the same id.
  case fieldRenamed
  /// A field is optional now, and older programs have a default value for it.
  case fieldMadeOptional
  /// A field is optional now, and older programs cannot read an object without it.
  case requiredFieldMadeOptional
  /// A field is required now, and has a default value.
  case fieldMadeRequired
  /// A field is required now, and has no default value.
  case fieldMadeRequiredWithoutDefault
  /// A field that is required has a default value now, or has lost one that no object needs.
  case defaultChanged
  /// A field has no default value any more, and there may be objects without it.
  case neededDefaultRemoved
  /// A field has another type.
  case typeChanged
  /// Another field is the primary key.
  case primaryKeyChanged
  /// A field has moved between the hot part and the rest.
  case fieldMoved
  /// A new field has the id of one that was dropped.
  case retiredIDReused
  /// An index is new.
  case indexAdded
  /// An index is gone.
  case indexRemoved
  /// An index is unique now.
  case indexMadeUnique
  /// A field is new, has a default value, and must be unique.
  case uniqueFieldAdded
  /// An index is not unique any more.
  case indexMadeNotUnique
  /// A field has a column now.
  case columnAdded
  /// A field has no column any more.
  case columnRemoved
  /// A field refers to a model now.
  case referenceAdded
  /// A field refers to another model or none, or has another rule for deletions.
  case referenceChanged
  /// The schema version is higher.
  case versionRaised
  /// The schema version is lower.
  case versionLowered

  /// The effect of a change of this kind on stores.
  public var verdict: SchemaVerdict {
    switch self {
    case .modelAdded, .fieldAdded, .fieldRenamed, .fieldMadeOptional, .fieldMadeRequired,
      .defaultChanged, .fieldMoved, .indexRemoved, .columnRemoved, .referenceAdded:
      .safe
    case .requiredFieldMadeOptional, .indexMadeNotUnique, .referenceChanged, .versionRaised:
      .olderReadOnly
    case .layoutChanged, .indexAdded, .columnAdded: .rebuilds
    case .requiredFieldAdded, .fieldMadeRequiredWithoutDefault, .neededDefaultRemoved,
      .typeChanged, .primaryKeyChanged, .indexMadeUnique, .uniqueFieldAdded:
      .needsStep
    case .modelRemoved, .fieldRemoved, .requiredFieldRemoved: .losesData
    case .retiredIDReused, .versionLowered: .refused
    }
  }

  /// Whether the schema version must be raised: older programs must not write the store, or the
  /// store applies the change only for a higher version.
  public var needsHigherVersion: Bool {
    switch self {
    case .layoutChanged, .requiredFieldAdded, .requiredFieldRemoved, .requiredFieldMadeOptional,
      .fieldMadeRequiredWithoutDefault, .typeChanged, .primaryKeyChanged, .indexMadeNotUnique,
      .referenceChanged:
      true
    case .modelAdded, .modelRemoved, .fieldAdded, .fieldRemoved, .fieldRenamed, .fieldMadeOptional,
      .fieldMadeRequired, .defaultChanged, .neededDefaultRemoved, .fieldMoved, .retiredIDReused,
      .indexAdded, .indexRemoved,
      .indexMadeUnique, .uniqueFieldAdded, .columnAdded, .columnRemoved, .referenceAdded,
      .versionRaised, .versionLowered:
      false
    }
  }
}
