/// How an engine works.
public struct EngineOptions: Sendable {
  /// How the last engine of the store ended, as far as the caller knows.
  public enum PreviousExit: Sendable, Hashable {
    /// It stopped, was killed, or lost power: no transfer is to blame.
    case innocent
    /// The process crashed: one of the transfers that were under way may be to blame.
    case crashed
  }

  /// How many downloads run, and how many from one host.
  public var limits: ConcurrencyLimits
  /// Whether and when a failed download is tried again.
  public var retry = RetryPolicy()
  /// The longest time between two checkpoints of a download that makes progress.
  public var checkpointInterval = Duration.seconds(1)
  /// A checkpoint is made early when so many bytes are not synced yet.
  public var checkpointBytes: Int64 = 32 << 20
  /// A download is given up after so many crashes while nothing but it was starting.
  public var maximumUnresolvedStarts: Int32 = 3
  /// How long a suspect runs alone when it shows neither progress nor an end.
  public var probation = Duration.seconds(5)
  /// Whether bytes on disk are continued of which neither a validator nor a digest tells whether they
  /// still belong to the server's file.
  ///
  /// The size alone tells then: a file that has changed and kept its size becomes a mixture of both.
  /// Without it such a download begins anew.
  public var continuesUnvalidated = false
  /// Where the name of a file comes from that nobody has named.
  public var naming = FileNaming.fromResponse
  /// See each request before it is sent, in ascending priority.
  public var requestInterceptors: [any RequestInterceptor] = []
  /// Are told of each end, in ascending priority.
  public var responseInterceptors: [any ResponseInterceptor] = []
  /// How long one interceptor may take over one request or response.
  public var interceptorDeadline = Duration.seconds(30)
  /// How long to wait for the store's lock, which a process that was killed may hold until it is
  /// gone.
  public var lockPatience = Duration.seconds(1)
  /// How the last engine ended.
  public var previousExit = PreviousExit.innocent
  /// How often a full disk is looked at for room.
  public var diskSpaceInterval = Duration.seconds(5)
  /// The URLs to work on; `nil` for all of the store.
  public var scope: Set<String>?

  /// The usual way to work, with so many downloads at one time.
  public init(maximumRunning: Int = 4, maximumPerHost: Int = 4) {
    limits = ConcurrencyLimits(maximumRunning: maximumRunning, maximumPerHost: maximumPerHost)
  }
}
