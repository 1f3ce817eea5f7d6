/// The format of NSKeyedArchiver: a table of objects that refer to each other by position.
///
/// Archives are read and edited as data. No class that an archive names is ever instantiated; doing so
/// is what makes unarchiving untrusted data dangerous.
package struct KeyedArchive: Sendable, Equatable {
  /// The name of the root object in `$top`.
  package enum RootKey: String, Sendable, Hashable, CaseIterable {
    /// The name used by plain archiving.
    case plain = "root"
    /// The name used by secure coding in CFNetwork: the constant's own name.
    case secure = "NSKeyedArchiveRootObjectKey"
  }

  /// The object at position 0, which stands for nil.
  package static let nullText = "$null"

  private static let archiverName = "NSKeyedArchiver"
  private static let archiverKey = "$archiver"
  private static let versionKey = "$version"
  private static let objectsKey = "$objects"
  private static let topKey = "$top"
  private static let currentVersion: Int128 = 100_000

  /// The members of the property list, with `$objects` empty.
  private var members: PropertyListDictionary
  /// The table of objects.
  package internal(set) var objects: [PropertyList]
  /// Named objects, such as the root.
  package internal(set) var top: PropertyListDictionary

  /// Interprets a property list as an archive.
  ///
  /// - Throws: ``ResumeDataError`` with `notKeyedArchive`.
  package init(_ propertyList: PropertyList) throws(ResumeDataError) {
    guard let members = propertyList.dictionary, Self.isArchive(members),
      let objects = members[Self.objectsKey]?.array,
      let top = members[Self.topKey]?.dictionary
    else { throw ResumeDataError(.notKeyedArchive, "the property list is not a keyed archive") }
    self.members = members
    self.members[Self.objectsKey] = .array([])
    self.objects = objects
    self.top = top
  }

  /// Creates an archive from a table, with the root object under the given name.
  init(objects: [PropertyList], root: UInt32, under key: RootKey) {
    top = [key.rawValue: .uid(root)]
    members = [
      Self.versionKey: .integer(Self.currentVersion), Self.objectsKey: .array([]),
      Self.archiverKey: .string(Self.archiverName), Self.topKey: .dictionary(top),
    ]
    self.objects = objects
  }

  /// Whether a dictionary declares that it is an archive of NSKeyedArchiver.
  static func isArchive(_ members: PropertyListDictionary) -> Bool {
    members[archiverKey]?.string == archiverName
  }

  /// The archive as a property list, with its other members.
  package var propertyList: PropertyList {
    var members = members
    members[Self.objectsKey] = .array(objects)
    members[Self.topKey] = .dictionary(top)
    return .dictionary(members)
  }

  /// The names under which a root object exists: none, one or both.
  package var rootKeys: [RootKey] {
    RootKey.allCases.filter { top[$0.rawValue] != nil }
  }

  /// The position of the root object; `nil` if there is no reference or two different ones.
  package var root: UInt32? {
    let roots = Set(rootKeys.compactMap { top[$0.rawValue]?.uid })
    return roots.count == 1 ? roots.first : nil
  }
}
