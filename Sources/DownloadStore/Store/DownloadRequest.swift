#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A request for a download.
///
/// ```swift
/// var request = DownloadRequest(url: "https://example.com/model.bin")
/// request.folder = "models/new"
/// request.tags = ["models"]
/// request.mirrors = ["https://mirror.example.com/model.bin"]
/// request.headers = [HeaderField(name: "Authorization", value: "Bearer \(token)")]
/// try await store.add([request])
/// ```
public struct DownloadRequest: Sendable, Hashable {
  /// The URL, which identifies the download unless it has a ``key``.
  public var url: String
  /// The name that identifies the download instead of the URL, at most 1,024 bytes; `nil` for none.
  ///
  /// A second request with the same key is for the same download, whatever its URL: the URL becomes
  /// another source of the file, which is tried before the other mirrors. For files whose URLs change,
  /// such as signed ones, and for caches by content; see ``init(digest:urls:)``. Commands and selections
  /// accept the key as a name of the download.
  ///
  /// A download that is known by one of the URLs alone gets the key. If that download has another key or
  /// requires another digest, the next of the URLs becomes that of a new download. After the last one,
  /// the URL of the new download is ``url`` with the required digest as its fragment, which is not sent:
  /// so two digests may have one URL, which then names the download that had it first.
  ///
  /// Keys and URLs are names of one kind: a request whose key is the URL of a download, or whose URL is a
  /// key of one, is for that download.
  ///
  /// ```swift
  /// var request = DownloadRequest(url: try await signedURL(for: "tiny"))
  /// request.key = "models/tiny@v2"
  /// try await store.add([request])
  /// let record = try store.record(matching: "models/tiny@v2")
  /// ```
  public var key: String?
  /// The file name, which is made safe; by default a name derived from the URL, which a name that
  /// the server suggests may replace.
  public var filename: String?
  /// The action to take if another download or a file already has the name.
  ///
  /// Only a regular file without a record is kept or replaced.
  public var collision = NameCollision.number
  /// The folder below the root, such as `books/new`; empty for the root itself.
  public var folder = ""
  /// The root's name.
  public var root = RootName.standard
  /// The type, a label of the caller's choice; by default the file name's extension, or the type of
  /// a known download.
  public var type: String?
  /// The tags, each of at most 256 bytes.
  public var tags: Set<String> = []
  /// The priority; higher starts first; by default 0, or the priority of a known download.
  ///
  /// Waiting downloads of equal priority start in the order in which they were added.
  public var priority: Int32?
  /// Other URLs of the same file, of which a download has at most the first 100.
  ///
  /// After a failure they are tried in order. A file that is downloaded over several connections
  /// also uses them at the same time, if a digest is required. URLs at the scheme, host and port of
  /// ``url`` are also used with an equal strong entity tag. Without a required digest, an unencrypted
  /// mirror of an encrypted file is used only if no encrypted URL is left.
  public var mirrors: [String] = []
  /// The expected digest of the file.
  public var digest: Digest?
  /// The size of the file in bytes, above zero, if it is known before; `nil` otherwise.
  ///
  /// A file of another size fails permanently with `digestMismatch`, before the first byte of its body
  /// if the server declares the size. The progress of a group contains the size from the addition on,
  /// and a full disk holds the download back until that many bytes are free. No effect on a known
  /// download that has bytes on disk or is complete.
  ///
  /// ```swift
  /// var request = DownloadRequest(url: "https://example.com/model.bin")
  /// request.byteCount = 4_982_400_000
  /// ```
  public var byteCount: Int64?
  /// The expected digests of its pieces, which are checked while the pieces arrive.
  ///
  /// Only a piece with another digest is downloaded again. No effect on a known download that has
  /// bytes on disk.
  public var pieces: RequiredPieces?
  /// Header fields to send.
  ///
  /// They belong to the origin of ``url``. Fields that may contain a secret, such as
  /// `Authorization` and `Cookie`, are not sent to a mirror, a redirect target or a new URL at
  /// another origin.
  public var headers: [HeaderField] = []
  /// Whether a cellular network may be used.
  ///
  /// Honoured by URLSession on Apple platforms. No effect on Linux.
  public var allowsCellular = true
  /// Whether the download should continue while the application is not running.
  ///
  /// Honoured by `RoutingTransport`. With `BackgroundURLSessionTransport` alone every download
  /// continues, with any other transport none does.
  public var prefersBackground = false
  /// The rate limit of this download in bytes per second, above zero; `nil` for none.
  public var bytesPerSecond: Int64?
  /// The number of connections that this download may have at a time, above zero; `nil` for
  /// `EngineOptions.split`.
  ///
  /// `SplitOptions` says when a download has more than one.
  public var connections: Int32?
  /// The time before which the engine does not start the download; `nil` for any time.
  public var notBefore: Date?
  /// The time after which an engine refreshes the finished file; `nil` for refreshes on command
  /// only, or to keep that of a known download.
  ///
  /// From a minute to a year, of which whole seconds count. An engine that runs all downloads asks the
  /// server, as ``RecordStore/refresh(_:requiring:)`` does, when the last answer, or else the completion, is
  /// that long ago: while it runs with `RunGoal.stopped`, and otherwise at its start. After a refresh
  /// that failed or was cancelled, the time begins again.
  ///
  /// ```swift
  /// var request = DownloadRequest(url: "https://example.com/index.json")
  /// request.refreshEvery = .seconds(86_400)
  /// ```
  public var refreshEvery: Duration?
  /// The number of previous versions of the finished file that stay beside it, from 1 to 100; `nil`
  /// for none, or to keep that of a known download.
  ///
  /// When a refresh or a restart puts another version in the place of the finished file, the previous
  /// one gets the name `NAME.~1~`, `NAME.~2~` and so on, with the highest number for the newest, as
  /// `cp --backup=numbered` chooses it. A number that another file has is left out. Of the versions that
  /// the download has kept, only the newest stay; a file that was changed or put in the place of one is
  /// not deleted. Removing the download deletes none. Also kept is a file that ``NameCollision/replace``
  /// found.
  ///
  /// ```swift
  /// request.keepVersions = 3
  /// ```
  public var keepVersions: Int32?
  /// Whether to add the download paused.
  ///
  /// A known download keeps its state.
  public var isPaused = false
  /// Whether a known download loses its rate limit.
  package var removesRateLimit = false
  /// Whether a document lists the download, such as a Metalink document.
  ///
  /// A document does not change the digest of a known download. It adds mirrors only if it states the
  /// digest that the download has.
  package var isFromDocument = false

