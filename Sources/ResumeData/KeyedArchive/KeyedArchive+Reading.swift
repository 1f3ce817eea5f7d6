/// Decodes values from the table of objects.
///
/// A value is either a reference (``PropertyList/uid(_:)``) or the value itself. Among objects of
/// classes only strings, data, dictionaries and URLs are decoded, recognized by the names of their
/// members. `nil` stands for the archive's `$null`.
extension KeyedArchive {
  /// Returns the object that a value refers to, or the value itself.
  ///
  /// - Throws: ``ResumeDataError`` with `malformed` if the object does not exist.
  package func object(_ value: PropertyList) throws(ResumeDataError) -> PropertyList? {
    guard case .uid(let uid) = value else { return value }
    guard uid < objects.count else {
      throw ResumeDataError(.malformed, "the archive has no object \(uid)")
    }
    let object = objects[Int(uid)]
    return uid == 0 && object.string == Self.nullText ? nil : object
  }

  /// The text of a string or of an NSString.
  ///
  /// - Throws: ``ResumeDataError`` with `malformed` when it is something else.
  package func text(_ value: PropertyList) throws(ResumeDataError) -> String? {
    guard let object = try object(value) else { return nil }
    if let text = object.string ?? object.dictionary?["NS.string"]?.string { return text }
    throw unexpected("text", object)
  }

  /// The number of an integer.
  ///
  /// - Throws: ``ResumeDataError`` with `malformed` when it is something else.
  package func integer(_ value: PropertyList) throws(ResumeDataError) -> Int64? {
    guard let object = try object(value) else { return nil }
    if let number = object.integer { return number }
    throw unexpected("an integer", object)
  }

  /// The number of an integer or of a real number.
  ///
  /// - Throws: ``ResumeDataError`` with `malformed` when it is something else.
  package func number(_ value: PropertyList) throws(ResumeDataError) -> Double? {
    guard let object = try object(value) else { return nil }
    switch object {
    case .integer(let number): return Double(number)
    case .real(let number): return number
    default: throw unexpected("a number", object)
    }
  }

  /// The bytes of data or of an NSData.
  ///
  /// - Throws: ``ResumeDataError`` with `malformed` when it is something else.
  package func data(_ value: PropertyList) throws(ResumeDataError) -> [UInt8]? {
    guard let object = try object(value) else { return nil }
    if let data = object.data ?? object.dictionary?["NS.data"]?.data { return data }
    throw unexpected("data", object)
  }

  /// The members of an NSDictionary, in their order; the values may be references.
  ///
  /// - Throws: ``ResumeDataError`` with `malformed` when it is something else, or when its names are
  ///   no texts or occur twice.
  package func dictionary(
    _ value: PropertyList
  ) throws(ResumeDataError) -> PropertyListDictionary? {
    guard let object = try object(value) else { return nil }
    guard let keys = object.dictionary?["NS.keys"]?.array,
      let values = object.dictionary?["NS.objects"]?.array, keys.count == values.count
    else { throw unexpected("a dictionary", object) }
    var members = PropertyListDictionary()
    for (key, value) in zip(keys, values) {
      guard let name = try text(key), members.append(value, for: name) else {
        throw ResumeDataError(.malformed, "the archive has a dictionary whose names are no names")
      }
    }
    return members
  }

  /// The absolute text of an NSURL, resolved against its bases (RFC 3986, section 5).
  ///
  /// - Throws: ``ResumeDataError`` with `malformed` when it is something else, and `tooLarge` when
  ///   the bases have no end.
  package func urlText(_ value: PropertyList) throws(ResumeDataError) -> String? {
    guard let first = try object(value) else { return nil }
    var url = first
    var texts: [String] = []
    while texts.count < 8 {
      guard let members = url.dictionary, let relative = members["NS.relative"],
        let text = try text(relative)
      else { throw unexpected("a URL", url) }
      texts.append(text)
      guard let reference = members["NS.base"], let base = try object(reference) else {
        // The outermost base is last.
        return texts.dropLast().reversed().reduce(text) { URLReference.resolve($1, against: $0) }
      }
      url = base
    }
    throw ResumeDataError(.tooLarge, "the archive has a URL with too many bases")
  }

  /// The name of an object's class; `nil` if it has none.
  package func className(of object: PropertyList) -> String? {
    guard let reference = object.dictionary?["$class"], case .uid(let uid) = reference,
      uid < objects.count
    else { return nil }
    return objects[Int(uid)].dictionary?["$classname"]?.string
  }

  private func unexpected(_ kind: String, _ object: PropertyList) -> ResumeDataError {
    let name = className(of: object).map { ", but a \($0.prefix(64))" } ?? ""
    return ResumeDataError(.malformed, "what should be \(kind) in the archive is none\(name)")
  }
}
