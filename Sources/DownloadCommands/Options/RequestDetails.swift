internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadStore
internal import Foundation

/// What the options say about the header fields and the digests of new downloads, mostly from files.
struct RequestDetails {
  var identity: ClientIdentity
  var referer: String?
  var checksumFiles: [String] = []

  /// The files that are read, each with its option.
  var files: [(option: String, path: String)] {
    identity.files + checksumFiles.map { ("--checksum-file", $0) }
  }

  /// Throws if the value of an option is not valid.
  ///
  /// - Throws: `ValidationError`.
  func validate() throws {
    if let referer {
      do {
        try RecordIdentity.validate(referer)
      } catch {
        throw ValidationError(
          "--referer requires an http or https URL; use --header for another value."
        )
      }
    }
    for file in checksumFiles { try LocalFile.validate(file, "--checksum-file") }
    do {
      _ = try fields
    } catch let failure as CommandFailure {
      throw ValidationError(failure.message ?? "")
    }
  }

  /// Throws if a header field that one of the options sets is also given by `--header`.
  func requireDistinct(from headers: [HeaderField]) throws(ValidationError) {
    let options = [
      ("user-agent", identity.userAgent == nil ? nil : "--user-agent"),
      ("referer", referer == nil ? nil : "--referer"),
      (
        "authorization",
        identity.netrc ? "--netrc" : identity.netrcFile == nil ? nil : "--netrc-file"
      ),
      ("cookie", identity.cookieFile == nil ? nil : "--cookie-file"),
    ]
    for (name, option) in options {
      guard let option, let field = headers.first(where: { $0.name.lowercased() == name }) else {
        continue
      }
      throw ValidationError("\(option) and --header '\(field.name): …' cannot be combined.")
    }
  }

  /// The header fields that do not depend on the URL.
  var fields: [HeaderField] {
    get throws {
      let agent = try identity.userAgent.map { try HeaderField(line: "User-Agent: \($0)") }
      let referer = try referer.map { try HeaderField(line: "Referer: \(RefererText.sent($0))") }
      return [agent, referer].compactMap { $0 }
    }
  }

  /// Reads the files.
  ///
  /// - Throws: ``CommandFailure``.
  func read(at time: Date) throws -> RequestCompletion {
    var completion = RequestCompletion(fields: try fields, time: time)
    if let path = identity.netrcFile ?? (identity.netrc ? Self.homeNetrc : nil) {
      do {
        completion.netrc = try NetrcFile(bytes: try Self.bytes(ofFile: path))
        completion.netrcPath = path
      } catch let error as NetrcFile.Invalid {
        throw CommandFailure(.damaged, "\(path):\(error.line): \(error.reason)")
      }
    }
    if let path = identity.cookieFile {
      completion.cookies = try Self.cookies(ofFile: path)
      completion.cookiePath = path
    }
    for path in checksumFiles {
      let file = try ChecksumFile(try Self.bytes(ofFile: path), at: path)
      completion.checksums = completion.checksums ?? ChecksumFile()
      completion.checksums?.merge(file)
    }
    return completion
  }

  private static var homeNetrc: String {
    let home = ProcessInfo.processInfo.environment["HOME"].flatMap { $0.isEmpty ? nil : $0 }
    return "\(home ?? NSHomeDirectory())/.netrc"
  }

  private static func cookies(ofFile path: String) throws -> CookieFile {
    let cookies = CookieFile(try text(ofFile: path))
    guard let line = cookies.invalidLines.first else { return cookies }
    guard !cookies.cookies.isEmpty else {
      throw CommandFailure(
        .damaged,
        "\(path):\(line): not a cookie file in the Netscape format, whose seven fields are separated by tabs"
      )
    }
    let count = cookies.invalidLines.count
    let times = count > 1 ? " (\(count) times)" : ""
    Output.current.say("\(path):\(line): skipped a line that is not a cookie\(times)")
    return cookies
  }

  static let longestFile = 64 << 20

  private static func text(ofFile path: String) throws -> String {
    String(decoding: try bytes(ofFile: path), as: UTF8.self)
  }

  static func bytes(ofFile path: String) throws -> [UInt8] {
    let bytes = try ResumeDataFile.read(path, upTo: longestFile + 1)
    guard bytes.count <= longestFile else {
      throw CommandFailure(.damaged, "\(path) is longer than 64 MiB")
    }
    return bytes
  }
}

