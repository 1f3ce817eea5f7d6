/// The dictionary of resume data in any format.
///
/// Unknown members are preserved.
struct ResumeDictionary: Sendable, Equatable {
  private enum Storage: Sendable, Equatable {
    case plain(PropertyListDictionary)
    /// `members` are the members of the dictionary at `root`; their values are references.
    case archived(KeyedArchive, root: UInt32, members: PropertyListDictionary)
  }

  /// The limits for reading and writing.
  let limits: PropertyListLimits
  private let format: PropertyListFormat
  private var storage: Storage

  /// Decodes a property list.
  ///
  /// - Throws: ``ResumeDataError``; with `notResumeData` if it is not a dictionary.
  init(_ bytes: [UInt8], limits: PropertyListLimits) throws(ResumeDataError) {
    self.limits = limits
    let propertyList = try PropertyList(bytes, limits: limits)
    format = PropertyListFormat(of: bytes) ?? .binary
    guard let members = propertyList.dictionary else {
      throw ResumeDataError(.notResumeData, "the property list holds no dictionary")
    }
    guard KeyedArchive.isArchive(members) else {
      storage = .plain(members)
      return
    }
    let archive = try KeyedArchive(propertyList)
    guard let root = archive.root, let members = try archive.dictionary(.uid(root)) else {
      throw ResumeDataError(.notResumeData, "the keyed archive holds no dictionary")
    }
    storage = .archived(archive, root: root, members: members)
  }

  /// Creates a dictionary in a format.
  ///
  /// - Throws: ``ResumeDataError`` with `notRepresentable` if a keyed archive is asked for and a
  ///   member is not a plain value: it would be decoded as an object of a class.
  init(
    _ members: PropertyListDictionary,
    form: URLSessionResumeData.Form,
    limits: PropertyListLimits = .standard
  ) throws(ResumeDataError) {
    self.limits = limits
    format = form.format
    guard form.isKeyedArchive else {
      storage = .plain(members)
      return
    }
    for entry in members.entries where !Self.isPlain(entry.value) {
      throw ResumeDataError(.notRepresentable, "\(entry.key) is no plain value")
    }
    var builder = KeyedArchiveBuilder()
    guard let root = builder.dictionary(members).uid else {
      throw ResumeDataError(.notRepresentable, "a dictionary is no object")
    }
    let archive = builder.archive(root: root, under: .secure)
    let references = try archive.dictionary(.uid(root)) ?? PropertyListDictionary()
    storage = .archived(archive, root: root, members: references)
  }

  var form: URLSessionResumeData.Form {
    switch storage {
    case .plain: URLSessionResumeData.Form(format, isKeyedArchive: false)
    case .archived: URLSessionResumeData.Form(format, isKeyedArchive: true)
    }
  }

  /// The names of all members, in their order.
  var keys: [String] {
    switch storage {
    case .plain(let members), .archived(_, _, let members): members.entries.map(\.key)
    }
  }

  private func value(_ key: URLSessionResumeData.Key) -> PropertyList? {
    switch storage {
    case .plain(let members), .archived(_, _, let members): members[key.rawValue]
    }
  }

  // MARK: Reading

  func text(_ key: URLSessionResumeData.Key) throws(ResumeDataError) -> String? {
    guard let value = value(key) else { return nil }
    switch storage {
    case .plain: return try Self.expect(value.string, "text")
    case .archived(let archive, _, _): return try archive.text(value)
    }
  }

  func integer(_ key: URLSessionResumeData.Key) throws(ResumeDataError) -> Int64? {
    guard let value = value(key) else { return nil }
    switch storage {
    case .plain: return try Self.expect(value.integer, "an integer")
    case .archived(let archive, _, _): return try archive.integer(value)
    }
  }

  func data(_ key: URLSessionResumeData.Key) throws(ResumeDataError) -> [UInt8]? {
    guard let value = value(key) else { return nil }
    switch storage {
    case .plain: return try Self.expect(value.data, "data")
    case .archived(let archive, _, _): return try archive.data(value)
    }
  }

  private static func expect<Value>(
    _ value: Value?,
    _ kind: String
  ) throws(ResumeDataError) -> Value {
    guard let value else { throw ResumeDataError(.malformed, "what should be \(kind) is none") }
    return value
  }

  // MARK: Changing

  /// Sets or removes a member; nothing else changes.
  mutating func set(
    _ key: URLSessionResumeData.Key,
    to value: PropertyList?
  ) throws(ResumeDataError) {
    switch storage {
    case .plain(var members):
      members[key.rawValue] = value
      storage = .plain(members)
    case .archived(var archive, let root, _):
      try archive.setMember(key.rawValue, of: root, to: value)
      let members = try archive.dictionary(.uid(root)) ?? PropertyListDictionary()
      storage = .archived(archive, root: root, members: members)
    }
  }

  /// Returns the same members in another format.
  ///
  /// - Throws: ``ResumeDataError`` with `notRepresentable` if a member is an object of a class,
  ///   which only a keyed archive can hold.
  func converted(to form: URLSessionResumeData.Form) throws(ResumeDataError) -> ResumeDictionary {
    guard form != self.form else { return self }
    switch storage {
    case .plain(let members): return try ResumeDictionary(members, form: form, limits: limits)
    case .archived(let archive, _, let members):
      var plain = PropertyListDictionary()
      for entry in members.entries {
        guard let value = try archive.object(entry.value) else { continue }
        plain.append(try Self.plain(value, archive, entry.key), for: entry.key)
      }
      return try ResumeDictionary(plain, form: form, limits: limits)
    }
  }

  private static func plain(
    _ object: PropertyList,
    _ archive: KeyedArchive,
    _ key: String
  ) throws(ResumeDataError) -> PropertyList {
    if isPlain(object) { return object }
    if let text = object.dictionary?["NS.string"]?.string { return .string(text) }
    if let data = object.dictionary?["NS.data"]?.data { return .data(data) }
    throw ResumeDataError(
      .notRepresentable,
      "\(key) is an object that only a keyed archive can hold"
    )
  }

  private static func isPlain(_ value: PropertyList) -> Bool {
    switch value {
    case .bool, .integer, .real, .date, .data, .string: true
    case .null, .uid, .array, .set, .dictionary: false
    }
  }

  /// Encodes the dictionary.
  ///
  /// - Throws: ``ResumeDataError`` with `notRepresentable` or `tooLarge`.
  func encoded() throws(ResumeDataError) -> [UInt8] {
    let propertyList =
      switch storage {
      case .plain(let members): PropertyList.dictionary(members)
      case .archived(let archive, _, _): archive.propertyList
      }
    return try propertyList.encoded(as: format, limits: limits)
  }
}
