/// Makes keyed archives as NSKeyedArchiver lays them out: equal plain values and classes once.
struct KeyedArchiveBuilder {
  private var objects: [PropertyList] = [.string(KeyedArchive.nullText)]
  /// By their bytes: texts and numbers can be equal and yet differ.
  private var plainObjects: [[UInt8]: UInt32] = [:]
  private var classes: [String: UInt32] = [:]

  /// The reference to nothing.
  static let null = PropertyList.uid(0)

  /// A place for an object whose parts follow it.
  mutating func reserve() -> UInt32 {
    objects.append(.null)
    return UInt32(objects.count - 1)
  }

  /// Fills a place.
  mutating func fill(_ uid: UInt32, _ members: PropertyListDictionary) {
    objects[Int(uid)] = .dictionary(members)
  }

  /// Adds text, a number, a truth value or data.
  mutating func plain(_ value: PropertyList) -> PropertyList {
    // What is too large to be written is found when the archive is.
    let bytes = try? value.encoded(as: .binary)
    if let bytes, let uid = plainObjects[bytes] { return .uid(uid) }
    let uid = reserve()
    objects[Int(uid)] = value
    if let bytes { plainObjects[bytes] = uid }
    return .uid(uid)
  }

  /// Adds a class, by its name and those of the classes above it.
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

  /// The archive with a root object.
  func archive(root: UInt32, under key: KeyedArchive.RootKey) -> KeyedArchive {
    KeyedArchive(objects: objects, root: root, under: key)
  }
}
