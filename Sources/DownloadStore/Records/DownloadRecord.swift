// Expanded from DownloadRecord.model by the @Model macro. Do not edit: change the template and run `make models`.
public import ObjectStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The stored state of one download.
///
/// A record is a plain value. Its primary key is the URL exactly as it was given: the store never
/// normalizes URLs, because that would merge different resources and break signed URLs.
///
/// Change a record with the commands of ``RecordStore``: the fields that depend on the state
/// change together, so their setters are not public.
public struct DownloadRecord: Sendable, Hashable {
  /// The URL, exactly as it was given.
  public package(set) var url: String
  /// The id: 16 hexadecimal digits, derived from the URL with which the record was added.
  ///
  /// Unique in the store, and unchanged when the URL is replaced. Any unique prefix identifies the
  /// record in ``RecordStore/record(matching:)`` and on the command line.
  public package(set) var id: String
  /// The name of the finished file: one path component of at most 255 bytes.
  ///
  /// No other record of the store has the same name in the same ``folder`` of the same ``root``.
  public package(set) var filename: String
  /// The folder below the root, with `/` between its components; empty for the root itself.
  public package(set) var folder: String
  /// The name of the `Root`, which has the absolute path.
  public package(set) var root: String
  /// Root, folder and file name, joined with `/`.
  ///
  /// Unique in the store: it reserves the file name for the record.
  package var destination: String
  /// The type, a label of the caller's choice; by default the file name's extension.
  public package(set) var type: String
  /// The state of the download.
  public package(set) var state: DownloadState
  /// The intent of the user.
  public package(set) var intent: DownloadIntent
  /// The tags; each is the name of a ``DownloadGroup``.
  public package(set) var tags: Set<String>
  /// The priority; higher starts first.
  ///
  /// Downloads of equal priority start in the order in which the engine queued them.
  public package(set) var priority: Int32
  /// The number of bytes that are on disk and synced.
  ///
  /// Committed after the bytes are synced. If the bytes have no gaps, the next request starts at this
  /// offset.
  public package(set) var received: Int64
  /// The size of the complete file in bytes; `nil` until a server has declared it.
  public package(set) var expected: Int64?
  /// The entity tag of the bytes on disk, verbatim with its quotes.
  public package(set) var entityTag: String?
  /// The `Last-Modified` field of the bytes on disk, verbatim.
  public package(set) var lastModified: String?
  /// Resume data of Apple's URLSession, verbatim; `nil` if there is none.
  package var resumeData: Data?
  /// Other URLs of the same file, which the engine tries in order after ``url``.
  public package(set) var mirrors: [String]
  /// The expected digest, such as `sha256:` and 64 hexadecimal digits; `nil` to accept any file.
  public package(set) var expectedDigest: String?
  /// The digest that was computed from the finished file; `nil` if none was expected.
  ///
  /// An index finds the finished files whose bytes another download needs.
  public package(set) var verifiedDigest: String?
  /// Whether the download waits until the user resumes it, because another one preempted it.
  public package(set) var isHeld: Bool = false
  /// The number of failed attempts since the last progress, or since a command queued the download
  /// again; those of its last refresh if the download is complete.
  public package(set) var failedAttempts: Int32 = 0
  /// The last failed attempts, oldest first; at most 16.
  public package(set) var attempts: [Attempt] = []
  /// The earliest time of the next attempt; `nil` if the download need not wait.
  public package(set) var nextRetryAt: Date?
  /// Distinguishes the transfers of the download: events of an earlier generation are ignored.
  ///
  /// Starts at the number of the commit that added the record. Each transfer, each restart and each
  /// new URL adds one.
  package var generation: Int64 = 0
  /// The time at which the record was added.
  public package(set) var createdAt: Date
  /// The time of the last change of the record.
  public package(set) var updatedAt: Date
  /// The time of completion; `nil` until then.
  public package(set) var completedAt: Date?
  /// Whether the store has `RequestHeaders` with the record's id.
  package var hasHeaders: Bool = false
  /// The number of crashes of the process while this download was transferred.
  ///
  /// Counted by the next engine, if ``state`` was `running`. Completion and commands that queue the
  /// download again clear it; progress does not. A record with a count above zero is a crash
  /// suspect.
  package var unresolvedStarts: Int32 = 0
  /// The largest number of synced bytes since the download was added or last restarted.
  ///
  /// Only progress beyond it clears ``failedAttempts``: a server may send another entity with every
  /// response.
  package var resolvedBytes: Int64 = 0
  /// The identity of the finished file, committed before the file gets its name.
  public package(set) var fileIdentity: FileIdentity?
  /// Whether the download starts before all others, and preempts the one that has run longest if no
  /// slot is free.
  ///
  /// Cleared when the download starts.
  package var startsImmediately: Bool = false
  /// Whether removing the record deletes the finished file too.
  package var removesFile: Bool = false
  /// The identity of the existing file that the finished one will replace.
  ///
  /// That is the previous finished file, or the file that ``NameCollision/replace`` found.
  package var replacedFileIdentity: FileIdentity?
  /// Whether the user chose the file name.
  ///
  /// Otherwise it is derived from the URL, and a name that the server suggests may replace it.
  package var isNameGiven: Bool = false
  /// Whether the download may use a cellular network.
  ///
  /// Honoured by URLSession on Apple platforms. No effect on Linux.
  public package(set) var allowsCellular: Bool = true
  /// Whether the download should continue while the application is not running.
  ///
  /// Honoured by `RoutingTransport`. With `BackgroundURLSessionTransport` alone every download
  /// continues, with any other transport none does.
  public package(set) var prefersBackground: Bool = false
  /// The commands and webhooks that have not succeeded yet for the end of the download.
  ///
  /// Set in the commit that ends it, by an engine whose options name the hook, and each cleared
  /// after its own success.
  public package(set) var pendingHooks: Set<DownloadHook> = []
  /// The rate limit of this download in bytes per second; `nil` for none.
  public package(set) var bytesPerSecond: Int64?
  /// The time before which the engine does not start the download; `nil` for any time.
  public package(set) var notBefore: Date?
  /// The committed ranges of a partial file with gaps; `nil` if it has none.
  ///
  /// For each range the distance from the end of the previous one and the length, as unsigned LEB128
  /// numbers. Without this field, the bytes before ``received`` are committed; with it, ``received``
  /// is the sum of the lengths.
  package var ranges: Data?
  /// The number of connections that this download may have; `nil` for the engine's limit.
  public package(set) var connections: Int32?
  /// Whether the store has `PieceDigests` with the record's id.
  package var hasPieceDigests: Bool = false
  /// The latest time at which an engine may have written the partial file; `nil` if unknown.
  ///
  /// The modification time of the file at the last checkpoint, or the time of a later start. A file
  /// that was modified noticeably later was changed by another program.
  package var partialWrittenAt: Date?
  /// Whether the file of ``replacedFileIdentity``, or without one that of ``fileIdentity``, was not
  /// downloaded by this record: ``NameCollision/replace`` found it, or ``NameCollision/keep`` has
  /// adopted it.
  ///
  /// Such a file is never deleted, and one that was adopted is never replaced.
  package var hasForeignFile: Bool = false
  /// The identity of the partial file at the last checkpoint; `nil` if unknown.
  ///
  /// A file with another inode, or with a noticeably earlier modification time, is not the one that
  /// an engine has written. Of a restarted download without bytes: the complete file that had perhaps not
  /// got its name.
  package var partialIdentity: FileIdentity?
  /// Scheme, host and port of the server that stated ``entityTag`` and ``lastModified``; `nil` for
  /// those of ``url``.
  ///
  /// Only this server may be asked with them whether it still has the file: another one could
  /// repeat what it is told. Without both, the server that stated those of bytes that were dropped, or
  /// that sent the file without them and not as a web page.
  package var validatorOrigin: String?
  /// The version of the finished file, while the download asks whether the server has a newer one;
  /// `nil` otherwise.
  ///
  /// The finished file stays until the newer one is complete and replaces it.
  package var refreshed: FinishedVersion?
  /// The last time at which the server said that the finished file is its current version; `nil` if it
  /// was not asked since the file was completed.
  public package(set) var checkedAt: Date?
  /// Names of the download besides its URL, given as ``DownloadRequest/key``; at most one download of
  /// the store has a key.
  public package(set) var keys: Set<String> = []
  /// Whether the download fails while another file has its name; otherwise it gets a numbered name.
  ///
  /// Set for ``NameCollision/fail``.
  package var requiresName: Bool = false
  /// The time between two refreshes in seconds, at least 60; `nil` for refreshes on command only.
  ///
  /// An engine that runs all downloads asks for a newer version when the last check of the finished
  /// file is that long ago; see ``nextRefreshAt``.
  public package(set) var refreshEvery: Int64?
  /// The time of the next refresh, as a set of at most one date; empty unless the download is complete
  /// and has ``refreshEvery``.
  ///
  /// A set, because an index has no entry for an empty one: downloads without a refresh cost nothing.
  package var refreshDates: Set<Date> = []
  /// The number of previous versions of the finished file that stay beside it; `nil` for none.
  ///
  /// See ``keptVersions``.
  public package(set) var keepVersions: Int32?
  /// The previous versions of the finished file that the download has left beside it, oldest first.
  ///
  /// Their names are those of `cp --backup=numbered`: `NAME.~1~`, `NAME.~2~`, with the highest number
  /// for the newest. Those beyond ``keepVersions`` are deleted when another one is added, if they are
  /// still these files; until then the list may have some that are gone.
  public package(set) var keptVersions: [KeptVersion] = []
}

