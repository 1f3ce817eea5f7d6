extension URLRequestArchive {
  /// Returns the same request with its names in another spelling and its root under the matching name.
  ///
  /// The unkeyed spelling has its root under `root`, the keyed one under
  /// `NSKeyedArchiveRootObjectKey`. Only names change, so the conversion is reversible. An archive that
  /// already has the spelling is returned unchanged.
  ///
  /// - Throws: ``ResumeDataError`` with `notRepairable` if the archive does not pass ``checkNames()``, so
  ///   that renaming would be a guess.
  package func respelled(as target: Spelling) throws(ResumeDataError) -> URLRequestArchive {
    let rootKey: KeyedArchive.RootKey = target == .unkeyed ? .plain : .secure
    guard spelling != target || archive.rootKeys != [rootKey] else { return self }
    let count = try checkNames()
    var members = members
    var archive = archive
    if spelling != target {
      for index in 0..<count {
        let name = RequestKey.name(of: index, spelling)
        guard members.rename(name, to: RequestKey.name(of: index, target)) else {
          throw Self.notRepairable("the name of object \(index) is taken")
        }
      }
      let name = RequestKey.properties(after: count, spelling)
      let newName = RequestKey.properties(after: count, target)
      guard members[name] == nil || members.rename(name, to: newName) else {
        throw Self.notRepairable("the name of the properties is taken")
      }
    }
    for key in archive.rootKeys where key != rootKey {
      guard archive.top.rename(key.rawValue, to: rootKey.rawValue) else {
        throw Self.notRepairable("the archive has two root objects")
      }
    }
    archive.objects[Int(root)] = .dictionary(members)
    return try URLRequestArchive(archive)
  }

  /// Checks that the names belong to one spelling, without gaps.
  ///
  /// - Returns: The number of objects.
  /// - Throws: ``ResumeDataError`` with `notRepairable` unless the root is object 1, `$2` equals the
  ///   number of objects, and only `$0`, `$1` and `$2` precede them.
  @discardableResult
  package func checkNames() throws(ResumeDataError) -> Int {
    guard root == 1 else {
      throw Self.notRepairable("the root of the archive is object \(root) instead of 1")
    }
    let names = members.entries.map(\.key)
    let keyed = names.filter(RequestKey.isKeyed)
    let numbered = names.filter { name in
      name.hasPrefix("$") && Int(name.dropFirst()) != nil
    }
    guard let count = objectCount, count >= 0, count <= names.count else {
      throw Self.notRepairable("the archive does not say how many objects it has")
    }
    var expectedKeyed: [String] = []
    var expectedNumbered = (0..<RequestKey.headerCount).map(RequestKey.unkeyed)
    switch spelling {
    case .keyed:
      expectedKeyed = (0..<count).map(RequestKey.keyed)
      if members[RequestKey.properties] != nil { expectedKeyed.append(RequestKey.properties) }
    case .unkeyed:
      let properties = RequestKey.properties(after: count, .unkeyed)
      expectedNumbered += (0..<count).map { RequestKey.name(of: $0, .unkeyed) }
      if members[properties] != nil { expectedNumbered.append(properties) }
    }
    guard Set(numbered) == Set(expectedNumbered) else {
      throw Self.notRepairable("the numbered names of the archive are not those that it needs")
    }
    guard Set(keyed) == Set(expectedKeyed) else {
      throw Self.notRepairable("the archive says \(count) objects and has others")
    }
    return count
  }

  private static func notRepairable(_ message: String) -> ResumeDataError {
    ResumeDataError(.notRepairable, message)
  }
}