/// The values of `Referer`.
enum RefererText {
  /// Returns the URL without user info and fragment, which must not be sent (RFC 9110, 10.1.3).
  static func sent(_ url: String) -> String {
    // Parses bytes: a number sign and a following variation selector are one character.
    let url = url.utf8.prefix { $0 != UInt8(ascii: "#") }
    guard let separator = url.firstRange(of: "://".utf8) else { return "\(Substring(url))" }
    let authority = url[separator.upperBound...].prefix {
      $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?")
    }
    guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return "\(Substring(url))" }
    return "\(Substring(url[..<separator.upperBound]))\(Substring(url[url.index(after: at)...]))"
  }
}

/// The header fields and digests that options and files add to requests.
struct RequestCompletion: Sendable {
  /// The header fields for every request.
  var fields: [HeaderField]
  var netrc: NetrcFile?
  /// The path of ``netrc``.
  var netrcPath = ""
  var cookies: CookieFile?
  /// The path of ``cookies``.
  var cookiePath = ""
  var checksums: ChecksumFile?
  /// The time at which cookies expire.
  var time: Date

  /// Adds the fields that the request does not have, and its digest.
  ///
  /// Credentials and cookies are those for the request's own URL. The store binds them to its
  /// origin, so mirrors and redirect targets elsewhere do not receive them.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - document: The URL of the document that lists the request; `nil` if the user does.
  /// - Throws: ``CommandFailure`` if the checksum files have no digest, or several, for the file, or
  ///   if a login contains a colon.
  func complete(_ request: inout DownloadRequest, ofDocumentAt document: String? = nil) throws {
    try addFields(to: &request, ofDocumentAt: document)
    guard let checksums, request.digest == nil else { return }
    request.digest = try digest(of: request, in: checksums)
  }

  /// Adds the fields that the request does not have.
  ///
  /// A host that only a document names receives no field that may be a credential, and not the
  /// default login of a netrc file.
  ///
  /// - Throws: ``CommandFailure`` if a login contains a colon.
  func addFields(to request: inout DownloadRequest, ofDocumentAt document: String? = nil) throws {
    let source = document ?? request.url
    request.addMissing(HeaderScope.fields(fields, givenFor: source, sentTo: request.url))
    let isKnown = RecordIdentity.origin(of: source) == RecordIdentity.origin(of: request.url)
    if let credentials = try netrcField(for: request.url, allowsDefault: isKnown) {
      request.addMissing([credentials])
    }
    if let value = cookies?.header(for: request.url, at: time) {
      request.addMissing([HeaderField(name: "Cookie", value: value)])
    }
  }

  /// Says which of the files have nothing for a URL; `nil` if none.
  func missingCredentials(for url: String) -> String? {
    guard let request = try? RequestURL(url) else { return nil }
    let host = RequestURL.comparableHost(request.host)
    var texts: [String] = []
    if let netrc, request.userInfo == nil, netrc.credentials(for: request.host) == nil {
      texts.append("\(netrcPath) has no login for '\(host)'")
    }
    if let cookies, cookies.header(for: url, at: time) == nil {
      texts.append("\(cookiePath) has no cookie for this URL")
    }
    return texts.isEmpty ? nil : texts.joined(separator: "; ")
  }

  private func netrcField(for url: String, allowsDefault: Bool) throws -> HeaderField? {
    guard let netrc, let request = try? RequestURL(url), request.userInfo == nil,
      let found = netrc.credentials(for: request.host, allowsDefault: allowsDefault)
    else { return nil }
    let host = RequestURL.comparableHost(request.host)
    guard !found.login.contains(":") else {
      throw CommandFailure(
        .usage,
        "the login of '\(host)' in the netrc file contains a colon, which HTTP cannot send"
      )
    }
    return HeaderField(name: "Authorization", value: HeaderField.basic(found.bytes))
  }

  private func digest(of request: DownloadRequest, in checksums: ChecksumFile) throws -> Digest {
    if let digest = try checksums.digest(ofFileAt: request.url, named: request.filename) {
      return digest
    }
    let path = (try? RequestURL(request.url))?.path ?? ""
    let last = path.split(separator: "/").last.map(String.init) ?? ""
    let name = last.removingPercentEncoding ?? last
    throw CommandFailure(
      .failed,
      "the checksum files have no checksum of '\(Redaction.url(name))': add it, or pass "
        + "--checksum"
    )
  }
}

extension DownloadRequest {
  /// Adds header fields, except those whose names the request has.
  ///
  /// - Parameter fields: The fields of one source, which may have several of a name.
  mutating func addMissing(_ fields: [HeaderField]) {
    let names = Set(headers.map { $0.name.lowercased() })
    headers += fields.filter { !names.contains($0.name.lowercased()) }
  }
}
