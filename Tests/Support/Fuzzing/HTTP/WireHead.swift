internal import DownloadStore
internal import Foundation

/// A response head as sent through the socket.
enum WireHead {
  /// The lines, with every `Location` on this machine: a fuzzer connects to no other.
  static func localized(
    _ lines: [[UInt8]],
    requestedFrom base: String,
    _ authority: String
  ) -> [[UInt8]] {
    let port = authority.split(separator: ":").last ?? ""
    return lines.compactMap { line in
      let text = String(decoding: line, as: UTF8.self)
      guard text.lowercased().hasPrefix("location") else { return line }
      // The server does not support TLS.
      let local = text.replacing("https:", with: "http:").replacing("example.com", with: authority)
        .replacing("example.org", with: "localhost:\(port)")
      let location = local.drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespaces)
      // The transport refuses what cannot be requested.
      guard let url = try? RequestURL(base).resolving(location) else { return Array(local.utf8) }
      let isHere = ["127.0.0.1", "localhost"].contains(url.host)
      return isHere && url.port == Int(port) ? Array(local.utf8) : nil
    }
  }

  /// The bytes of the complete head.
  static func bytes(of lines: [[UInt8]]) -> [UInt8] {
    lines.flatMap { $0 + [13, 10] } + [13, 10]
  }

  /// Whether URLSession on Linux is known to end the process when it reads the head.
  ///
  /// It computes progress as `Double`, which rounds the largest lengths to 2^63, and then traps. It
  /// takes a line that begins with NUL for the end of a response that it then lacks. It traps if it
  /// cannot make a URL of a `Location` without a scheme. `URLSessionCrashTests` tests these facts.
  /// Truncated heads and trailer fields are never sent.
  static func endsURLSession(_ lines: [[UInt8]]) -> Bool {
    var locations: [String] = []
    for line in lines {
      guard line.first != 0 else { return true }
      // Bytes: for a regular expression, a colon with a combining mark is another character.
      let name = line.prefix { $0 != UInt8(ascii: ":") }
      let value = line.dropFirst(name.count + 1).drop { $0 == 0x20 || $0 == 0x09 }
      switch String(decoding: name, as: UTF8.self).lowercased() {
      case "content-length":
        let digits = value.prefix { $0 == UInt8(ascii: "+") || (0x30...0x39).contains($0) }
        let length = Int64(String(decoding: digits, as: UTF8.self))
        if let length, Double(length) >= 0x1p63 { return true }
      case "location":
        locations.append(
          String(decoding: value, as: UTF8.self).trimmingCharacters(in: .whitespaces)
        )
      default: continue
      }
    }
    // Fields of one name are joined.
    return (locations + [locations.joined(separator: ", ")]).contains(where: endsURLSession(at:))
  }

  /// Whether URLSession on Linux is known to end the process for a redirect to a location.
  ///
  /// It sets the decoded host of a location without a scheme in the URL of the request, and traps if
  /// the result is not a URL, for example because the host has an escaped blank.
  static func endsURLSession(at location: String) -> Bool {
    guard let target = URL(string: location), target.scheme == nil || target.host == nil,
      var components = URLComponents(string: "http://127.0.0.1/")
    else { return false }
    if target.host != nil {
      components.host = target.host
      components.port = target.port
    }
    components.path = target.path.hasPrefix("/") ? target.path : "/\(target.path)"
    components.percentEncodedQuery = target.query
    components.percentEncodedFragment = target.fragment
    return components.url == nil
  }

  /// Whether clients may interpret the entity of a head differently.
  static func isAmbiguous(_ lines: [[UInt8]]) -> Bool {
    let first = lines.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
    guard first.wholeMatch(of: /HTTP\/1\.[01] [2-9][0-9][0-9] [ -~]*/) != nil else { return true }
    var names: Set<String> = []
    for line in lines.dropFirst() {
      let text = String(decoding: line, as: UTF8.self)
      guard let match = text.wholeMatch(of: /([!#-'*+\-.0-9A-Z^-z|~]+): *([ -~]*)/) else {
        return true
      }
      let name = match.1.lowercased()
      let tellsOfEntity = [
        "etag", "last-modified", "content-range", "content-length", "content-encoding",
        "transfer-encoding",
      ]
      if tellsOfEntity.contains(name), !names.insert(name).inserted { return true }
    }
    return false
  }
}