  /// The id of a new record, if no other record has it; by default an id derived from the URL.
  ///
  /// 16 hexadecimal digits in lower case, such as the GID of an aria2 download.
  package var id: String?

  /// Creates a request for a URL.
  public init(url: String) {
    self.url = url
  }

  /// Creates a request for the file with a digest, which has one download whatever its URLs are.
  ///
  /// The text of the digest is the ``key``.
  ///
  /// ```swift
  /// let digest = try Digest("sha256:\(identifier)")
  /// try await store.add([DownloadRequest(digest: digest, urls: [url, otherURL])])
  /// let record = try store.record(matching: digest.text)
  /// ```
  ///
  /// - Parameters:
  ///   - digest: The digest that the file must have.
  ///   - urls: The URLs of the file, at least one.
  public init(digest: Digest, urls: [String]) {
    self.init(url: urls.first ?? "")
    mirrors = Array(urls.dropFirst())
    key = digest.text
    self.digest = digest
  }
}

extension DownloadRequest {
  /// Throws unless an import accepts the numbers, the date and the key that the request stores.
  ///
  /// - Throws: ``RecordStoreError`` with `invalidRecord`, `invalidKey`, `invalidTag` or `invalidName`.
  func validateNumbers() throws(RecordStoreError) {
    guard RecordLimits.isRate(bytesPerSecond), RecordLimits.isConnectionCount(connections) else {
      throw RecordStoreError(
        .invalidRecord,
        "a rate limit or a number of connections is not above zero"
      )
    }
    guard byteCount.map({ $0 > 0 && RecordLimits.isSize($0) }) ?? true else {
      throw RecordStoreError(.invalidRecord, "the size of a file is not above zero")
    }
    guard pieces == nil || byteCount == nil || pieces?.byteCount == byteCount else {
      throw RecordStoreError(
        .invalidRecord,
        "\(byteCount ?? 0) bytes are required, and pieces of \(pieces?.byteCount ?? 0) bytes"
      )
    }
    try refreshEvery?.validateAsRefreshPeriod()
    try RecordLimits.requireVersionCount(keepVersions)
    guard notBefore.map(RecordLimits.isDate) ?? true else {
      throw RecordStoreError(.invalidRecord, "the earliest start is not in the years 1 to 9999")
    }
    guard id.map({ RecordIdentity.isID($0) }) ?? true else {
      throw RecordStoreError(.invalidRecord, "'\(id ?? "")' is not 16 hexadecimal digits")
    }
    if let key { try RecordIdentity.validate(key: key) }
    try RecordLimits.requireTags(tags)
    guard !root.isEmpty, !root.hasControlCharacters else {
      throw RecordStoreError(.invalidName, "'\(root)' is not the name of a root")
    }
  }
}

extension Duration {
  /// Throws unless a download may have the time as that between two refreshes.
  ///
  /// - Throws: ``RecordStoreError`` with `invalidRecord`.
  func validateAsRefreshPeriod() throws(RecordStoreError) {
    guard RecordLimits.isRefreshPeriod(components.seconds) else {
      throw RecordStoreError(
        .invalidRecord,
        "the time between two refreshes is not from a minute to a year"
      )
    }
  }
}

/// The names of roots.
///
/// ```swift
/// try store.setRoot("/mnt/downloads", named: RootName.standard)
/// ```
public enum RootName {
  /// The default root.
  public static let standard = "default"
  /// The root of the temporary files of `get -o -`: the folder `output` of the store.
  package static let temporary = "standard-output"
  /// The root of files in that folder which stay, because another command has requested them, too.
  package static let keptOutput = "standard-output-kept"
  /// Whether a root is one of the two with the folder of `get -o -`.
  static func isOfOutput(_ name: String) -> Bool { name == temporary || name == keptOutput }
  /// The roots of every store, whose folders are in the folder of the store, unless another folder is
  /// set for the default root.
  static let implied: Set = [standard, temporary, keptOutput]
}

/// The handling of a request whose file name is taken.
///
/// ```swift
/// var request = DownloadRequest(url: "https://example.com/report.pdf")
/// request.filename = "report.pdf"
/// request.collision = .replace
/// ```
public enum NameCollision: String, Sendable, Hashable, CaseIterable {
  /// Number the new file, as in `a (2).zip`.
  case number
  /// Refuse the request with the error `nameTaken`.
  ///
  /// If another file takes the name while the download runs, the download fails permanently with
  /// ``DownloadFailure/Detail/nameTaken``, and keeps its bytes.
  case fail
  /// Adopt the existing file as the finished one, whatever its contents, and download nothing.
  ///
  /// From then on it is the download's file.
  case keep
  /// Replace the existing file when the download completes, if it is still the same.
  ///
  /// Until then it counts as the download's previous file.
  case replace
}
