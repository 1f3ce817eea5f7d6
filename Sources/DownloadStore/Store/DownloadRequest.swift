/// What somebody asks for: a URL, and how it is to be downloaded.
public struct DownloadRequest: Sendable, Hashable {
  /// The URL; also the record's identity.
  public var url: String
  /// The name of the finished file; by default the one that the URL suggests.
  public var filename: String?
  /// What happens when another download or a file has the name.
  ///
  /// A file is kept or replaced only if it is a regular one that no other record has.
  public var collision = NameCollision.number
  /// The folder below the root.
  public var folder = ""
  /// The name of the root.
  public var root = RootName.standard
  /// What kind of file it is; by default the extension of its name.
  public var type: String?
  /// The groups that it belongs to.
  public var tags: Set<String> = []
  /// Higher goes first.
  public var priority: Int32 = 0
  /// Other URLs of the same entity.
  public var mirrors: [String] = []
  /// The digest that the file must have.
  public var digest: Digest?
  /// Header fields to send.
  ///
  /// They belong to the origin of ``url``. A mirror or a redirect target of another origin, and a URL
  /// that replaces this one, get none that ``Redaction`` hides; see ``HeaderScope``.
  public var headers: [HeaderField] = []
  /// Whether it may use a cellular network.
  ///
  /// URLSession on Apple systems honours it. On Linux it has no effect.
  public var allowsCellular = true
  /// Whether it should go on while its application does not run.
  ///
  /// `RoutingTransport` honours it. Over `BackgroundURLSessionTransport` alone every download goes on,
  /// over any other transport alone none does.
  public var prefersBackground = false
  /// Stores the record without having it run.
  public var isPaused = false

  /// Asks for a URL.
  public init(url: String) {
    self.url = url
  }
}

/// The names of roots.
public enum RootName {
  /// The root of what is added without another one.
  public static let standard = "default"
}
