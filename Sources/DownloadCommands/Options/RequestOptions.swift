internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadStore
internal import Foundation
internal import SystemInterface

/// The options of a new download, shared by `add` and `get`.
struct RequestOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp("The URLs to download.", valueName: "url"),
    transform: PositionalWords.split
  )
  var urlLists: [[String]] = []

  var urls: [String] { urlLists.flatMap(\.self) }

  @Option(
    name: [.customShort("o"), .customLong("output"), .customLong("out")],
    help: ArgumentHelp(
      "The file name, or a path: relative to the folder for files, or absolute; with fields such as "
        + "'{host}/{date}/{name}' also for several URLs; '-' is standard output ('get' only).",
      valueName: "path"
    )
  )
  var output: String?

  @Option(
    help: ArgumentHelp(
      "If the file name is taken: number the new file, fail, keep the existing file as the finished "
        + "one, or replace it when the download completes.",
      valueName: "number|fail|keep|replace"
    ),
    completion: .list(NameCollision.allCases.map(\.rawValue)),
    transform: { text in
      guard let collision = NameCollision(rawValue: text) else {
        let words = NameCollision.allCases.map(\.rawValue)
        throw ValidationError(
          "'\(text)' is not one of: \(words.joined(separator: ", "))."
            + Suggestion.text(for: text, among: words)
        )
      }
      return collision
    }
  )
  var ifExists = NameCollision.number

  @Option(help: ArgumentHelp("A folder below the root for the files.", valueName: "folder"))
  var folder: String?

  @Flag(
    name: .customLong("folders-from-url"),
    help: "Put each file into folders that are named after the host and the path of its URL."
  )
  var foldersFromURL = false

  @Option(
    name: .customLong("cut"),
    help: ArgumentHelp(
      "With --folders-from-url, leave out the first n folders of the path.",
      valueName: "n"
    ),
    transform: { try WholeNumber.parse($0, from: 0) }
  )
  var cutFolders: Int?

  @Option(
    name: .customLong("tag"),
    parsing: .singleValue,
    help: ArgumentHelp("A tag for the downloads; repeatable.", valueName: "tag[,tag]"),
    transform: TagList.parse
  )
  var tagLists: [[String]] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Higher starts first; from \(Int32.min) to \(Int32.max); default: 0.",
      valueName: "n"
    ),
    transform: { try WholeNumber.parse($0) }
  )
  var priority: Int32?

  @Option(
    name: .customLong("mirror"),
    parsing: .singleValue,
    help: ArgumentHelp(
      "Another URL of the same file; repeatable; only with one URL.",
      valueName: "url"
    )
  )
  var mirrors: [String] = []

  @Option(
    help: ArgumentHelp(
      "The name that identifies the download instead of the URL: another URL with the same key is "
        + "another source of the file; only with one URL.",
      valueName: "key"
    )
  )
  var key: String?

  @Option(
    name: .customLong("checksum"),
    parsing: .singleValue,
    help: ArgumentHelp(
      "The expected digest: md5, sha1, sha256 or sha512; only with one URL. Repeatable: the "
        + "strongest counts.",
      valueName: "sha256:hex"
    )
  )
  var checksums: [String] = []

  @Option(
    name: [.customShort("H"), .customLong("header")],
    parsing: .singleValue,
    help: ArgumentHelp("A header field to send; repeatable.", valueName: "'name: value'")
  )
  var headers: [String] = []

  @OptionGroup var identity: ClientIdentity

  @Option(
    name: [.customShort("e"), .customLong("referer")],
    help: ArgumentHelp(
      "The header field Referer, stored with the download, without user info and fragment.",
      valueName: "url"
    )
  )
  var referer: String?

  @Option(
    name: .customLong("checksum-file"),
    parsing: .singleValue,
    help: ArgumentHelp(
      "Expect the digests of a local file such as SHA256SUMS, by file name; repeatable.",
      valueName: "file"
    ),
    completion: .file()
  )
  var checksumFiles: [String] = []

  /// The options for the header fields and the digests, side by side with the others: in a debug build,
  /// the parser examines a group four times as often as the group around it.
  var details: RequestDetails {
    RequestDetails(identity: identity, referer: referer, checksumFiles: checksumFiles)
  }

  @Option(
    help: ArgumentHelp(
      "The type, a label of your choice; default: the extension.",
      valueName: "type"
    )
  )
  var type: String?

  @Option(
    name: [.customShort("i"), .customLong("input-file")],
    help: ArgumentHelp(
      "A list of downloads: one URL per line, or aria2's input file format (out, dir, checksum, "
        + "header, referer, user-agent, gid, pause); '-' is standard input.",
      valueName: "file"
    ),
    completion: .file()
  )
  var inputFile: String?

  @Option(
    help: ArgumentHelp(
      "The files of a Metalink document (.meta4) with their mirrors and digests; '-' is standard "
        + "input.",
      valueName: "file|url"
    ),
    completion: .file()
  )
  var metalink: String?

  @Option(
    help: ArgumentHelp(
      "Prefer the mirrors of a Metalink document in these countries, such as de,fr.",
      valueName: "countries"
    ),
    transform: { text in
      let countries = text.lowercased().split(separator: ",").map { $0.trimmingBlanks }
      guard !countries.isEmpty, countries.allSatisfy({ $0.utf8.count == 2 }) else {
        throw ValidationError("'\(text)' is not a list of countries such as de,fr.")
      }
      return Set(countries.map { String($0) })
    }
  )
  var metalinkLocation: Set<String> = []

  func validate() throws {
    try details.validate()
    guard !urls.isEmpty || inputFile != nil || metalink != nil else {
      throw ValidationError("Nothing to download: give a URL, --input-file or --metalink.")
    }
    if let metalink, !MetalinkSource.isURL(metalink) {
      try LocalFile.validate(metalink, "--metalink", orURL: true)
    }
    if let inputFile { try LocalFile.validate(inputFile, "--input-file") }
    guard metalink != nil || metalinkLocation.isEmpty else {
      throw ValidationError("--metalink-location requires --metalink.")
    }
    let isOne = urls.count == 1 && inputFile == nil && metalink == nil
    guard isOne || output == nil || isTemplate else {
      throw ValidationError(
        "-o requires exactly one URL, or fields such as '{host}/{name}'."
      )
    }
    guard isOne || checksums.isEmpty else {
      throw ValidationError("--checksum requires exactly one URL.")
    }
    guard isOne || key == nil else { throw ValidationError("--key requires exactly one URL.") }
    guard isOne || mirrors.isEmpty else {
      throw ValidationError("--mirror requires exactly one URL.")
    }
    try validateFolders()
    if let output, isTemplate {
      try validateTemplate(output)
    } else if let output, !writesOutput {
      do throws(OutputPath.Problem) {
        _ = try OutputPath(output, below: folder)
      } catch {
        throw ValidationError(error.message)
      }
    }
    guard checksums.isEmpty || checksumFiles.isEmpty else {
      throw ValidationError("--checksum and --checksum-file cannot be combined.")
    }
    guard files.count(where: { $0.path == "-" }) < 2 else {
      throw ValidationError("Only one option can read '-', standard input.")
    }
    do {
      _ = try Digest.strongest(of: checksums.map(Digest.init))
      if let key { try RecordIdentity.validate(key: key) }
      try RecordLimits.requireMirrors(mirrors)
      try validateFolder()
      try details.requireDistinct(from: try headers.map { try HeaderField(line: $0) })
    } catch let error as RecordStoreError {
      throw ValidationError(error.message)
    } catch let error as CommandFailure {
      throw ValidationError(error.message ?? "")
    }
  }

  /// Refuses a path of `-o` whose fields cannot be used.
  private func validateTemplate(_ output: String) throws(ValidationError) {
    let template: PathTemplate
    do throws(RecordStoreError) {
      template = try PathTemplate(output)
    } catch {
      throw ValidationError("-o: \(error.message).")
    }
    guard template.root == nil || folder == nil else {
      throw ValidationError("-o with an absolute path and --folder cannot be combined.")
    }
  }

  /// Refuses contradictory options for the folders of files.
  private func validateFolders() throws(ValidationError) {
    guard cutFolders == nil || foldersFromURL else {
      throw ValidationError("--cut requires --folders-from-url.")
    }
    guard foldersFromURL, let output else { return }
    guard !writesOutput, !isTemplate, !output.contains("/") else {
      throw ValidationError("--folders-from-url requires a plain file name for -o.")
    }
  }

  /// Refuses a folder that is not below the folder for files.
  private func validateFolder() throws {
    guard let folder else { return }
    guard folder.hasPrefix("/") || folder.split(separator: "/").contains("..") else {
      _ = try FileLayout.validatedFolder(folder)
      return
    }
    throw ValidationError(
      "--folder must be below the folder for files, and '\(folder)' is not: use -o /PATH/NAME "
        + "or the option --output-folder of 'get' for another place."
    )
  }

  /// Whether the bytes of the file go to standard output.
  var writesOutput: Bool { output == "-" }

  /// Whether the path of `-o` has fields, or braces that stand for themselves.
  private var isTemplate: Bool { output?.contains { "{}".contains($0) } ?? false }

  /// The path of `-o` with its fields; `nil` if it has none.
  ///
  /// Valid after ``validate()``.
  var template: PathTemplate? { isTemplate ? output.flatMap { try? PathTemplate($0) } : nil }

  /// The path of `-o`; `nil` if it is not given, has fields, or is standard output.
  ///
  /// Valid after ``validate()``.
  var place: OutputPath? {
    writesOutput || isTemplate ? nil : output.flatMap { try? OutputPath($0, below: folder) }
  }

  /// The absolute path of the folder that `-o` sets for the root; `nil` if it sets none.
  var outputRoot: String? { template?.root ?? place?.root }

  /// Refuses a path of `-o` that is a folder, a device or a pipe, beside which the file would get a number.
  ///
  /// - Parameter root: The path of the folder for files.
  /// - Throws: ``CommandFailure`` with `usage`.
  func requireRegularFile(below root: String?) throws(CommandFailure) {
    guard let place, let output, let root = place.root ?? root else { return }
    let base = Folder.absolutePath(root)
    let parts = [base == "/" ? "" : base, place.folder, place.name]
    let path = parts.enumerated().filter { $0 == 0 || !$1.isEmpty }.map(\.element)
      .joined(separator: "/")
    let isStandard = ["/dev/stdout", "/dev/stderr"].contains(path) || path.hasPrefix("/dev/fd/")
    var status = stat()
    guard isStandard || statFollowingLinks(path, &status) == 0 else { return }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return
    case S_IFDIR:
      throw CommandFailure(
        .usage,
        "-o must end with a file name, and \(path) is a folder: write -o '\(output)/NAME'"
      )
    default:
      throw CommandFailure(
        .usage,
        "-o: \(path) is not a regular file, and cannot be replaced by one: choose another name, or "
          + "write to standard output with 'get -o -'"
      )
    }
  }

  /// The files that are read, each with its option.
  var files: [(option: String, path: String)] {
    let metalinkFile = metalink.flatMap { MetalinkSource.isURL($0) ? nil : $0 }
    return [inputFile.map { ("--input-file", $0) }, metalinkFile.map { ("--metalink", $0) }]
      .compactMap { $0 } + details.files
  }

  /// Creates a request with the options that apply to all URLs.
  func request(for url: String) throws -> DownloadRequest {
    var request = DownloadRequest(url: url)
    request.collision = ifExists
    request.folder = place?.folder ?? folder ?? ""
    request.tags = Set(tagLists.flatMap(\.self))
    request.priority = priority
    request.type = type
    request.headers = try headers.map { try HeaderField(line: $0) }
    return request
  }
}

