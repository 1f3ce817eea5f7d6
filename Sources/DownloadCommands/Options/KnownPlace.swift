internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import ObjectStore

/// The name, folder and root of a known download, compared with those that a request gives.
///
/// A known download keeps its place, so another one in a request would be ignored.
enum KnownPlace {
  /// A known download whose place is not the one of its request.
  struct Conflict: Sendable, Hashable {
    var url: String
    var message: String
  }

  /// Finds the requests of known downloads with another place.
  ///
  /// A name that differs only in the number that a taken name gets is the same, and a file of a
  /// document has the name that the document gives it, whatever the user called the download.
  ///
  /// - Parameters:
  ///   - requests: The requests.
  ///   - folder: The path of the folder that the user gave for the root; `nil` if none.
  ///   - store: The store.
  /// - Returns: The conflicts, in the order of the requests.
  /// - Throws: `StoreError`.
  static func conflicts(
    of requests: [DownloadRequest],
    inFolder folder: String?,
    _ store: RecordStore
  ) throws -> [Conflict] {
    let placed = requests.filter { request in
      !request.isFromDocument
        && (folder != nil || request.filename != nil || !request.folder.isEmpty)
    }
    guard !placed.isEmpty else { return [] }
    let known = try store.records(of: placed)
    let roots = try store.roots()
    return zip(placed, known).compactMap { request, record in
      guard let record, let reason = difference(request, record, folder, roots) else { return nil }
      let place = DownloadEntry(record, roots).localPath
      return Conflict(
        url: request.url,
        message: "'\(Redaction.url(request.url))' is known as "
          + "\(TerminalText.safe(place ?? record.filename)), not \(reason): "
          + advice(request, record)
      )
    }
  }

  /// What the user can do about a request with another place.
  private static func advice(_ request: DownloadRequest, _ record: DownloadRecord) -> String {
    let again =
      "\(SuggestedCommand.text("remove \(record.id)")) keeps a finished file, and the same command "
      + "then downloads another one there"
    guard let name = request.filename, request.folder.isEmpty else { return again }
    let newName = ShellWord.quoted(TerminalText.safe(SafeFilename.sanitized(name)))
    return SuggestedCommand.text("set \(record.id) --filename \(newName)")
      + " renames it where it is; \(again)"
  }

  /// Returns the end of the message that a known download is complete: what to do if its file is not
  /// below the folder for files; empty if it is.
  static func elsewhere(_ record: DownloadRecord, _ folder: String, _ roots: Roots) -> String {
    guard let root = roots.path(of: record.root).map(real), root != folder else { return "" }
    return "; to download it into this folder, too, run "
      + "\(SuggestedCommand.text("remove \(record.id)")), which keeps that file, and repeat the "
      + "command"
  }

  /// Says where a known download that is not complete goes on, if that is not below the folder for
  /// files; `nil` if it is, or if the download is new.
  static func stays(_ added: RecordStore.Added, _ folder: String, _ roots: Roots) -> String? {
    let record = added.record
    guard !added.isNew, let root = roots.path(of: record.root).map(real), root != folder else {
      return nil
    }
    let place = record.folder.isEmpty ? root : "\(root)/\(record.folder)"
    let name = TerminalText.safe(record.filename)
    return
      "'\(name)' is known, and its file goes into \(place), not into this folder; "
      + "\(SuggestedCommand.text("remove \(record.id)")) forgets it"
  }

  /// The path without symbolic links, as that of a folder that the user gives.
  private static func real(_ path: String) -> String { (try? Folder.existing(at: path)) ?? path }

  /// What the request wants to be different; `nil` if nothing.
  private static func difference(
    _ request: DownloadRequest,
    _ record: DownloadRecord,
    _ folder: String?,
    _ roots: Roots
  ) -> String? {
    if let name = request.filename.map({ SafeFilename.sanitized($0) }),
      SafeFilename.numbered(name, 2) != SafeFilename.numbered(record.filename, 2)
    {
      return "as '\(TerminalText.safe(name))'"
    }
    let subfolder = (try? FileLayout.validatedFolder(request.folder)) ?? request.folder
    if !subfolder.isEmpty, subfolder != record.folder {
      return "in the folder '\(TerminalText.safe(subfolder))'"
    }
    if let folder, roots.path(of: record.root).map(real) != folder {
      return "below '\(TerminalText.safe(folder))'"
    }
    return nil
  }
}
