extension KeyedArchive {
  /// Whether several references lead to an object, so that changing it would affect others.
  private func isShared(_ uid: UInt32) -> Bool {
    var count = 0
    for object in objects { count += object.countReferences(to: uid) }
    for entry in top.entries { count += entry.value.countReferences(to: uid) }
    return count > 1
  }

  /// Sets or removes a member of the NSDictionary at a position.
  ///
  /// Objects that others share are not changed. Objects that are no longer referenced are emptied, so
  /// that no secret remains.
  ///
  /// - Throws: ``ResumeDataError`` with `malformed` if there is no dictionary.
  /// - Complexity: O(*n*) in the values of the archive.
  mutating func setMember(
    _ name: String,
    of uid: UInt32,
    to value: PropertyList?
  ) throws(ResumeDataError) {
    guard let names = try dictionary(.uid(uid))?.entries.map(\.key),
      var members = objects[Int(uid)].dictionary,
      var keys = members["NS.keys"]?.array, var values = members["NS.objects"]?.array
    else { throw ResumeDataError(.malformed, "the archive has no dictionary \(uid)") }
    let position = names.firstIndex(of: name)
    switch (position, value) {
    case (let position?, let value?):
      if let old = values[position].uid, old != 0, old < objects.count, !isShared(old) {
        objects[Int(old)] = value
        return
      }
      values[position] = try append(value)
    case (let position?, nil):
      clear(values.remove(at: position))
      clear(keys.remove(at: position))
    case (nil, let value?):
      keys.append(try append(.string(name)))
      values.append(try append(value))
    case (nil, nil): return
    }
    members["NS.keys"] = .array(keys)
    members["NS.objects"] = .array(values)
    objects[Int(uid)] = .dictionary(members)
  }

  private mutating func append(_ value: PropertyList) throws(ResumeDataError) -> PropertyList {
    // A damaged archive may refer to positions beyond its end. They must not become valid.
    let dangling = danglingReferences()
    while dangling.contains(UInt64(objects.count)) {
      objects.append(.dictionary(PropertyListDictionary()))
    }
    guard let uid = UInt32(exactly: objects.count) else {
      throw ResumeDataError(.tooLarge, "the archive has too many objects")
    }
    objects.append(value)
    return .uid(uid)
  }

  /// The positions beyond the end of the table that something refers to.
  private func danglingReferences() -> Set<UInt64> {
    var found: Set<UInt64> = []
    let end = objects.count
    for value in objects + top.entries.map(\.value) {
      value.forEachReference { uid in if uid >= end { found.insert(UInt64(uid)) } }
    }
    return found
  }

  /// Empties an object whose only reference is about to be removed.
  private mutating func clear(_ reference: PropertyList) {
    guard let uid = reference.uid, uid != 0, uid < objects.count, !isShared(uid) else { return }
    objects[Int(uid)] = .string(Self.nullText)
  }
}

extension PropertyList {
  /// The number of references to an object within the value.
  fileprivate func countReferences(to uid: UInt32) -> Int {
    var count = 0
    forEachReference { if $0 == uid { count += 1 } }
    return count
  }

  /// Calls `body` with each reference within the value.
  fileprivate func forEachReference(_ body: (UInt32) -> Void) {
    switch self {
    case .uid(let uid): body(uid)
    case .array(let values), .set(let values): for value in values { value.forEachReference(body) }
    case .dictionary(let members):
      for entry in members.entries { entry.value.forEachReference(body) }
    case .null, .bool, .integer, .real, .date, .data, .string: break
    }
  }
}
