internal import CommandLineSupport
internal import DownloadMetalink
internal import DownloadStore
internal import Foundation

/// The requests of `add` and `get`: those of the command line, then those of the Metalink document,
/// then those of the input file, which is read as they are taken.
///
/// Reports the files of the document and the lines of the input file that cannot be used.
struct RequestSource: ~Copyable {
  /// The number of requests that one transaction adds.
  ///
  /// Each batch changes most pages of the tables whose keys are hashes, so small batches write much
  /// more, and large ones need memory for these pages (decision 0040).
  static let batchSize = 8_192

  private let path: String
  /// The URLs of the command line.
  private let urls: Set<StoredText>
  private let details: SharedDetails
  private var requests: [DownloadRequest]
  private var lines: LineReader?
  private var parser = InputFileParser()
  private var digests = ListedDigests()
  /// Whether every line so far could be used.
  var isComplete: Bool { skippedCount == 0 }
  private var skippedCount = 0

  /// Creates the requests of the command line, reads the Metalink document, and opens the input
  /// file.
  ///
  /// - Throws: ``RecordStoreError``; ``CommandFailure`` when a file or a document cannot be read.
  init(_ options: RequestOptions, _ client: ClientOptions) async throws {
    let details = SharedDetails(
      request: try options.request(for: ""),
      completion: try options.details.read(at: Date()),
      placement: RequestPlacement(options)
    )
    var requests: [DownloadRequest] = []
    let place = options.place
    if let name = place?.name { FileNameNotice.say(name, "-o") }
    let typed = try options.urls.map(URLText.typed)
    for url in typed {
      try RecordIdentity.validate(url)
      for mirror in options.mirrors { try RecordIdentity.validate(mirror) }
      var request = try options.request(for: url)
      request.filename = place?.name
      request.mirrors = options.mirrors
      request.key = options.key
      request.digest = try Digest.strongest(of: options.checksums.map(Digest.init))
      try details.completion.complete(&request)
      try details.placement.place(&request)
      requests.append(request)
    }
    if let place = options.metalink {
      let headers = try details.headers(forDocument: place)
      let source = try await MetalinkSource(place, headers: headers, client)
      let bound = details.boundFields
      if source.url != nil, !bound.isEmpty, !source.document.files.isEmpty {
        Output.current.say(
          "\(source.name): not sent to other hosts that the document names: "
            + bound.map(\.name).joined(separator: ", ")
        )
      }
      var names: [StoredText: String] = [:]
      for file in source.document.files {
        do {
          let request = DownloadRequest(file, preferring: options.metalinkLocation)
          // The URL identifies a download, so the second file would only change the first.
          if let other = names.updateValue(file.name, forKey: StoredText(request.url)) {
            throw CommandFailure(.failed, "it has the URL of '\(other)'")
          }
          requests.append(try details.adding(to: request, ofDocumentAt: source.url))
        } catch {
          skippedCount += 1
          let reason = (error as? CommandFailure)?.message ?? "\(error)"
          Output.current.say("\(source.name): skipped '\(file.name)': \(reason)")
        }
      }
      for file in source.document.skipped {
        skippedCount += 1
        Output.current.say("\(source.name):\(file.line): skipped a file: \(file.reason)")
      }
    }
    var lines: LineReader?
    if let path = options.inputFile { lines = try LineReader(path) }
    path = options.inputFile ?? ""
    urls = Set(typed.map { StoredText($0) })
    self.details = details
    self.requests = requests
    self.lines = consume lines
  }

  /// Says which of the given files have no credentials for a URL.
  var missingCredentials: @Sendable (String) -> String? {
    let completion = details.completion
    return { completion.missingCredentials(for: $0) }
  }

  /// Refuses a list without any download; one with invalid lines has been reported.
  ///
  /// - Parameter count: The number of requests that the source has returned.
  /// - Throws: ``CommandFailure`` with `usage`.
  func requireAny(_ count: Int) throws(CommandFailure) {
    guard count == 0, isComplete else { return }
    throw CommandFailure(.usage, "\(list) contains no URL: there is nothing to download")
  }

