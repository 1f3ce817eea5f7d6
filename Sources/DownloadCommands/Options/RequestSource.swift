internal import DownloadStore
internal import Foundation

/// The requests of `add` and `get`: those of the command line, then those of the input file, which
/// is read as they are taken.
///
/// Reports the lines of the input file that cannot be used.
struct RequestSource: ~Copyable {
  /// The number of requests that one transaction adds.
  ///
  /// Each batch changes most pages of the tables whose keys are hashes, so small batches write much
  /// more, and large ones need memory for these pages (decision 0040).
  static let batchSize = 8_192

  private let path: String
  /// The request of no URL, with the options that apply to all.
  private let shared: DownloadRequest
  private let completion: RequestCompletion
  private var requests: [DownloadRequest]
  private var lines: LineReader?
  private var parser = InputFileParser()
  /// Whether every line so far could be used.
  private(set) var isComplete = true

  /// Creates the requests of the command line, and opens the input file.
  ///
  /// - Throws: ``RecordStoreError``; ``CommandFailure`` when a file cannot be read.
  init(_ options: RequestOptions) throws {
    let shared = try options.request(for: "")
    let completion = try options.details.read(at: Date())
    var requests: [DownloadRequest] = []
    for url in options.urls {
      try RecordIdentity.validate(url)
      for mirror in options.mirrors { try RecordIdentity.validate(mirror) }
      var request = try options.request(for: url)
      request.filename = options.filename
      request.mirrors = options.mirrors
      request.digest = try options.checksum.map(Digest.init)
      try completion.complete(&request)
      requests.append(request)
    }
    var lines: LineReader?
    if let path = options.inputFile { lines = try LineReader(path) }
    path = options.inputFile ?? ""
    self.shared = shared
    self.completion = completion
    self.requests = requests
    self.lines = consume lines
  }

  /// Returns the requests of the next transaction; empty at the end.
  ///
  /// The first batch contains all requests of the command line.
  ///
  /// - Throws: ``CommandFailure``.
  mutating func nextBatch() throws -> [DownloadRequest] {
    var batch: [DownloadRequest] = []
    swap(&batch, &requests)
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
          if problem.isFatal { isComplete = false }
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
      var request = try DownloadRequest(entry)
      if let path = entry.absoluteFolder {
        report(
          "skipped dir=\(path): the folder must be relative to the root; 'import --format aria2' "
            + "keeps it",
          entry.line
        )
      }
      request.collision = shared.collision
      request.folder = try FileLayout.validatedFolder(
        [shared.folder, request.folder].filter { !$0.isEmpty }.joined(separator: "/")
      )
      request.tags = shared.tags
      request.priority = shared.priority
      request.type = shared.type
      request.headers = shared.headers + request.headers
      try completion.complete(&request)
      return request
    } catch {
      isComplete = false
      report((error as? CommandFailure)?.message ?? "\(error)", entry.line)
      return nil
    }
  }

  private func report(_ message: String, _ line: Int) {
    Output.current.say("\(path):\(line): \(message)")
  }
}
