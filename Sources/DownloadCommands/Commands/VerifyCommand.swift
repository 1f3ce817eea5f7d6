internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadStore
internal import ObjectStore

/// `dlstore verify`: checks a store and the files of its downloads.
struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Checks a store, and compares its downloads with their files.",
    discussion: """
      Checks every page, checksum, index, reference and the history. Works on the folder of any \
      ObjectStore, without its models, and while other processes use it. For downloads it also \
      compares the records with the files: a finished file that is missing, modified or of another \
      size; a partial file that is shorter than the committed count; a partial file without a \
      record. It reads no contents of downloaded files. The exit code is 65 if problems remain.

      --repair rebuilds damaged indexes, or else copies every readable object into a new file. The \
      damaged file stays beside it as data.mdb.damaged. It then does what 'dlstore reconcile \
      --apply' does. It never deletes a record or a finished file. It is refused with exit code 75 \
      while an engine runs, except to rebuild indexes.

      --accept recognizes finished files again that were copied to another disk, by 'cp --archive' \
      for example, and therefore have other inodes. It reads each file of the right size and \
      compares it with its digests. A file of which no digest is known is accepted, too, and named with \
      what was compared, unless it was written to where it is. A file of another size is never accepted. \
      --repair does the same for files whose modification time and digests agree.

      EXAMPLES:
        dlstore verify
        dlstore verify --repair
        dlstore verify --accept
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var reading: ImmutableOption

  @Flag(help: "Repair what can be repaired, and keep the damaged file.")
  var repair = false

  @Flag(help: "Recognize finished files that were copied or moved to another disk.")
  var accept = false

  @Flag(help: "Print one JSON object.")
  var json = false

  func validate() throws {
    guard !repair && !accept || !reading.immutable else {
      throw ValidationError(
        "\(repair ? "--repair" : "--accept") writes the store: it cannot be combined with --immutable."
      )
    }
  }

  func run() async throws {
    let path = try location.existing()
    let status = StatusLine()
    defer { status.clear() }
    var found = try StoreExamination(of: path, immutable: reading.immutable, status)
    var repairs: StoreRepair?
    if repair || accept, !found.isValid {
      var done = StoreRepair(path: path)
      if repair { try await done.run(found, status) }
      if let files = found.files, files.hasModified {
        try done.acceptFiles(withoutDigest: accept, status)
      }
      found = try StoreExamination(of: path, status)
      found.files?.noteOtherContents(at: done.accepted?.damagedPaths ?? [])
      repairs = done
    }
    status.clear()
    let report = VerifyReport(path: path, found: found, repair: repairs)
    try Output.current.report(json ? report.json.prettyText + "\n" : report.text)
    if !found.isValid || repairs?.store.hasLostAll == true { throw CommandFailure(.damaged) }
  }
}

/// The result of examining a store and its files.
struct StoreExamination {
  var store: VerificationReport
  /// The comparison with the files; `nil` if the store is not one of downloads, or if damage
  /// prevents reading the records.
  var files: FileReport?
  /// Whether the store is too damaged to compare its records with the files.
  var skipsFiles = false

  var isValid: Bool { store.isValid && (files?.problemCount ?? 0) == 0 }

  /// Examines a store; the environment is closed on return.
  init(of path: String, immutable: Bool = false, _ status: StatusLine) throws {
    store = try StoreCheckReport.verify(at: path, immutable: immutable, status)
    let name = DownloadRecord.schema.name
    guard RepairPlan(for: store.problemCounts.keys) != .salvage else {
      skipsFiles = store.models.isEmpty || store.models[name] != nil
      return
    }
    guard store.models[name] != nil else { return }
    let records = try RecordStore(at: path, access: .readOnly, immutable: immutable)
    do {
      files = try records.verifyFiles { status.show("comparing files: \($0) records") }
    } catch let error as StoreError where error.code == .damaged {
      // The file is intact, so a repair of it would keep the object.
      throw CommandFailure(
        .damaged,
        "\(error): another program has written this object; 'objectstore \(path) get \(name)' shows "
          + "it, and 'objectstore \(path) import --if-known replace' corrects it"
      )
    }
  }
}
