#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// The rules for records that come from a file. `add` and `set` apply the same rules to the values
// that they accept, so whatever a command stores is valid here.

extension DownloadRecord {
  /// Throws unless a command or an engine could have stored the record.
  ///
  /// - Parameter acceptsHiddenFolder: Whether the folder may be hidden.
  /// - Throws: ``RecordStoreError``.
  package func validate(acceptsHiddenFolder: Bool) throws(RecordStoreError) {
    try validateSources()
    try validateNames(acceptsHiddenFolder: acceptsHiddenFolder)
    try validateNumbers()
    try validateVersions()
    try validateDates()
    try RecordLimits.requireTags(tags)
    for text in [expectedDigest, verifiedDigest, refreshed?.verifiedDigest] {
      guard let text else { continue }
      guard try Digest(text).text == text else {
        throw RecordStoreError(.invalidDigest, "'\(text)' is not a digest in its stored form")
      }
    }
    // They are sent back to the server.
    let texts =
      [
        entityTag, lastModified, validatorOrigin, refreshed?.entityTag, refreshed?.lastModified,
        refreshed?.validatorOrigin,
      ]
    guard !texts.contains(where: { $0?.hasControlCharacters == true }) else {
      throw invalid("its entity tag or date has control characters")
    }
    guard isConsistent, ranges == nil || state != .completed else {
      throw invalid("its ranges contradict its byte count")
    }
    if state == .completed {
      guard let size = fileIdentity?.size, completedAt != nil else {
        throw invalid("it is complete, but has no time of completion or no identity of its file")
      }
      guard received == size, expected == size else {
        throw invalid("it is complete, but its file has \(size) bytes and \(received) are counted")
      }
    }
  }

  private func validateSources() throws(RecordStoreError) {
    try RecordIdentity.validate(url)
    for mirror in mirrors { try RecordIdentity.validate(mirror) }
    for attempt in attempts { try RecordIdentity.validate(attempt.url) }
    for key in keys { try RecordIdentity.validate(key: key) }
    guard RecordIdentity.isID(id) else {
      throw invalid("its id is not 16 hexadecimal digits")
    }
  }

  private func validateNames(acceptsHiddenFolder: Bool) throws(RecordStoreError) {
    guard
      try FileLayout.validatedFolder(folder, acceptsHidden: acceptsHiddenFolder) == folder
    else {
      throw RecordStoreError(.invalidName, "'\(folder)' is not a folder in its stored form")
    }
    guard SafeFilename.sanitized(filename).utf8.elementsEqual(filename.utf8) else {
      throw RecordStoreError(.invalidName, "'\(filename)' is not a safe file name")
    }
    guard !root.isEmpty, !root.hasControlCharacters else {
      throw RecordStoreError(.invalidName, "'\(root)' is not the name of a root")
    }
    let expected = FileLayout.destination(root: root, folder: folder, filename: filename)
    guard destination.utf8.elementsEqual(expected.utf8) else {
      throw invalid("its destination '\(destination)' is not that of its root, folder and name")
    }
  }

  private func validateNumbers() throws(RecordStoreError) {
    let sizes =
      [received, resolvedBytes] + attempts.map(\.received)
      + [expected, fileIdentity?.size, replacedFileIdentity?.size, partialIdentity?.size]
      .compactMap { $0 }
    guard sizes.allSatisfy(RecordLimits.isSize) else {
      throw invalid("a byte count is negative or above \(RecordLimits.fileSize)")
    }
    guard (0...RecordLimits.generation).contains(generation) else {
      throw invalid("its generation is negative or above \(RecordLimits.generation)")
    }
    guard [failedAttempts, unresolvedStarts].allSatisfy((0...RecordLimits.count).contains),
      attempts.count <= Attempt.limit
    else { throw invalid("a number of attempts is out of range") }
    guard RecordLimits.isRate(bytesPerSecond), RecordLimits.isConnectionCount(connections) else {
      throw invalid("a rate limit or a number of connections is not above zero")
    }
    guard RecordLimits.isRefreshPeriod(refreshEvery) else {
      throw invalid("the time between two refreshes is not from a minute to a year")
    }
  }

  private func validateVersions() throws(RecordStoreError) {
    guard RecordLimits.isVersionCount(keepVersions),
      keptVersions.count <= 2 * Int(RecordLimits.versionCount.upperBound)
    else { throw invalid("the number of previous versions is out of range") }
    for version in keptVersions {
      guard RecordLimits.isSize(version.identity.size), version.number > 0,
        SafeFilename.sanitized(version.filename).utf8.elementsEqual(version.filename.utf8)
      else { throw invalid("a previous version has an invalid name, number or size") }
    }
  }

