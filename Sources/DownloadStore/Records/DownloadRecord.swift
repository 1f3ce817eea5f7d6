// Expanded from DownloadRecord.model by the @Model macro. Do not edit: change the template and run `make models`.
public import ObjectStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Everything that is kept of one download.
///
/// A record is a plain value. Its identity is the URL exactly as it was given: it is never
/// normalised, because that would merge different resources and break signed URLs.
public struct DownloadRecord: Sendable, Hashable {
  /// The URL as given.
  public var url: String
  /// Names the record in tables and on the command line.
  ///
  /// It is 16 hexadecimal digits made of the URL. Any unique prefix will do.
  public var id: String
  /// The name of the finished file: one component, at most 255 bytes.
  public var filename: String
  /// The folder below the root, with `/` between its parts; empty for the root itself.
  public var folder: String
  /// The name of the root, whose path the store keeps apart; see ``Root``.
  public var root: String
  /// Root, folder and name as one text.
  ///
  /// No two records have the same.
  public var destination: String
  /// What kind of file it is, in the caller's words.
  public var type: String
  /// How far the download is.
  public var state: DownloadState
  /// What its owner wants.
  public var intent: DownloadIntent
  /// The groups that the download belongs to.
  public var tags: Set<String>
  /// Higher goes first.
  ///
  /// Records of one priority go in the order in which they were added.
  public var priority: Int32
  /// The bytes that are on disk and synced.
  ///
  /// The next byte is asked for from here.
  public var received: Int64
  /// The size of the whole entity in bytes, once a server has said it.
  public var expected: Int64?
  /// The entity tag of the bytes on disk, as the server wrote it, quotes included.
  public var entityTag: String?
  /// The `Last-Modified` of the bytes on disk, as the server wrote it.
  public var lastModified: String?
  /// Resume data of Apple's URLSession, as it was handed over.
  public var resumeData: Data?
  /// Other URLs of the same entity, tried in order after the first.
  public var mirrors: [String]
  /// The digest that the file must have, such as `sha256:` and 64 hexadecimal digits.
  public var expectedDigest: String?
  /// The digest that the finished file was found to have.
  public var verifiedDigest: String?
  /// Whether it is only started by hand.
  public var isHeld: Bool = false
  /// How many attempts have failed since the download was last started by hand or made progress.
  public var failedAttempts: Int32 = 0
  /// The last attempts that failed, oldest first; at most ``Attempt/limit``.
  public var attempts: [Attempt] = []
  /// When the next attempt may begin.
  public var nextRetryAt: Date?
  /// Counts the transfers that were started, and the times that it was begun from nothing, on from
  /// the number of the commit that added the record.
  ///
  /// What is heard of an older one is not applied.
  public var generation: Int64 = 0
  /// When the record was added.
  public var createdAt: Date
  /// When the record last changed.
  public var updatedAt: Date
  /// When the file was complete under its name.
  public var completedAt: Date?
  /// Whether there are request headers in ``RequestHeaders`` under the record's id.
  public var hasHeaders: Bool = false
  /// Transfers begun since one last showed progress or an outcome.
  ///
  /// A server that crashes the process is known by it.
  public var unresolvedStarts: Int32 = 0
  /// The most bytes that were ever on disk.
  ///
  /// Only progress beyond it clears ``unresolvedStarts``: a server may crash the process at the end
  /// of every body.
  public var resolvedBytes: Int64 = 0
  /// What the finished file is known by: recorded before it gets its name.
  public var fileIdentity: FileIdentity?
  /// Whether somebody asked that it start at once, if need be in the place of the oldest one that
  /// runs.
  ///
  /// Cleared when it starts.
  public var startsImmediately: Bool = false
  /// Whether the finished file goes with the record when that is removed.
  public var removesFile: Bool = false
  /// What the finished file of before is known by, whose place the next one takes.
  public var replacedFileIdentity: FileIdentity?
  /// Whether the file's name was asked for.
  ///
  /// One that was only made of the URL gives way to what a server calls the file.
  public var isNameGiven: Bool = false
  /// Whether it may use a cellular network.
  ///
  /// URLSession on Apple systems honours it. On Linux it has no effect.
  public var allowsCellular: Bool = true
  /// Whether it should go on while its application does not run.
  ///
  /// `RoutingTransport` honours it. Over `BackgroundURLSessionTransport` alone every download goes on,
  /// over any other transport alone none does.
  public var prefersBackground: Bool = false
}

