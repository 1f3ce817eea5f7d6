internal import ArgumentParser
internal import DownloadStore
internal import Foundation

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// What to download and how: the options that `add` and `get` share.
struct RequestOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("What to download.", valueName: "url"))
  var urls: [String] = []

  @Option(
    name: .customShort("o"),
    help: ArgumentHelp("The name of the file; only with one URL.", valueName: "name")
  )
  var filename: String?

  @Option(
    help: ArgumentHelp(
      "What to do when the name is taken: number it, fail, keep the file that is there as the "
        + "finished one, or replace it at the end.",
      valueName: "number|fail|keep|replace"
    ),
    transform: { text in
      guard let collision = NameCollision(rawValue: text) else {
        throw ValidationError("'\(text)' is none of number, fail, keep and replace.")
      }
      return collision
    }
  )
  var ifExists = NameCollision.number

  @Option(help: ArgumentHelp("A folder below the root to put the files into.", valueName: "folder"))
  var folder: String?

  @Option(
    name: .customLong("tag"),
    parsing: .singleValue,
    help: ArgumentHelp("A group that the downloads belong to; may be repeated.", valueName: "tag")
  )
  var tags: [String] = []

  @Option(parsing: .unconditional, help: ArgumentHelp("Higher goes first.", valueName: "n"))
  var priority: Int32 = 0

  @Option(
    name: .customLong("mirror"),
    parsing: .singleValue,
    help: ArgumentHelp(
      "Another URL of the same file; may be repeated; only with one URL.",
      valueName: "url"
    )
  )
  var mirrors: [String] = []

  @Option(
    help: ArgumentHelp(
      "The digest that the file must have: md5, sha1, sha256 or sha512; only with one URL.",
      valueName: "sha256:hex"
    )
  )
  var checksum: String?

  @Option(
    name: .customLong("header"),
    parsing: .singleValue,
    help: ArgumentHelp("A header field to send; may be repeated.", valueName: "'name: value'")
  )
  var headers: [String] = []

  @Option(help: ArgumentHelp("What kind of file it is; else its extension.", valueName: "type"))
  var type: String?

  @Option(
    help: ArgumentHelp(
      "A list: one URL a line, or aria2's input format (out, dir, checksum, header); '-' is "
        + "standard input.",
      valueName: "file"
    ),
    completion: .file()
  )
  var inputFile: String?

  func validate() throws {
    guard !urls.isEmpty || inputFile != nil else {
      throw ValidationError("Nothing to download: give a URL or --input-file.")
    }
    let isOne = urls.count == 1 && inputFile == nil
    guard isOne || filename == nil else { throw ValidationError("-o goes with one URL only.") }
    guard isOne || checksum == nil else {
      throw ValidationError("--checksum goes with one URL only.")
    }
    guard isOne || mirrors.isEmpty else {
      throw ValidationError("--mirror goes with one URL only.")
    }
    if let filename, !FileName.isPlain(filename) {
      throw ValidationError("-o takes a name, not '\(filename)'; a folder goes with --folder.")
    }
    do {
      _ = try checksum.map(Digest.init)
      _ = try folder.map(FileLayout.validatedFolder)
      _ = try headers.map { try HeaderField(line: $0) }
    } catch let error as DownloadStoreError {
      throw ValidationError(error.message)
    } catch let error as CommandFailure {
      throw ValidationError(error.message ?? "")
    }
  }

  /// The requests, and whether some of the input file had to be left out, which is said then.
  ///
  /// - Throws: ``DownloadStoreError``; ``CommandFailure`` when the input file cannot be read.
  func requests() throws -> (requests: [DownloadRequest], isComplete: Bool) {
    var requests: [DownloadRequest] = []
    for url in urls {
      try RecordIdentity.validate(url)
      for mirror in mirrors { try RecordIdentity.validate(mirror) }
      var request = try common(url)
      request.filename = filename
      request.mirrors = mirrors
      request.digest = try checksum.map(Digest.init)
      requests.append(request)
    }
    guard let inputFile else { return (requests, true) }
    let file = InputFile(try Self.text(ofFile: inputFile))
    var isComplete = !file.problems.contains(where: \.isFatal)
    for problem in file.problems {
      Output.current.say("\(inputFile):\(problem.line): \(problem.message)")
    }
    for entry in file.entries {
      do {
        requests.append(try self.request(entry))
      } catch {
        isComplete = false
        let reason = (error as? CommandFailure)?.message ?? "\(error)"
        Output.current.say("\(inputFile):\(entry.line): \(reason)")
      }
    }
    return (requests, isComplete)
  }

  /// A request with what holds for all of them.
  private func common(_ url: String) throws -> DownloadRequest {
    var request = DownloadRequest(url: url)
    request.collision = ifExists
    request.folder = folder ?? ""
    request.tags = Set(tags)
    request.priority = priority
    request.type = type
    request.headers = try headers.map { try HeaderField(line: $0) }
    return request
  }

  private func request(_ entry: InputFile.Entry) throws -> DownloadRequest {
    try RecordIdentity.validate(entry.url)
    for mirror in entry.mirrors { try RecordIdentity.validate(mirror) }
    var request = try common(entry.url)
    request.mirrors = entry.mirrors
    request.filename = entry.filename
    request.folder = try FileLayout.validatedFolder(
      [folder, entry.folder].compactMap { $0 }.joined(separator: "/")
    )
    request.digest = try entry.checksum.map(Digest.init)
    request.headers += try entry.headers.map { try HeaderField(line: $0) }
    return request
  }

  private static func text(ofFile path: String) throws -> String {
    // Opened once: it may be a pipe.
    let descriptor = unsafe path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw CommandFailure(
        SystemCall.status(),
        "\(path) cannot be read: \(SystemCall.reason())"
      )
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: path != "-")
    do {
      return String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
    } catch {
      throw CommandFailure(.inputOutput, "\(path) cannot be read")
    }
  }
}

