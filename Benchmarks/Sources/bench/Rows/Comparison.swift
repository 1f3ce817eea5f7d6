import Foundation

/// Runs every row with each contender in turn, and checks the results.
struct Comparison {
  /// The number of records in the small stores, independent of the number in the others.
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
  /// The current values of the changed records.
  var changed: [Int: Download] = [:]
  var facts = Facts()
  /// The stores with all records, in any order.
  var contenders: [(name: String, store: any Contender)] = []
  var rows: [TableRow] = [] {
    // A full run takes long, so print progress.
    didSet { FileHandle.standardError.write(Data("\(rows.last?.name ?? "")\n".utf8)) }
  }

  /// Expected results for the records as added.
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

  /// Creates a comparison of stores with `count` records below `folder`, which is empty.
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
    // Reads come before writes, because the expected results are those of the records as added.
    if !wanted.isDisjoint(with: [.whole, .together, .field]) { try warm() }
    try measure(.whole) { try $0.readWhole() }
    try measure(.together) { try $0.readTogether() }
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
    guard wanted.contains(name) else { return }
    // Pages that earlier rows have changed would otherwise be written during this one.
    sync()
    try body(&self)
  }

  // MARK: Turns

  func repetitions(_ usual: Int) -> Range<Int> {
    0..<max(1, Int((Double(usual) * repetitionFactor).rounded()))
  }

  /// All contenders, starting with a different one in each repetition.
  func turn<Element>(_ all: [Element], _ repetition: Int) -> [Element] {
    let first = repetition % max(all.count, 1)
    return Array(all[first...] + all[..<first])
  }

  // MARK: Records

  func download(_ index: Int) -> Download { changed[index] ?? generator.download(index) }

  mutating func randomIndices(_ number: Int) -> [Int] {
    (0..<min(number, count)).map { _ in Int.random(in: 0..<count, using: &random) }
  }

  /// Records the progress as expected, and returns it.
  mutating func nextProgress(of index: Int) -> Progress {
    let progress = generator.progress(index, round: round)
    var download = download(index)
    download.received = progress.received
    download.updatedAt = progress.updatedAt
    changed[index] = download
    return progress
  }

  /// Reads some of the records back, and checks them.
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
  /// Adds a sample of processor time, divided by `number`, in units of `unit` seconds.
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

  /// Adds a sample of wall-clock time, divided by `number`, in units of `unit` seconds.
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