  /// Says how many entries have been skipped, for the end of the command; `nil` if none.
  var skippedText: String? {
    guard skippedCount > 0 else { return nil }
    let entries = skippedCount == 1 ? "1 entry" : "\(skippedCount) entries"
    return "\(entries) of \(list) \(skippedCount == 1 ? "was" : "were") skipped, as said above"
  }

  /// What contains the entries, for messages.
  private var list: String {
    path.isEmpty ? "the document" : path == "-" ? "standard input" : path
  }

  /// Returns the requests of the next transaction; empty at the end.
  ///
  /// - Throws: ``CommandFailure``.
  mutating func nextBatch() throws -> [DownloadRequest] {
    var batch = Array(requests.prefix(Self.batchSize))
    requests.removeFirst(batch.count)
    var items: [InputFileParser.Item] = []
    while batch.count < Self.batchSize, lines != nil {
      if let line = try lines?.next() {
        parser.parse(line, into: &items)
      } else {
        parser.finish(into: &items)
        lines = nil
      }
      for item in items {
        switch item {
        case .entry(let entry): if let request = request(entry) { batch.append(request) }
        case .problem(let problem):
          if problem.isFatal { skippedCount += 1 }
          report(problem.message, problem.line)
        }
      }
      items.removeAll(keepingCapacity: true)
    }
    return batch
  }

  /// Returns the request of an entry; reports it and returns `nil` if it cannot be used.
  private mutating func request(_ entry: InputFile.Entry) -> DownloadRequest? {
    do {
      let request = try DownloadRequest(entry)
      if let path = entry.absoluteFolder {
        report(
          "skipped dir=\(path): the folder must be relative to the root; 'import --format aria2' "
            + "keeps it",
          entry.line
        )
      }
      var added = try details.adding(to: request, collision: entry.collision)
      try digests.note(&added, ofLine: entry.line)
      return added
    } catch {
      skippedCount += 1
      report((error as? CommandFailure)?.message ?? "\(error)", entry.line)
      return nil
    }
  }

  /// Refuses requests of the command line, and reports those of a list, whose known downloads have
  /// another place.
  ///
  /// - Parameters:
  ///   - requests: A batch, before it is stored.
  ///   - folder: The path of the folder that the user gave for the root; `nil` if none.
  ///   - store: The store.
  /// - Throws: ``CommandFailure`` with `usage`; `StoreError`.
  mutating func checkPlaces(
    of requests: [DownloadRequest],
    inFolder folder: String? = nil,
    _ store: RecordStore
  ) throws {
    // On another day a known download keeps the place of the day on which it was added.
    let placed = details.placement.dependsOnDate ? requests.map(\.withoutPlace) : requests
    for conflict in try KnownPlace.conflicts(of: placed, inFolder: folder, store) {
      guard !urls.contains(StoredText(conflict.url)) else {
        throw CommandFailure(.usage, conflict.message)
      }
      skippedCount += 1
      Output.current.say(conflict.message)
    }
  }

  private func report(_ message: String, _ line: Int) {
    Output.current.say("\(path):\(line): \(message)")
  }
}

/// The options that apply to every request of a list.
private struct SharedDetails {
  /// The request of no URL, with these options.
  let request: DownloadRequest
  let completion: RequestCompletion
  let placement: RequestPlacement

  /// The header fields of the options that stay within an origin.
  var boundFields: [HeaderField] {
    let fields = request.headers + completion.fields
    let harmless = HeaderScope.fields(fields, givenFor: "https://a", sentTo: "https://b")
    return fields.filter { !harmless.contains($0) }
  }

  /// Returns the header fields to send for a Metalink document.
  ///
  /// - Throws: ``CommandFailure``.
  func headers(forDocument place: String) throws -> [HeaderField] {
    guard MetalinkSource.isURL(place) else { return [] }
    var document = request
    document.url = place
    try completion.addFields(to: &document)
    return document.headers
  }

