/// What NSKeyedArchiver writes: a table of objects that refer to each other by position.
///
/// An archive is only looked at and changed here. No object of a class that it names is ever made,
/// which is how reading foreign archives gets dangerous.
public struct KeyedArchive: Sendable, Equatable {
  /// The name under which an archive has its root object.
  public enum RootKey: String, Sendable, Hashable, CaseIterable {
    /// What plain archiving calls it.
    case plain = "root"
    /// What secure coding in CFNetwork calls it, spelt like the constant.
    case secure = "NSKeyedArchiveRootObjectKey"
  }

  /// Position 0, which stands for nothing.
  public static let nullText = "$null"

  private static let archiverName = "NSKeyedArchiver"
  private static let archiverKey = "$archiver"
  private static let versionKey = "$version"
  private static let objectsKey = "$objects"
  private static let topKey = "$top"
  private static let currentVersion: Int128 = 100_000

  /// The members of the property list, `$objects` empty.
  private var members: PropertyListDictionary
  /// The table of objects.
  public internal(set) var objects: [PropertyList]
  /// Names of objects, such as that of the root.
  public internal(set) var top: PropertyListDictionary

  /// Takes a property list for an archive.
  ///
  /// - Throws: ``ResumeDataError`` with `notKeyedArchive`.
  public init(_ propertyList: PropertyList) throws(ResumeDataError) {
    guard let members = propertyList.dictionary, Self.isArchive(members),
      let objects = members[Self.objectsKey]?.array,
      let top = members[Self.topKey]?.dictionary
    else { throw ResumeDataError(.notKeyedArchive, "the property list is no keyed archive") }
    self.members = members
    self.members[Self.objectsKey] = .array([])
    self.objects = objects
    self.top = top
  }

  /// Makes an archive of a table, with the root object under that name.
  init(objects: [PropertyList], root: UInt32, under key: RootKey) {
    top = [key.rawValue: .uid(root)]
    members = [
      Self.versionKey: .integer(Self.currentVersion), Self.objectsKey: .array([]),
      Self.archiverKey: .string(Self.archiverName), Self.topKey: .dictionary(top),
    ]
    self.objects = objects
  }

  /// Whether a dictionary says that it is an archive of NSKeyedArchiver.
  static func isArchive(_ members: PropertyListDictionary) -> Bool {
    members[archiverKey]?.string == archiverName
  }

  /// The archive as a property list, with what it had besides.
  public var propertyList: PropertyList {
    var members = members
    members[Self.objectsKey] = .array(objects)
    members[Self.topKey] = .dictionary(top)
    return .dictionary(members)
  }

  /// The names under which there is a root object; there may be none, or both.
  public var rootKeys: [RootKey] {
    RootKey.allCases.filter { top[$0.rawValue] != nil }
  }

  /// The position of the root object.
  ///
  /// `nil` when there is no reference, or when there are two that differ.
  public var root: UInt32? {
    let roots = Set(rootKeys.compactMap { top[$0.rawValue]?.uid })
    return roots.count == 1 ? roots.first : nil
  }
}
