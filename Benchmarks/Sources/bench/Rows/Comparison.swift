import Foundation

/// Runs every row, the contenders in turn inside each, and checks what they did.
struct Comparison {
  /// The records of the small stores, whatever the number in the others.
  static let smallCount = 10_000
  static let batch = 1_000

  let count: Int
  let names: [String]
  let folder: URL
  let wanted: Set<RowName>
  let repetitionFactor: Double
  let generator = DownloadGenerator()
  var random = SplitMix64(state: 42)
  var round = 0
  /// The records that have changed, as they are now.
  var changed: [Int: Download] = [:]
  var facts = Facts()
  /// With all records, in any order.
  var contenders: [(name: String, store: any Contender)] = []
  var rows: [TableRow] = [] {
    // A full run takes its time: say what is done.
    didSet { FileHandle.standardError.write(Data("\(rows.last?.name ?? "")\n".utf8)) }
  }

  /// What is known of the records as they were added.
  struct Facts {
    static let bound = DownloadGenerator.greatestSize / 4

    var failed = Digest()
    var countAboveBound = 0

    mutating func add(_ downloads: [Download]) {
      for download in downloads {
        if download.state == Download.failed { failed.add(download) }
        if download.received > Self.bound { countAboveBound += 1 }
      }
    }
  }

  /// Compares stores of `count` records below `folder`, which is empty.
  init(count: Int, names: [String], folder: URL, wanted: Set<RowName>, repetitionFactor: Double) {
    self.count = count
    self.names = names
    self.folder = folder
    self.wanted = wanted
    self.repetitionFactor = repetitionFactor
  }

  mutating func run() async throws {
    try load()
    try measure(.size) { try $0.measureSizes() }
    try measure(.batches) { try $0.loadInBatches() }
    // Reading comes before writing: what is expected is what was added.
    if !wanted.isDisjoint(with: [.whole, .field]) { try warm() }
    try measure(.whole) { try $0.readWhole() }
    try measure(.field) { try $0.readOneField() }
    try measure(.query) { try $0.readFailed() }
    try measure(.filter) { try $0.filter() }
    try measure(.upsert) { try $0.upsert() }
    try measure(.newest) { try $0.updateNewest() }
    try measure(.random) { try $0.updateRandom() }
    try measure(.commit) { try $0.commitOne() }
    try measure(.reader) { try $0.readBesideWriter() }
    contenders = []
    if !wanted.isDisjoint(with: [.tasks, .observe, .open]) { try loadSmall() }
    if wanted.contains(.tasks) { try await commitFromTasks() }
    if wanted.contains(.observe) { try await observe() }
    try measure(.open) { try $0.open() }
  }

  private mutating func measure(
    _ name: RowName,
    _ body: (inout Self) throws -> Void
  ) throws {
    if wanted.contains(name) { try body(&self) }
  }

  // MARK: Turns

  func repetitions(_ usual: Int) -> Range<Int> {
    0..<max(1, Int((Double(usual) * repetitionFactor).rounded()))
  }

  /// All of them, beginning with another one in each repetition.
  func turn<Element>(_ all: [Element], _ repetition: Int) -> [Element] {
    let first = repetition % max(all.count, 1)
    return Array(all[first...] + all[..<first])
  }

  // MARK: Records

  func download(_ index: Int) -> Download { changed[index] ?? generator.download(index) }

  mutating func randomIndices(_ number: Int) -> [Int] {
    (0..<min(number, count)).map { _ in Int.random(in: 0..<count, using: &random) }
  }

  /// Notes the progress, and returns it.
  mutating func nextProgress(of index: Int) -> Progress {
    let progress = generator.progress(index, round: round)
    var download = download(index)
    download.received = progress.received
    download.updatedAt = progress.updatedAt
    changed[index] = download
    return progress
  }

  /// Reads some of those records back.
  func check(_ store: any Contender, _ name: String, _ indices: [Int]) throws {
    for index in indices.shuffled().prefix(100) {
      let found = try store.download(generator.url(index))
      guard found == download(index) else {
        throw Mismatch("\(name) has not kept \(generator.url(index)) as it was written")
      }
    }
  }

  func expect<Value: Equatable>(_ value: Value, _ found: Value, _ name: String) throws {
    guard found == value else { throw Mismatch("\(name) found \(found) instead of \(value)") }
  }
}

extension TableRow {
  /// Adds processor time, in seconds of `unit` and divided by `number`.
  mutating func add(
    processorTimeOf stopwatch: Stopwatch,
    in unit: Double,
    for number: Int = 1,
    _ contender: String
  ) {
    add(
      stopwatch.processor.inUnits(of: unit) / Double(number),
      otherClock: stopwatch.wall.inUnits(of: unit) / Double(number),
      for: contender
    )
  }

  /// Adds wall-clock time, in seconds of `unit` and divided by `number`.
  mutating func add(
    timeOf stopwatch: Stopwatch,
    in unit: Double,
    for number: Int = 1,
    _ contender: String
  ) {
    add(
      stopwatch.wall.inUnits(of: unit) / Double(number),
      otherClock: stopwatch.processor.inUnits(of: unit) / Double(number),
      for: contender
    )
  }
}
