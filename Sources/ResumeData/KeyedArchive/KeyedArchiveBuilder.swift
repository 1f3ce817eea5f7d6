/// Builds keyed archives in the layout of NSKeyedArchiver: equal plain values and classes once.
struct KeyedArchiveBuilder {
  private var objects: [PropertyList] = [.string(KeyedArchive.nullText)]
  /// Keyed by bytes, because strings and numbers can be equal and yet have different bytes.
  private var plainObjects: [[UInt8]: UInt32] = [:]
  private var classes: [String: UInt32] = [:]

  /// The reference to nil.
  static let null = PropertyList.uid(0)

  /// Reserves the position of an object whose parts follow it.
  mutating func reserve() -> UInt32 {
    objects.append(.null)
    return UInt32(objects.count - 1)
  }

  /// Sets the object at a reserved position.
  mutating func fill(_ uid: UInt32, _ members: PropertyListDictionary) {
    objects[Int(uid)] = .dictionary(members)
  }

  /// Adds a string, a number, a Boolean or data.
  mutating func plain(_ value: PropertyList) -> PropertyList {
    // A value that is too large is reported when the archive is written.
    let bytes = try? value.encoded(as: .binary)
    if let bytes, let uid = plainObjects[bytes] { return .uid(uid) }
    let uid = reserve()
    objects[Int(uid)] = value
    if let bytes { plainObjects[bytes] = uid }
    return .uid(uid)
  }

  /// Adds a class by its name and the names of its superclasses.
  mutating func classNamed(_ names: String...) -> PropertyList {
    if let uid = classes[names[0]] { return .uid(uid) }
    let uid = reserve()
    classes[names[0]] = uid
    fill(
      uid,
      ["$classname": .string(names[0]), "$classes": .array(names.map(PropertyList.string))]
    )
    return .uid(uid)
  }

  /// Adds an NSURL without a base.
  mutating func url(_ text: String) -> PropertyList {
    let uid = reserve()
    let relative = plain(.string(text))
    fill(
      uid,
      ["NS.base": Self.null, "$class": classNamed("NSURL", "NSObject"), "NS.relative": relative]
    )
    return .uid(uid)
  }

  /// Adds an NSMutableDictionary of plain values.
  mutating func dictionary(_ members: PropertyListDictionary) -> PropertyList {
    let uid = reserve()
    let keys = members.entries.map { plain(.string($0.key)) }
    let values = members.entries.map { plain($0.value) }
    let name = "NSMutableDictionary"
    fill(
      uid,
      [
        "NS.keys": .array(keys), "NS.objects": .array(values),
        "$class": classNamed(name, "NSDictionary", "NSObject"),
      ]
    )
    return .uid(uid)
  }

  /// Returns the archive with a root object.
  func archive(root: UInt32, under key: KeyedArchive.RootKey) -> KeyedArchive {
    KeyedArchive(objects: objects, root: root, under: key)
  }
}
