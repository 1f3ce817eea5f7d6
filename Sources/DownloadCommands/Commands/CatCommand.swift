internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore
internal import SystemInterface

/// `dlstore cat`: writes the bytes of a download to standard output.
struct CatCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cat",
    abstract: "Writes the bytes of a download to standard output.",
    discussion: """
      While an engine runs the download, in any process, the bytes follow as they arrive. The exit \
      code is 0 after the last byte. It is 1 if the download is not complete and no engine runs it: the \
      bytes on disk are written before. It is also 1 if the partial file or its folder is missing. \
      Pieces with a required digest are compared before their bytes are written, and the whole file at \
      the end, if it has a required digest.

      EXAMPLES:
        dlstore cat 8c2b47
        dlstore cat a.iso --from 1048576
      """
  )

  @OptionGroup var location: StoreLocation

  @Argument(
    help: ArgumentHelp("The URL, id, id prefix, or file name.", valueName: "url|id|file"),
    completion: StoreCompletion.downloads
  )
  var name: String

  @Option(
    name: .customLong("from"),
    help: ArgumentHelp(
      "The offset of the first byte to write; 0 by default. Past the end, nothing is written.",
      valueName: "byte"
    ),
    transform: { try WholeNumber.parse($0, from: 0) }
  )
  var start: Int64 = 0

  func run() async throws {
    let store = try RecordStore(at: location.existing(), access: .readOnly)
    let record = try store.record(matching: name)
    try requireOtherOutput(for: store.roots().possibleLayout(of: record))
    do {
      guard try await !copy(of: record, in: store) else { return }
    } catch let failure as DownloadFailure {
      let last = (try? store.record(matching: record.id)) ?? record
      let name = TerminalText.safe(last.filename)
      let state = last.state.word(engineRuns: true)
      throw CommandFailure(.failed, "\(name) (\(state)): \(failure.message)")
    } catch let error as EngineError where error.code == .fileMissing {
      let last = (try? store.record(matching: record.id)) ?? record
      let hasProblem = try store.roots().possibleLayout(of: last).folderProblem != nil
      let next =
        last.state == .completed
        ? "\(SuggestedCommand.text("restart \(last.id)")) downloads it again" : last.incompleteText
      // Without its folder, a run fails.
      let advice = hasProblem ? "" : "; \(next)"
      throw CommandFailure(.failed, TerminalText.safe(error.message) + advice)
    }
    let last = (try? store.record(matching: record.id)) ?? record
    throw CommandFailure(.failed, last.incompleteText)
  }

  /// Throws if standard output is the file that is read, which would grow without an end.
  private func requireOtherOutput(for layout: FileLayout) throws {
    guard let output = FileIdentity(ofDescriptor: STDOUT_FILENO) else { return }
    for path in [layout.finalPath, layout.partialPath] where FileIdentity(ofFileAt: path) == output
    {
      let path = TerminalText.safe(path)
      throw CommandFailure(.failed, "standard output is the file itself: \(path)")
    }
  }

  /// Writes the bytes of a download; returns whether all of them were.
  private func copy(of record: DownloadRecord, in store: RecordStore) async throws -> Bool {
    let start = start
    guard record.state != .completed else {
      var bytes = store.bytes(of: record.id, from: start)
      bytes.waits = false
      return try await Self.copy(bytes).given.range.upperBound >= record.received
    }
    let reading = Task { try await Self.copy(store.bytes(of: record.id, from: start)) }
    let following = Task {
      // Ends with the download, or when no engine runs.
      for try await _ in store.updates(of: [record.url]) {}
      reading.cancel()
    }
    defer { following.cancel() }
    let (given, isAtEnd) = try await reading.value
    if isAtEnd { return true }
    // The rest that is on disk, of the same version.
    var rest = store.bytes(of: record.id)
    (rest.given, rest.waits) = (given, false)
    let end = try await Self.copy(rest).given.range.upperBound
    let last = try store.record(matching: record.id)
    return last.state == .completed && end >= last.received
  }

  /// Writes bytes to standard output until they end or the task is cancelled.
  ///
  /// - Returns: The bytes that were written, and whether there are no more.
  private static func copy(
    _ bytes: DownloadBytes
  ) async throws -> (given: GivenBytes, isAtEnd: Bool) {
    let writer = PipeWriter()
    var iterator = bytes.makeAsyncIterator()
    do {
      while let chunk = try await iterator.next() {
        // A chunk that was read is written also if the task was cancelled.
        try await Task { try await writer.write(chunk) { _ in } }.value
      }
      return (iterator.given, true)
    } catch is CancellationError {
      return (iterator.given, false)
    }
  }
}