  private func validateDates() throws(RecordStoreError) {
    let dates =
      [createdAt, updatedAt] + attempts.map(\.at) + refreshDates
      + [
        nextRetryAt, completedAt, notBefore, partialWrittenAt, checkedAt, refreshed?.completedAt,
      ].compactMap { $0 }
    guard dates.allSatisfy(RecordLimits.isDate) else {
      throw invalid("a date is not in the years 1 to 9999")
    }
  }

  private func invalid(_ reason: String) -> RecordStoreError {
    RecordStoreError(.invalidRecord, "the record of '\(Redaction.url(url))' is invalid: \(reason)")
  }
}

extension RequestHeaders {
  /// Throws unless a command could have stored the fields.
  ///
  /// - Throws: ``RecordStoreError``.
  func validate() throws(RecordStoreError) {
    guard RecordIdentity.isID(recordID),
      RecordIdentity.origin(of: origin) == origin, !origin.hasControlCharacters
    else { throw RecordStoreError(.invalidRecord, "header fields have an invalid id or origin") }
    for field in fields { try field.validateForSending() }
  }
}

extension HeaderField {
  /// The names of fields that are set for each request.
  private static let reserved: Set = [
    "range", "if-range", "accept-encoding", "host", "connection", "content-length",
    "transfer-encoding",
  ]

  /// Whether the field is set for each request, so that the command line does not accept it.
  package var isReserved: Bool { Self.reserved.contains(name.lowercased()) }

  /// Throws unless a download may send the field: as ``validate()``, and not for a field that is set
  /// for each request.
  ///
  /// - Throws: ``RecordStoreError`` with `invalidHeader`.
  func validateForSending() throws(RecordStoreError) {
    try validate()
    guard !isReserved else {
      throw RecordStoreError(.invalidHeader, "the header field '\(name)' is set for each request")
    }
  }

  /// Throws unless the name and the value can be sent (RFC 9110, 5.1 and 5.5).
  ///
  /// The message does not contain the value, which may be a secret.
  ///
  /// - Throws: ``RecordStoreError`` with `invalidHeader`.
  package func validate() throws(RecordStoreError) {
    let isName =
      !name.isEmpty
      && name.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
          || "!#$%&'*+-.^_`|~".utf8.contains(byte)
      }
    guard isName else {
      throw RecordStoreError(
        .invalidHeader,
        "the name of a header field consists of letters, digits and hyphens, without blanks"
      )
    }
    guard value.utf8.allSatisfy({ $0 == 9 || ($0 >= 0x20 && $0 != 0x7F) }) else {
      throw RecordStoreError(
        .invalidHeader,
        "the value of the header field '\(name)' is invalid: it has control characters"
      )
    }
  }
}

extension PieceDigests {
  /// Throws unless a command or an engine could have stored the digests.
  ///
  /// - Throws: ``RecordStoreError``.
  func validate() throws(RecordStoreError) {
    guard RecordIdentity.isID(recordID), isComplete else {
      throw RecordStoreError(
        .invalidDigest,
        "the digests are not those of the pieces of \(byteCount) bytes"
      )
    }
  }
}

extension Root {
  /// Throws unless the path is absolute and in its stored form.
  ///
  /// - Throws: ``RecordStoreError``.
  func validate() throws(RecordStoreError) {
    guard !name.isEmpty, !name.hasControlCharacters, !path.hasControlCharacters,
      try Self.validatedPath(path).utf8.elementsEqual(path.utf8)
    else {
      throw RecordStoreError(
        .invalidName,
        "'\(path)' cannot be the root '\(name)': its path is not in its stored form"
      )
    }
  }

  /// Returns an absolute path without a trailing slash.
  ///
  /// - Throws: ``RecordStoreError`` with `invalidName` for a relative path, for `..`, and for a path
  ///   that is too long or has a zero byte.
  static func validatedPath(_ path: String) throws(RecordStoreError) -> String {
    func refuse(_ why: String) -> RecordStoreError {
      RecordStoreError(.invalidName, "'\(path)' cannot be a root: \(why)")
    }
    guard path.utf8.first == UInt8(ascii: "/") else { throw refuse("it is not absolute") }
    guard path.utf8.count <= RecordLimits.rootLength else {
      throw refuse("it is longer than \(RecordLimits.rootLength) bytes")
    }
    guard !path.utf8.contains(0) else { throw refuse("it has a zero byte") }
    guard
      !path.utf8.split(separator: UInt8(ascii: "/")).contains(where: { $0.elementsEqual("..".utf8) }
      )
    else { throw refuse("it contains '..'") }
    let end = path.utf8.lastIndex { $0 != UInt8(ascii: "/") }
    return end.map { String(path[...$0]) } ?? "/"
  }
}

extension String {
  /// Whether the text has a control character, such as a line end or a zero byte.
  package var hasControlCharacters: Bool {
    unicodeScalars.contains { $0.properties.generalCategory == .control }
  }
}