/// Names of files that people give.
enum FileName {
  /// Whether it is one component that can be a file, and no way out of a folder.
  static func isPlain(_ name: String) -> Bool {
    !name.isEmpty && name != "." && name != ".." && !name.utf8.contains(0)
      && !name.utf8.contains(0x2F) && !name.utf8.contains(0x5C)
  }
}

extension HeaderField {
  /// Header fields that the transport decides on.
  private static let reserved: Set = [
    "range", "if-range", "accept-encoding", "host", "connection", "content-length",
    "transfer-encoding",
  ]

  /// Reads `Name: value` (RFC 9110, 5.1 and 5.5).
  ///
  /// - Throws: ``CommandFailure`` with `usage`.
  init(line: String) throws {
    let tokens = Set("!#$%&'*+-.^_`|~".utf8)
    // The value may be a secret, so that no message repeats it.
    guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else {
      throw CommandFailure(.usage, "a header field is written 'Name: value'")
    }
    let name = String(line[..<colon])
    let isName = name.utf8.allSatisfy { byte in
      tokens.contains(byte) || (0x30...0x39).contains(byte)
        || (0x41...0x5A).contains(byte & 0xDF)
    }
    guard isName else {
      throw CommandFailure(.usage, "'\(name)' is not the name of a header field")
    }
    let value = line[line.index(after: colon)...].trimmingBlanks
    guard !value.isEmpty, value.utf8.allSatisfy({ $0 == 9 || ($0 >= 0x20 && $0 != 0x7F) }) else {
      throw CommandFailure(.usage, "the value of the header field '\(name)' cannot be sent")
    }
    guard !Self.reserved.contains(name.lowercased()) else {
      throw CommandFailure(.usage, "the header field '\(name)' is set by the transfer itself")
    }
    self.init(name: name, value: String(value))
  }
}
