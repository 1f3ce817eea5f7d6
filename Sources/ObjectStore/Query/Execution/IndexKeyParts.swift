extension ModelTables.Index {
  /// Where the content of the first text in the key ends that was cut; `nil` when none was.
  func startOfCut(_ key: UnsafeRawBufferPointer) -> Int? {
    var offset = 0
    for part in parts {
      guard let end = unsafe self.end(of: part, key, from: offset) else { return nil }
      if end.isCut { return end.offset - 10 }
      offset = end.offset
    }
    return nil
  }

  /// What the key begins with: its first parts, or `nil` when it does not have so many.
  func prefix(ofParts count: Int, of key: [UInt8]) -> [UInt8]? {
    unsafe key.withUnsafeBytes { bytes in
      var offset = 0
      for part in parts.prefix(count) {
        guard let end = unsafe self.end(of: part, bytes, from: offset) else { return nil }
        offset = end.offset
      }
      return Array(key.prefix(offset))
    }
  }

  /// Where a part of the key ends, and whether it is a text that was cut.
  private func end(
    of part: Part,
    _ key: UnsafeRawBufferPointer,
    from start: Int
  ) -> (offset: Int, isCut: Bool)? {
    guard start < key.count else { return nil }
    guard unsafe key[start] != 0 else { return (start + 1, false) }
    if let width = part.width {
      let end = start + 1 + width
      return end <= key.count ? (end, false) : nil
    }
    var offset = start + 1
    while offset + 1 < key.count {
      let next = unsafe key[offset] == 0 ? key[offset + 1] : nil
      switch next {
      case nil: offset += 1
      case 0: return (offset + 2, false)
      case 1: return offset + 10 <= key.count ? (offset + 10, true) : nil
      default: offset += 2
      }
    }
    return nil
  }
}