/// File names given on the command line.
enum FileName {
  /// Whether the name is a single path component that can name a file.
  static func isPlain(_ name: String) -> Bool {
    !name.isEmpty && name != "." && name != ".." && !name.utf8.contains(0)
      && !name.utf8.contains(0x2F) && !name.utf8.contains(0x5C)
  }
}

extension HeaderField {
  /// Parses `Name: value` (RFC 9110, 5.1 and 5.5).
  ///
  /// A `Referer` loses its user info and its fragment.
  ///
  /// - Throws: ``CommandFailure`` with `usage`.
  init(line: String) throws {
    // The value may be a secret, so no message repeats it.
    guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else {
      let reason = line.hasPrefix("@") ? ", and is not read from a file" : ""
      throw CommandFailure(.usage, "a header field must have the form 'Name: value'\(reason)")
    }
    let value = String(line[line.index(after: colon)...].trimmingBlanks)
    guard !line[colon...].hasPrefix("://") else {
      throw CommandFailure(.usage, "-H needs a header field 'Name: value', and was given a URL")
    }
    self.init(name: String(line[..<colon]), value: value)
    do {
      try validate()
    } catch {
      throw CommandFailure(.usage, error.message)
    }
    guard !value.isEmpty else {
      throw CommandFailure(.usage, "the value of the header field '\(name)' is empty")
    }
    guard !isReserved else {
      throw CommandFailure(.usage, "the header field '\(name)' is set by dlstore")
    }
    if name.lowercased() == "referer" { self.value = RefererText.sent(value) }
  }
}