nonisolated extension DownloadRecord: ObjectStoreNames.Model {
  /// The stored fields, each under its name.
  public nonisolated struct Columns: Swift.Sendable {
    /// The field `url`.
    public let url = ObjectStoreNames.Column<DownloadRecord, String>(position: 0)
    /// The field `id`.
    public let id = ObjectStoreNames.Column<DownloadRecord, String>(position: 1)
    /// The field `filename`.
    public let filename = ObjectStoreNames.Column<DownloadRecord, String>(position: 2)
    /// The field `folder`.
    public let folder = ObjectStoreNames.Column<DownloadRecord, String>(position: 3)
    /// The field `root`.
    public let root = ObjectStoreNames.Column<DownloadRecord, String>(position: 4)
    /// The field `destination`.
    package let destination = ObjectStoreNames.Column<DownloadRecord, String>(position: 5)
    /// The field `type`.
    public let type = ObjectStoreNames.Column<DownloadRecord, String>(position: 6)
    /// The field `state`.
    public let state = ObjectStoreNames.Column<DownloadRecord, DownloadState>(position: 7)
    /// The field `intent`.
    public let intent = ObjectStoreNames.Column<DownloadRecord, DownloadIntent>(position: 8)
    /// The field `tags`.
    public let tags = ObjectStoreNames.Column<DownloadRecord, Set<String>>(position: 9)
    /// The field `priority`.
    public let priority = ObjectStoreNames.Column<DownloadRecord, Int32>(position: 10)
    /// The field `received`.
    public let received = ObjectStoreNames.Column<DownloadRecord, Int64>(position: 11)
    /// The field `expected`.
    public let expected = ObjectStoreNames.Column<DownloadRecord, Int64?>(position: 12)
    /// The field `entityTag`.
    public let entityTag = ObjectStoreNames.Column<DownloadRecord, String?>(position: 13)
    /// The field `lastModified`.
    public let lastModified = ObjectStoreNames.Column<DownloadRecord, String?>(position: 14)
    /// The field `resumeData`.
    package let resumeData = ObjectStoreNames.Column<DownloadRecord, Data?>(position: 15)
    /// The field `mirrors`.
    public let mirrors = ObjectStoreNames.Column<DownloadRecord, [String]>(position: 16)
    /// The field `expectedDigest`.
    public let expectedDigest = ObjectStoreNames.Column<DownloadRecord, String?>(position: 17)
    /// The field `verifiedDigest`.
    public let verifiedDigest = ObjectStoreNames.Column<DownloadRecord, String?>(position: 18)
    /// The field `isHeld`.
    public let isHeld = ObjectStoreNames.Column<DownloadRecord, Bool>(position: 19)
    /// The field `failedAttempts`.
    public let failedAttempts = ObjectStoreNames.Column<DownloadRecord, Int32>(position: 20)
    /// The field `attempts`.
    public let attempts = ObjectStoreNames.Column<DownloadRecord, [Attempt]>(position: 21)
    /// The field `nextRetryAt`.
    public let nextRetryAt = ObjectStoreNames.Column<DownloadRecord, Date?>(position: 22)
    /// The field `generation`.
    package let generation = ObjectStoreNames.Column<DownloadRecord, Int64>(position: 23)
    /// The field `createdAt`.
    public let createdAt = ObjectStoreNames.Column<DownloadRecord, Date>(position: 24)
    /// The field `updatedAt`.
    public let updatedAt = ObjectStoreNames.Column<DownloadRecord, Date>(position: 25)
    /// The field `completedAt`.
    public let completedAt = ObjectStoreNames.Column<DownloadRecord, Date?>(position: 26)
    /// The field `hasHeaders`.
    package let hasHeaders = ObjectStoreNames.Column<DownloadRecord, Bool>(position: 27)
    /// The field `unresolvedStarts`.
    package let unresolvedStarts = ObjectStoreNames.Column<DownloadRecord, Int32>(position: 28)
    /// The field `resolvedBytes`.
    package let resolvedBytes = ObjectStoreNames.Column<DownloadRecord, Int64>(position: 29)
    /// The field `fileIdentity`.
    public let fileIdentity = ObjectStoreNames.Column<DownloadRecord, FileIdentity?>(position: 30)
    /// The field `startsImmediately`.
    package let startsImmediately = ObjectStoreNames.Column<DownloadRecord, Bool>(position: 31)
    /// The field `removesFile`.
    package let removesFile = ObjectStoreNames.Column<DownloadRecord, Bool>(position: 32)
    /// The field `replacedFileIdentity`.
    package let replacedFileIdentity = ObjectStoreNames.Column<DownloadRecord, FileIdentity?>(
      position: 33
    )
    /// The field `isNameGiven`.
    package let isNameGiven = ObjectStoreNames.Column<DownloadRecord, Bool>(position: 34)
    /// The field `allowsCellular`.
    public let allowsCellular = ObjectStoreNames.Column<DownloadRecord, Bool>(position: 35)
    /// The field `prefersBackground`.
    public let prefersBackground = ObjectStoreNames.Column<DownloadRecord, Bool>(position: 36)
    /// The field `pendingHooks`.
    public let pendingHooks = ObjectStoreNames.Column<DownloadRecord, Set<DownloadHook>>(
      position: 37
    )
    /// The field `bytesPerSecond`.
    public let bytesPerSecond = ObjectStoreNames.Column<DownloadRecord, Int64?>(position: 38)
    /// The field `notBefore`.
    public let notBefore = ObjectStoreNames.Column<DownloadRecord, Date?>(position: 39)
    /// The field `ranges`.
    package let ranges = ObjectStoreNames.Column<DownloadRecord, Data?>(position: 40)
    /// The field `connections`.
    public let connections = ObjectStoreNames.Column<DownloadRecord, Int32?>(position: 41)
    /// The field `hasPieceDigests`.
    package let hasPieceDigests = ObjectStoreNames.Column<DownloadRecord, Bool>(position: 42)
    /// The field `partialWrittenAt`.
    package let partialWrittenAt = ObjectStoreNames.Column<DownloadRecord, Date?>(position: 43)
    /// The field `hasForeignFile`.
    package let hasForeignFile = ObjectStoreNames.Column<DownloadRecord, Bool>(position: 44)
    /// The field `partialIdentity`.
    package let partialIdentity = ObjectStoreNames.Column<DownloadRecord, FileIdentity?>(
      position: 45
    )
    /// The field `validatorOrigin`.
    package let validatorOrigin = ObjectStoreNames.Column<DownloadRecord, String?>(position: 46)
    /// The field `refreshed`.
    package let refreshed = ObjectStoreNames.Column<DownloadRecord, FinishedVersion?>(position: 47)
    /// The field `checkedAt`.
    public let checkedAt = ObjectStoreNames.Column<DownloadRecord, Date?>(position: 48)
    /// The field `keys`.
    public let keys = ObjectStoreNames.Column<DownloadRecord, Set<String>>(position: 49)
    /// The field `requiresName`.
    package let requiresName = ObjectStoreNames.Column<DownloadRecord, Bool>(position: 50)
    /// The field `refreshEvery`.
    public let refreshEvery = ObjectStoreNames.Column<DownloadRecord, Int64?>(position: 51)
    /// The field `refreshDates`.
    package let refreshDates = ObjectStoreNames.Column<DownloadRecord, Set<Date>>(position: 52)
    /// The field `keepVersions`.
    public let keepVersions = ObjectStoreNames.Column<DownloadRecord, Int32?>(position: 53)
    /// The field `keptVersions`.
    public let keptVersions = ObjectStoreNames.Column<DownloadRecord, [KeptVersion]>(position: 54)
  }

  /// The stored fields, for use in queries.
  public static let columns = Columns()

  /// The name and the fields under which objects are stored.
  public static let schema = ObjectStoreNames.ModelSchema(
    name: "DownloadRecord",
    fields: [
      ObjectStoreNames.FieldSchema("url", String.self, id: 1, isPrimaryKey: true),
      ObjectStoreNames.FieldSchema("id", String.self, id: 2, isIndexed: true),
      ObjectStoreNames.FieldSchema("filename", String.self, id: 3),
      ObjectStoreNames.FieldSchema("folder", String.self, id: 4),
      ObjectStoreNames.FieldSchema("root", String.self, id: 5),
      ObjectStoreNames.FieldSchema("destination", String.self, id: 6, isIndexed: true),
      ObjectStoreNames.FieldSchema("type", String.self, id: 7, isIndexed: true),
      ObjectStoreNames.FieldSchema("state", DownloadState.self, id: 8, isIndexed: true),
      ObjectStoreNames.FieldSchema("intent", DownloadIntent.self, id: 9),
      ObjectStoreNames.FieldSchema("tags", Set<String>.self, id: 10, isIndexed: true),
      ObjectStoreNames.FieldSchema("priority", Int32.self, id: 11),
      ObjectStoreNames.FieldSchema("received", Int64.self, id: 12, isHot: true),
      ObjectStoreNames.FieldSchema("expected", Int64.self, id: 13, isOptional: true),
      ObjectStoreNames.FieldSchema("entityTag", String.self, id: 14, isOptional: true),
      ObjectStoreNames.FieldSchema("lastModified", String.self, id: 15, isOptional: true),
      ObjectStoreNames.FieldSchema("resumeData", Data.self, id: 16, isOptional: true),
      ObjectStoreNames.FieldSchema("mirrors", [String].self, id: 17),
      ObjectStoreNames.FieldSchema("expectedDigest", String.self, id: 18, isOptional: true),
      ObjectStoreNames.FieldSchema(
        "verifiedDigest",
        String.self,
        id: 19,
        isOptional: true,
        isIndexed: true
      ),
      ObjectStoreNames.FieldSchema("isHeld", Bool.self, id: 20, default: false),
      ObjectStoreNames.FieldSchema("failedAttempts", Int32.self, id: 21, default: 0),
      ObjectStoreNames.FieldSchema("attempts", [Attempt].self, id: 22, default: []),
      ObjectStoreNames.FieldSchema("nextRetryAt", Date.self, id: 23, isOptional: true),
      ObjectStoreNames.FieldSchema("generation", Int64.self, id: 24, default: 0),
      ObjectStoreNames.FieldSchema("createdAt", Date.self, id: 25),
      ObjectStoreNames.FieldSchema("updatedAt", Date.self, id: 26, isHot: true),
      ObjectStoreNames.FieldSchema("completedAt", Date.self, id: 27, isOptional: true),
      ObjectStoreNames.FieldSchema("hasHeaders", Bool.self, id: 28, default: false),
      ObjectStoreNames.FieldSchema("unresolvedStarts", Int32.self, id: 29, default: 0, isHot: true),
      ObjectStoreNames.FieldSchema("resolvedBytes", Int64.self, id: 31, default: 0, isHot: true),
      ObjectStoreNames.FieldSchema("fileIdentity", FileIdentity.self, id: 30, isOptional: true),
      ObjectStoreNames.FieldSchema("startsImmediately", Bool.self, id: 32, default: false),
      ObjectStoreNames.FieldSchema("removesFile", Bool.self, id: 33, default: false),
      ObjectStoreNames.FieldSchema(
        "replacedFileIdentity",
        FileIdentity.self,
        id: 34,
        isOptional: true
      ),
      ObjectStoreNames.FieldSchema("isNameGiven", Bool.self, id: 35, default: false),
      ObjectStoreNames.FieldSchema("allowsCellular", Bool.self, id: 36, default: true),
      ObjectStoreNames.FieldSchema("prefersBackground", Bool.self, id: 37, default: false),
      ObjectStoreNames.FieldSchema(
        "pendingHooks",
        Set<DownloadHook>.self,
        id: 38,
        default: [],
        isIndexed: true
      ),
      ObjectStoreNames.FieldSchema("bytesPerSecond", Int64.self, id: 39, isOptional: true),
      ObjectStoreNames.FieldSchema("notBefore", Date.self, id: 40, isOptional: true),
      ObjectStoreNames.FieldSchema("ranges", Data.self, id: 41, isOptional: true),
      ObjectStoreNames.FieldSchema("connections", Int32.self, id: 42, isOptional: true),
      ObjectStoreNames.FieldSchema("hasPieceDigests", Bool.self, id: 43, default: false),
      ObjectStoreNames.FieldSchema(
        "partialWrittenAt",
        Date.self,
        id: 44,
        isOptional: true,
        isHot: true
      ),
      ObjectStoreNames.FieldSchema("hasForeignFile", Bool.self, id: 45, default: false),
      ObjectStoreNames.FieldSchema(
        "partialIdentity",
        FileIdentity.self,
        id: 46,
        isOptional: true,
        isHot: true
      ),
      ObjectStoreNames.FieldSchema("validatorOrigin", String.self, id: 47, isOptional: true),
      ObjectStoreNames.FieldSchema("refreshed", FinishedVersion.self, id: 48, isOptional: true),
      ObjectStoreNames.FieldSchema("checkedAt", Date.self, id: 49, isOptional: true),
      ObjectStoreNames.FieldSchema("keys", Set<String>.self, id: 50, default: [], isIndexed: true),
      ObjectStoreNames.FieldSchema("requiresName", Bool.self, id: 51, default: false),
      ObjectStoreNames.FieldSchema("refreshEvery", Int64.self, id: 52, isOptional: true),
      ObjectStoreNames.FieldSchema(
        "refreshDates",
        Set<Date>.self,
        id: 53,
        default: [],
        isIndexed: true
      ),
      ObjectStoreNames.FieldSchema("keepVersions", Int32.self, id: 54, isOptional: true),
      ObjectStoreNames.FieldSchema("keptVersions", [KeptVersion].self, id: 55, default: []),
    ],
    indexes: [
      ObjectStoreNames.IndexSchema(
        on: "state",
        "intent",
        "isHeld",
        "startsImmediately",
        "priority",
        "notBefore",
        "nextRetryAt"
      )
    ]
  )

  /// The value of `url`, which tells one object from another.
  public var primaryKey: String { url }

  /// Reads every stored field.
  public init(
    from record: borrowing ObjectStoreNames.RecordView
  ) throws(ObjectStoreNames.RecordError) {
    url = try record.value(at: 0)
    id = try record.value(at: 1)
    filename = try record.value(at: 2)
    folder = try record.value(at: 3)
    root = try record.value(at: 4)
    destination = try record.value(at: 5)
    type = try record.value(at: 6)
    state = try record.value(at: 7)
    intent = try record.value(at: 8)
    tags = try record.value(at: 9)
    priority = try record.value(at: 10)
    received = try record.value(at: 11)
    expected = try record.optional(at: 12)
    entityTag = try record.optional(at: 13)
    lastModified = try record.optional(at: 14)
    resumeData = try record.optional(at: 15)
    mirrors = try record.value(at: 16)
    expectedDigest = try record.optional(at: 17)
    verifiedDigest = try record.optional(at: 18)
    isHeld = try record.value(at: 19)
    failedAttempts = try record.value(at: 20)
    attempts = try record.value(at: 21)
    nextRetryAt = try record.optional(at: 22)
    generation = try record.value(at: 23)
    createdAt = try record.value(at: 24)
    updatedAt = try record.value(at: 25)
    completedAt = try record.optional(at: 26)
    hasHeaders = try record.value(at: 27)
    unresolvedStarts = try record.value(at: 28)
    resolvedBytes = try record.value(at: 29)
    fileIdentity = try record.optional(at: 30)
    startsImmediately = try record.value(at: 31)
    removesFile = try record.value(at: 32)
    replacedFileIdentity = try record.optional(at: 33)
    isNameGiven = try record.value(at: 34)
    allowsCellular = try record.value(at: 35)
    prefersBackground = try record.value(at: 36)
    pendingHooks = try record.value(at: 37)
    bytesPerSecond = try record.optional(at: 38)
    notBefore = try record.optional(at: 39)
    ranges = try record.optional(at: 40)
    connections = try record.optional(at: 41)
    hasPieceDigests = try record.value(at: 42)
    partialWrittenAt = try record.optional(at: 43)
    hasForeignFile = try record.value(at: 44)
    partialIdentity = try record.optional(at: 45)
    validatorOrigin = try record.optional(at: 46)
    refreshed = try record.optional(at: 47)
    checkedAt = try record.optional(at: 48)
    keys = try record.value(at: 49)
    requiresName = try record.value(at: 50)
    refreshEvery = try record.optional(at: 51)
    refreshDates = try record.value(at: 52)
    keepVersions = try record.optional(at: 53)
    keptVersions = try record.value(at: 54)
  }

  /// Writes every stored field.
  public func encode(to record: inout ObjectStoreNames.RecordEncoder) {
    record.encode(url)
    record.encode(id)
    record.encode(filename)
    record.encode(folder)
    record.encode(root)
    record.encode(destination)
    record.encode(type)
    record.encode(state)
    record.encode(intent)
    record.encode(tags)
    record.encode(priority)
    record.encode(received)
    record.encode(expected)
    record.encode(entityTag)
    record.encode(lastModified)
    record.encode(resumeData)
    record.encode(mirrors)
    record.encode(expectedDigest)
    record.encode(verifiedDigest)
    record.encode(isHeld)
    record.encode(failedAttempts)
    record.encode(attempts)
    record.encode(nextRetryAt)
    record.encode(generation)
    record.encode(createdAt)
    record.encode(updatedAt)
    record.encode(completedAt)
    record.encode(hasHeaders)
    record.encode(unresolvedStarts)
    record.encode(resolvedBytes)
    record.encode(fileIdentity)
    record.encode(startsImmediately)
    record.encode(removesFile)
    record.encode(replacedFileIdentity)
    record.encode(isNameGiven)
    record.encode(allowsCellular)
    record.encode(prefersBackground)
    record.encode(pendingHooks)
    record.encode(bytesPerSecond)
    record.encode(notBefore)
    record.encode(ranges)
    record.encode(connections)
    record.encode(hasPieceDigests)
    record.encode(partialWrittenAt)
    record.encode(hasForeignFile)
    record.encode(partialIdentity)
    record.encode(validatorOrigin)
    record.encode(refreshed)
    record.encode(checkedAt)
    record.encode(keys)
    record.encode(requiresName)
    record.encode(refreshEvery)
    record.encode(refreshDates)
    record.encode(keepVersions)
    record.encode(keptVersions)
  }

  /// Where the field of a property stands, for predicates of Foundation.
  public static func fieldPosition(of property: Swift.PartialKeyPath<DownloadRecord>) -> Swift.Int?
  {
    let properties: [Swift.PartialKeyPath<DownloadRecord>] = [
      \.url,
      \.id,
      \.filename,
      \.folder,
      \.root,
      \.destination,
      \.type,
      \.state,
      \.intent,
      \.tags,
      \.priority,
      \.received,
      \.expected,
      \.entityTag,
      \.lastModified,
      \.resumeData,
      \.mirrors,
      \.expectedDigest,
      \.verifiedDigest,
      \.isHeld,
      \.failedAttempts,
      \.attempts,
      \.nextRetryAt,
      \.generation,
      \.createdAt,
      \.updatedAt,
      \.completedAt,
      \.hasHeaders,
      \.unresolvedStarts,
      \.resolvedBytes,
      \.fileIdentity,
      \.startsImmediately,
      \.removesFile,
      \.replacedFileIdentity,
      \.isNameGiven,
      \.allowsCellular,
      \.prefersBackground,
      \.pendingHooks,
      \.bytesPerSecond,
      \.notBefore,
      \.ranges,
      \.connections,
      \.hasPieceDigests,
      \.partialWrittenAt,
      \.hasForeignFile,
      \.partialIdentity,
      \.validatorOrigin,
      \.refreshed,
      \.checkedAt,
      \.keys,
      \.requiresName,
      \.refreshEvery,
      \.refreshDates,
      \.keepVersions,
      \.keptVersions,
    ]
    return properties.firstIndex(of: property)
  }
}