nonisolated extension DownloadRecord: Model {
  /// The stored fields, each under its name.
  public nonisolated struct Columns: Sendable {
    /// The field `url`.
    public let url = Column<DownloadRecord, String>(position: 0)
    /// The field `id`.
    public let id = Column<DownloadRecord, String>(position: 1)
    /// The field `filename`.
    public let filename = Column<DownloadRecord, String>(position: 2)
    /// The field `folder`.
    public let folder = Column<DownloadRecord, String>(position: 3)
    /// The field `root`.
    public let root = Column<DownloadRecord, String>(position: 4)
    /// The field `destination`.
    public let destination = Column<DownloadRecord, String>(position: 5)
    /// The field `type`.
    public let type = Column<DownloadRecord, String>(position: 6)
    /// The field `state`.
    public let state = Column<DownloadRecord, DownloadState>(position: 7)
    /// The field `intent`.
    public let intent = Column<DownloadRecord, DownloadIntent>(position: 8)
    /// The field `tags`.
    public let tags = Column<DownloadRecord, Set<String>>(position: 9)
    /// The field `priority`.
    public let priority = Column<DownloadRecord, Int32>(position: 10)
    /// The field `received`.
    public let received = Column<DownloadRecord, Int64>(position: 11)
    /// The field `expected`.
    public let expected = Column<DownloadRecord, Int64?>(position: 12)
    /// The field `entityTag`.
    public let entityTag = Column<DownloadRecord, String?>(position: 13)
    /// The field `lastModified`.
    public let lastModified = Column<DownloadRecord, String?>(position: 14)
    /// The field `resumeData`.
    public let resumeData = Column<DownloadRecord, Data?>(position: 15)
    /// The field `mirrors`.
    public let mirrors = Column<DownloadRecord, [String]>(position: 16)
    /// The field `expectedDigest`.
    public let expectedDigest = Column<DownloadRecord, String?>(position: 17)
    /// The field `verifiedDigest`.
    public let verifiedDigest = Column<DownloadRecord, String?>(position: 18)
    /// The field `isHeld`.
    public let isHeld = Column<DownloadRecord, Bool>(position: 19)
    /// The field `failedAttempts`.
    public let failedAttempts = Column<DownloadRecord, Int32>(position: 20)
    /// The field `attempts`.
    public let attempts = Column<DownloadRecord, [Attempt]>(position: 21)
    /// The field `nextRetryAt`.
    public let nextRetryAt = Column<DownloadRecord, Date?>(position: 22)
    /// The field `generation`.
    public let generation = Column<DownloadRecord, Int64>(position: 23)
    /// The field `createdAt`.
    public let createdAt = Column<DownloadRecord, Date>(position: 24)
    /// The field `updatedAt`.
    public let updatedAt = Column<DownloadRecord, Date>(position: 25)
    /// The field `completedAt`.
    public let completedAt = Column<DownloadRecord, Date?>(position: 26)
    /// The field `hasHeaders`.
    public let hasHeaders = Column<DownloadRecord, Bool>(position: 27)
    /// The field `unresolvedStarts`.
    public let unresolvedStarts = Column<DownloadRecord, Int32>(position: 28)
    /// The field `resolvedBytes`.
    public let resolvedBytes = Column<DownloadRecord, Int64>(position: 29)
    /// The field `fileIdentity`.
    public let fileIdentity = Column<DownloadRecord, FileIdentity?>(position: 30)
    /// The field `startsImmediately`.
    public let startsImmediately = Column<DownloadRecord, Bool>(position: 31)
    /// The field `removesFile`.
    public let removesFile = Column<DownloadRecord, Bool>(position: 32)
    /// The field `replacedFileIdentity`.
    public let replacedFileIdentity = Column<DownloadRecord, FileIdentity?>(position: 33)
    /// The field `isNameGiven`.
    public let isNameGiven = Column<DownloadRecord, Bool>(position: 34)
    /// The field `allowsCellular`.
    public let allowsCellular = Column<DownloadRecord, Bool>(position: 35)
    /// The field `prefersBackground`.
    public let prefersBackground = Column<DownloadRecord, Bool>(position: 36)
  }

  /// The stored fields, for use in queries.
  public static let columns = Columns()

  /// The name and the fields under which objects are stored.
  public static let schema = ModelSchema(
    name: "DownloadRecord",
    fields: [
      FieldSchema("url", String.self, id: 1, isPrimaryKey: true),
      FieldSchema("id", String.self, id: 2, isIndexed: true),
      FieldSchema("filename", String.self, id: 3),
      FieldSchema("folder", String.self, id: 4),
      FieldSchema("root", String.self, id: 5),
      FieldSchema("destination", String.self, id: 6, isIndexed: true),
      FieldSchema("type", String.self, id: 7, isIndexed: true),
      FieldSchema("state", DownloadState.self, id: 8, isIndexed: true),
      FieldSchema("intent", DownloadIntent.self, id: 9),
      FieldSchema("tags", Set<String>.self, id: 10, isIndexed: true),
      FieldSchema("priority", Int32.self, id: 11),
      FieldSchema("received", Int64.self, id: 12, isHot: true),
      FieldSchema("expected", Int64.self, id: 13, isOptional: true),
      FieldSchema("entityTag", String.self, id: 14, isOptional: true),
      FieldSchema("lastModified", String.self, id: 15, isOptional: true),
      FieldSchema("resumeData", Data.self, id: 16, isOptional: true),
      FieldSchema("mirrors", [String].self, id: 17),
      FieldSchema("expectedDigest", String.self, id: 18, isOptional: true),
      FieldSchema("verifiedDigest", String.self, id: 19, isOptional: true),
      FieldSchema("isHeld", Bool.self, id: 20),
      FieldSchema("failedAttempts", Int32.self, id: 21),
      FieldSchema("attempts", [Attempt].self, id: 22),
      FieldSchema("nextRetryAt", Date.self, id: 23, isOptional: true),
      FieldSchema("generation", Int64.self, id: 24),
      FieldSchema("createdAt", Date.self, id: 25),
      FieldSchema("updatedAt", Date.self, id: 26, isHot: true),
      FieldSchema("completedAt", Date.self, id: 27, isOptional: true),
      FieldSchema("hasHeaders", Bool.self, id: 28),
      FieldSchema("unresolvedStarts", Int32.self, id: 29, isHot: true),
      FieldSchema("resolvedBytes", Int64.self, id: 31, isHot: true),
      FieldSchema("fileIdentity", FileIdentity.self, id: 30, isOptional: true),
      FieldSchema("startsImmediately", Bool.self, id: 32),
      FieldSchema("removesFile", Bool.self, id: 33),
      FieldSchema("replacedFileIdentity", FileIdentity.self, id: 34, isOptional: true),
      FieldSchema("isNameGiven", Bool.self, id: 35),
      FieldSchema("allowsCellular", Bool.self, id: 36),
      FieldSchema("prefersBackground", Bool.self, id: 37),
    ]
  )

  /// The value of `url`, which tells one object from another.
  public var primaryKey: String { url }

  /// Reads every stored field.
  public init(from record: borrowing RecordView) throws(RecordError) {
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
    isHeld = try record.value(at: 19, default: false)
    failedAttempts = try record.value(at: 20, default: 0)
    attempts = try record.value(at: 21, default: [])
    nextRetryAt = try record.optional(at: 22)
    generation = try record.value(at: 23, default: 0)
    createdAt = try record.value(at: 24)
    updatedAt = try record.value(at: 25)
    completedAt = try record.optional(at: 26)
    hasHeaders = try record.value(at: 27, default: false)
    unresolvedStarts = try record.value(at: 28, default: 0)
    resolvedBytes = try record.value(at: 29, default: 0)
    fileIdentity = try record.optional(at: 30)
    startsImmediately = try record.value(at: 31, default: false)
    removesFile = try record.value(at: 32, default: false)
    replacedFileIdentity = try record.optional(at: 33)
    isNameGiven = try record.value(at: 34, default: false)
    allowsCellular = try record.value(at: 35, default: true)
    prefersBackground = try record.value(at: 36, default: false)
  }

  /// Writes every stored field.
  public func encode(to record: inout RecordEncoder) {
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
  }

  /// Where the field of a property stands, for predicates of Foundation.
  public static func fieldPosition(of property: PartialKeyPath<DownloadRecord>) -> Int? {
    let properties: [PartialKeyPath<DownloadRecord>] = [
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
    ]
    return properties.firstIndex(of: property)
  }
}