  /// Returns the request of a list with the options.
  ///
  /// The header fields of the options belong to the origin of the document, if it has one: hosts
  /// that only the document names receive none that may be a credential.
  ///
  /// - Parameters:
  ///   - listed: The request.
  ///   - collision: What the list says for a taken name; `nil` if that is left to the options.
  ///   - document: The URL of the document that lists it; `nil` for a file of the user.
  /// - Returns: The request to add.
  /// - Throws: ``RecordStoreError`` for an invalid folder; ``CommandFailure``.
  func adding(
    to listed: DownloadRequest,
    collision: NameCollision? = nil,
    ofDocumentAt document: String? = nil
  ) throws -> DownloadRequest {
    var request = listed
    request.collision = collision ?? self.request.collision
    request.folder = try FileLayout.validatedFolder(
      [self.request.folder, listed.folder].filter { !$0.isEmpty }.joined(separator: "/"),
      acceptsHidden: !RemoteExecution.isRunning
    )
    request.tags = self.request.tags
    request.priority = self.request.priority
    request.type = self.request.type
    let given = HeaderScope.fields(
      self.request.headers,
      givenFor: document ?? request.url,
      sentTo: request.url
    )
    // The list precedes the options, and they the files.
    request.addMissing(given)
    try completion.complete(&request, ofDocumentAt: document)
    // An entry with a folder of its own has chosen its place.
    try placement.place(&request, hasOwnFolder: !listed.folder.isEmpty)
    return request
  }
}

/// The folders and the name that a request gets from its URL.
private struct RequestPlacement {
  /// The path of `-o` with fields.
  private let template: PathTemplate?
  /// The number of folders of the path that are left out; `nil` without `--folders-from-url`.
  private let cutCount: Int?
  private let time = Date()

  init(_ options: RequestOptions) {
    template = options.template
    cutCount = options.foldersFromURL ? options.cutFolders ?? 0 : nil
  }

  var dependsOnDate: Bool { template?.dependsOnDate ?? false }

  /// Puts the file of a request into its folder, and names it.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - isPlaced: Whether a list has given it a folder, which `--folders-from-url` leaves alone.
  /// - Throws: ``RecordStoreError`` for a folder that is too long.
  func place(_ request: inout DownloadRequest, hasOwnFolder isPlaced: Bool = false) throws {
    if let cutCount, !isPlaced { request.addFolders(fromURLCutting: cutCount) }
    template?.place(&request, at: time)
    request.folder = try FileLayout.validatedFolder(request.folder)
  }
}

extension DownloadRequest {
  /// The request without a name and a folder.
  fileprivate var withoutPlace: Self {
    var request = self
    request.filename = nil
    request.folder = ""
    return request
  }
}

extension ListedDigests {
  /// Notes the digest of the request of a line, as ``conflict(of:at:)`` does.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - line: The number of the line; 0 for the command line.
  /// - Throws: ``RecordStoreError`` if an earlier line has another checksum of the same algorithm.
  mutating func note(
    _ request: inout DownloadRequest,
    ofLine line: Int
  ) throws(RecordStoreError) {
    guard let earlier = conflict(of: &request, at: line) else { return }
    let place = earlier > 0 ? "line \(earlier)" : "the command line"
    throw RecordStoreError(
      .invalidDigest,
      "skipped: \(place) has another checksum of this URL"
    )
  }
}

/// The message about a file name that is stored in another form.
enum FileNameNotice {
  /// Says if a file name is changed to a safe one, which is neither hidden nor too long.
  static func say(_ name: String, _ option: String) {
    let stored = SafeFilename.sanitized(name)
    guard !name.isEmpty, stored != name else { return }
    let reason =
      if name.hasPrefix(".") {
        "a name that begins with a dot is hidden"
      } else if name.utf8.count > SafeFilename.longest {
        "a name has at most \(SafeFilename.longest) bytes"
      } else {
        "the name is not a safe one"
      }
    Output.current.say("\(option): the file name is stored as '\(stored)', because \(reason)")
  }
}
