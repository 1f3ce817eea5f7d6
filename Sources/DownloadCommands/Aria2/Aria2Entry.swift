internal import DownloadStore

/// A download in aria2's input file and session format.
struct Aria2Entry: Sendable, Equatable {
  /// The URLs and the options of the download, each line with its line feed.
  private(set) var text: String
  /// The properties of the record that the format cannot express, by the name of the option or the
  /// field.
  private(set) var omitted: [String] = []

  /// Creates the entry of a record.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - headers: The header fields that were given for it.
  ///   - folder: The path of the folder of its file.
  init(_ record: DownloadRecord, headers: [HeaderField], folder: String) {
    // A control character in a URL would begin another line or URL.
    let mirrors = record.mirrors.filter { !$0.hasControlCharacters }
    guard !record.url.hasControlCharacters else {
      text = ""
      omitted = ["url"]
      return
    }
    if mirrors.count < record.mirrors.count { omitted.append("mirrors") }
    text = ([record.url] + mirrors).joined(separator: "\t") + "\n"
    add("gid", record.id)
    add("dir", folder)
    // Without `out`, aria2 names the file as the server or the URL does.
    if record.isNameGiven || record.filename != SafeFilename.suggested(byURL: record.url) {
      add("out", record.filename)
    }
    if let digest = record.expectedDigest.flatMap({ try? Digest($0) }) {
      add("checksum", "\(Self.name(of: digest.algorithm))=\(digest.hexadecimal)")
    }
    var taken: Set<String> = []
    for field in headers {
      let name = field.name.lowercased()
      // The options override each other; header fields do not.
      let hasOption = name == "referer" || name == "user-agent"
      if hasOption, field.value != "*", taken.insert(name).inserted {
        add(name, field.value)
      } else {
        add("header", "\(field.name): \(field.value)")
      }
    }
    if record.intent == .pause || record.intent == .cancel { add("pause", "true") }
    if let limit = record.bytesPerSecond { add("max-download-limit", String(limit)) }
    if let connections = record.connections { add("split", String(connections)) }
    if !record.tags.isEmpty { omitted.append("tags") }
    if record.priority != 0 { omitted.append("priority") }
    if record.notBefore != nil { omitted.append("notBefore") }
    if record.keepVersions != nil { omitted.append("keepVersions") }
    if record.refreshEvery != nil { omitted.append("refreshEvery") }
    if record.isHeld { omitted.append("heldByHand") }
  }

  /// Adds an option line, unless the format cannot express the value: aria2 trims blanks at both
  /// ends, and a control character could begin another option.
  private mutating func add(_ name: String, _ value: String) {
    let isPlain =
      !value.isEmpty && value.utf8.first != UInt8(ascii: " ")
      && value.utf8.last != UInt8(ascii: " ")
      && value.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    guard isPlain else { return omitted.append(name) }
    text += " \(name)=\(value)\n"
  }

  private static func name(of algorithm: Digest.Algorithm) -> String {
    switch algorithm {
    case .md5: "md5"
    case .sha1: "sha-1"
    case .sha256: "sha-256"
    case .sha512: "sha-512"
    }
  }
}
