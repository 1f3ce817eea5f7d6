internal import DownloadSync

/// The parameters of one seed: the number of downloads, the engine's options, and the faults.
///
/// Each seed omits about half of the faults (Groce et al., "Swarm Testing", 2012): with all of them
/// in one run, no run would get far enough to meet the rare ones.
struct Profile: Sendable {
  var recordCount: Int
  var hostCount: Int
  var maximumRunning: Int
  var maximumPerHost: Int
  var largestBody: Int
  var largestChunk: Int
  var checkpointBytes: Int
  var stepCount: Int
  var commands: Double
  var kills: Double
  var powerCuts: Double
  var stops: Double
  var brokenTasks: Double
  var lateEnds: Double
  var serverFaults: Double
  var changedEntities: Double
  var tampering: Double
  var fullDisks: Double
  var diskErrors: Double
  var clockJumps: Double
  var foreignFiles: Double
  var leftTasks: Double
  /// The probability that a sync of a file fails and loses the unsynced bytes.
  var failedSyncs: Double
  /// Whether only some URLs of a page get a new version.
  var dividesVersions: Bool
  /// Whether downloads use a background session, whose tasks survive the process.
  var isInBackground: Bool
  /// The number of bytes between two copies of a session's temporary file; no copies if `nil`.
  var copyInterval: Int64?
  /// Fewer downloads than the engine keeps in memory by default, so that most stay in the store.
  var queueBounds: QueueBounds
  /// The number of connections that a file may have.
  var connections = 1
  /// The length below which a range is not split.
  var shortestPart: Int64 = 1
  var preallocation = Preallocation.none
  /// The shortest length of the pieces whose digests are recorded.
  var pieceLength: Int64 = 1 << 20
  /// The probability that another program overwrites a partial file between two processes, so that
  /// only its modification time shows it.
  var overwrites = 0.0
  /// The probability that a server that changes its behaviour falsifies ranges.
  var falseRanges = 0.0
  /// The probability that another program changes a partial file during a step of a process.
  var interference = 0.0
  /// The probability that all records are exported and imported again between two processes.
  var imports = 0.0
  /// The probability of a step in which a command after an end begins or ends.
  var hooks = 0.0
  /// The probability that the volume with the files is unmounted, or mounted again, between two
  /// processes.
  var unmounts = 0.0
  /// The probability that a foreign file gets the name of a download between two processes.
  var strangers = 0.0
  /// The probability that a command is a refresh.
  var refreshes = 0.0
  /// The probability that an engine runs until it is idle, and not until it is stopped.
  var idleRuns = 0.0

  /// Draws a profile.
  ///
  /// Faults that were added later are drawn from `later`, so that older seeds keep their history.
  init(_ chance: Chance, later: Chance, isInBackground: Bool) {
    self.isInBackground = isInBackground
    failedSyncs = later.happens(0.2) ? 0.1 : 0
    dividesVersions = later.happens(0.3)
    func one(of numbers: [Int]) -> Int { numbers[chance.number(in: 0...numbers.count - 1)] }
    func sometimes(_ probability: Double) -> Double { chance.happens(0.5) ? probability : 0 }
    recordCount = chance.number(in: 1...5)
    hostCount = chance.number(in: 1...2)
    maximumRunning = chance.number(in: 1...3)
    maximumPerHost = chance.number(in: 1...2)
    largestBody = one(of: [0, 40, 1_000, 6_000])
    // No body takes more than a few tens of steps.
    largestChunk = max(one(of: [1, 100, 1_000, 6_000]), largestBody / 20)
    checkpointBytes = one(of: [1, 200, 2_000, 1 << 20])
    stepCount = chance.number(in: 60...260)
    commands = sometimes(chance.happens(0.3) ? 0.4 : 0.08)
    kills = sometimes(0.02)
    powerCuts = sometimes(0.5)
    stops = sometimes(0.01)
    brokenTasks = sometimes(0.04)
    lateEnds = sometimes(0.7)
    serverFaults = sometimes(0.02)
    changedEntities = sometimes(0.01)
    tampering = sometimes(0.5)
    fullDisks = sometimes(0.01)
    diskErrors = sometimes(0.003)
    clockJumps = sometimes(0.01)
    foreignFiles = sometimes(0.01)
    leftTasks = sometimes(0.5)
    if dividesVersions {
      // Versions can only be mixed where a URL is replaced while a transfer resumes another
      // version, so many transfers have to break halfway.
      brokenTasks = 0.1
      checkpointBytes = 1
      largestBody = 1_000
      largestChunk = 100
      stepCount = 260
    }
    // Derived from earlier choices, so that seeds without a session keep their history.
    queueBounds = QueueBounds(
      perHost: later.number(in: 1...3),
      delayed: later.number(in: 1...2),
      page: later.number(in: 1...3),
      pagesPerTurn: later.number(in: 1...2)
    )
    if later.happens(0.2) { recordCount += later.number(in: 1...7) }
    copyInterval = isInBackground && recordCount % 2 == 0 ? Int64(max(1, largestBody / 5)) : nil
  }

  /// Downloads files over several connections.
  ///
  /// Not a part of the other draws, so that the seeds without parts keep their history.
  mutating func split(_ chance: Chance) {
    connections = chance.number(in: 2...5)
    shortestPart = [1, 10, 100][chance.number(in: 0...2)]
    maximumRunning += chance.number(in: 1...5)
    maximumPerHost += chance.number(in: 1...5)
    // Parts need bodies that take more than a few steps.
    largestBody = max(1_000, largestBody)
    largestChunk = chance.number(in: 10...200)
    stepCount = max(200, stepCount)
    if chance.happens(0.3) { preallocation = .sparse }
    if chance.happens(0.5) { pieceLength = [20, 100, 500][chance.number(in: 0...2)] }
  }
}
