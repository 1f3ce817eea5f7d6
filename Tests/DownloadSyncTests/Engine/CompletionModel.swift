import DownloadStore
import Testing

@testable import DownloadSync

/// What happens to one file at each stage of a completion.
struct CompletionScript: Hashable {
  enum Pieces: CaseIterable { case none, intact, damaged }
  enum Check: CaseIterable { case none, right, wrong, changed, touched, unreadable, unsupported }
  enum Sync: CaseIterable { case done, failed, interfered }
  enum Rename: CaseIterable {
    case placed, replaced, failed, takenOnce, takenAndChanged, takenAndFailed
  }

  var pieces = Pieces.none
  var check = Check.none
  var sync = Sync.done
  var isWanted = true
  var rename = Rename.placed
  var syncsFolder = true

  /// All sequences of results; those after a failure do not matter.
  static let all: [Self] = {
    var all: Set<Self> = []
    for pieces in Pieces.allCases {
      for check in Check.allCases {
        for sync in Sync.allCases {
          for isWanted in [true, false] {
            for rename in Rename.allCases {
              for syncsFolder in [true, false] {
                let script = Self(
                  pieces: pieces,
                  check: check,
                  sync: sync,
                  isWanted: isWanted,
                  rename: rename,
                  syncsFolder: syncsFolder
                )
                all.insert(script.shortened)
              }
            }
          }
        }
      }
    }
    return all.sorted { "\($0)" < "\($1)" }
  }()

  /// The script without the results that it does not get to.
  private var shortened: Self {
    if pieces == .damaged { return Self(pieces: pieces) }
    if ![.none, .right].contains(check) { return Self(pieces: pieces, check: check) }
    if sync != .done { return Self(pieces: pieces, check: check, sync: sync) }
    if !isWanted { return Self(pieces: pieces, check: check, isWanted: false) }
    var script = self
    if ![.placed, .takenOnce].contains(rename) { script.syncsFolder = true }
    return script
  }

  /// How the completion of the file has to end.
  var end: CompletionModel.End {
    if pieces == .damaged { return .settled }
    switch check {
    case .none, .right: break
    case .wrong, .unsupported: return .failed(.digestMismatch, .drop)
    case .changed: return .failed(.pieceMismatch, .discard(CompletionModel.changed))
    case .touched:
      return .failed(PartialFile.Interference.changed.failure.code, .restart(from: nil))
    case .unreadable: return .failed(CompletionModel.failure.asDownloadFailure.code, .keep)
    }
    switch sync {
    case .done: break
    case .failed: return .failed(CompletionModel.failure.asDownloadFailure.code, .keep)
    case .interfered:
      return .failed(CompletionModel.interference.asDownloadFailure.code, .restart(from: nil))
    }
    guard isWanted else { return .released }
    switch rename {
    case .placed, .takenOnce: break
    case .replaced:
      return .failed(PartialFile.Interference.replaced.failure.code, .restart(from: 4))
    case .failed, .takenAndFailed:
      return .failed(CompletionModel.failure.asDownloadFailure.code, .keep)
    case .takenAndChanged: return .dropped
    }
    return syncsFolder
      ? .completed : .failed(CompletionModel.failure.asDownloadFailure.code, .keep)
  }
}

/// Performs the effects of a completion as scripts say, and checks their order.
struct CompletionModel {
  enum End: Hashable {
    case completed
    case settled
    case failed(DownloadFailure.Code, Completion.Bytes)
    case released
    /// Another name could not be reserved, because the record has changed.
    case dropped
  }

  /// The steps that the model has performed for a file.
  enum Step: Int, Comparable {
    case arrived, compared, digested, synced, logged, renamed, folderSynced, committed
    static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
  }

  /// An input that may come at any time.
  enum Event: Hashable {
    case arrival(Int)
    case digest(Int)
  }

  static let failure = PartialFile.Failure(code: 5, operation: "testing")
  static let interference = PartialFile.Failure(
    code: 16,
    operation: "testing",
    interference: .truncated
  )
  static let changed = ByteRanges(upTo: 2)
  private static let digest = "md5:d41d8cd98f00b204e9800998ecf8427e"
  private static let other = "md5:00000000000000000000000000000000"

  private(set) var completion = Completion()
  private let scripts: [CompletionScript]
  private let folders: [String]
  private let records: [DownloadRecord]
  private var steps: [Step?]
  private var renames: [Int]
  private(set) var ends: [[End]]
  /// The events that can happen now.
  private(set) var pending: [Event]
  /// The names of the performed effects, each with its number of files.
  private(set) var effects: [String] = []
  private(set) var syncedFolders: [[String]] = []
  private(set) var problems: [String] = []

  /// Creates a model of files, each in the folder with its number.
  init(_ scripts: [CompletionScript], folders: [Int]) {
    self.scripts = scripts
    self.folders = folders.map { "/folder\($0)" }
    records = scripts.indices.map { .sample(url: "https://example.com/\($0)") }
    steps = scripts.map { _ in nil }
    renames = scripts.map { _ in 0 }
    ends = scripts.map { _ in [] }
    pending = scripts.indices.map(Event.arrival)
  }

  mutating func deliver(_ event: Event) {
    pending.removeAll { $0 == event }
    switch event {
    case .arrival(let index):
      let script = scripts[index]
      steps[index] = .arrived
      completion.step(
        .arrived(
          Completion.File(
            key: TransferKey(records[index]),
            record: records[index],
            expectedDigest: script.check == .none
              ? nil : script.check == .unsupported ? "none" : Self.digest,
            comparesPieces: script.pieces != .none
          )
        )
      )
    case .digest(let index):
      let script = scripts[index]
      move(index, to: .digested)
      let identity = FileIdentity(size: 4, inode: 1, modified: 1)
      let text = script.check == .right ? Self.digest : Self.other
      completion.step(
        .digestComputed(
          TransferKey(records[index]),
          script.check == .unreadable
            ? .failure(Self.failure)
            : .success(CheckedDigest(digest: Self.md5(text), identity: identity)),
          changed: script.check == .changed ? Self.changed : ByteRanges(),
          hadInterference: script.check == .touched
        )
      )
    }
  }

  /// Performs the next effect; returns whether there was one.
  mutating func performNext() -> Bool {
    var probe = completion
    let isReady = completion.isReady
    if isReady != (probe.next() != nil) { problems.append("isReady is \(isReady)") }
    guard let effect = completion.next() else { return false }
    // An error while the effect is performed: it is returned again, unless it ends a file.
    var again = completion
    let repeated = Self.name(again.next())
    if Self.isRepeatable(effect), repeated != Self.name(effect) {
      problems.append("\(Self.name(effect)) was lost")
    }
    effects.append(Self.name(effect))
    perform(effect)
    return true
  }

  private mutating func perform(_ effect: Completion.Effect) {
    switch effect {
    case .comparePieces(let file):
      let index = index(of: file.record)
      move(index, to: .compared)
      completion.step(.piecesCompared(scripts[index].pieces == .damaged ? .cancelled : nil))
    case .computeDigest(let file, let algorithm):
      if algorithm != .md5 { problems.append("computes \(algorithm)") }
      pending.append(.digest(index(of: file.record)))
    case .synchronize(let files):
      completion.step(.synchronized(files.map { synchronize($0) }))
    case .log(let files):
      completion.step(
        .logged(
          files.map { file in
            let index = index(of: file.record)
            move(index, to: .logged)
            return scripts[index].isWanted ? file : nil
          }
        )
      )
    case .rename(let files):
      completion.step(.renamed(files.map { rename($0) }))
    case .reserveNames(let files):
      completion.step(
        .namesReserved(
          files.map { file in
            let index = index(of: file.record)
            guard scripts[index].rename == .takenAndChanged else { return file }
            ends[index].append(.dropped)
            return nil
          }
        )
      )
    case .synchronizeFolders(let names):
      syncedFolders.append(names.map(\.text))
      var failures: [StoredText: PartialFile.Failure] = [:]
      for index in scripts.indices
      where steps[index] == .renamed && names.contains(StoredText(folders[index])) {
        move(index, to: .folderSynced)
      }
      for index in scripts.indices where !scripts[index].syncsFolder {
        failures[StoredText(folders[index])] = Self.failure
      }
      completion.step(.foldersSynchronized(failures))
    case .settle(let key, _):
      end(records.firstIndex { TransferKey($0) == key } ?? 0, .settled)
    case .fail(let failed):
      end(index(of: failed.record), .failed(failed.failure.code, failed.bytes))
    case .release(let file):
      end(index(of: file.record), .released)
    }
  }

  /// Commits the records of the files in place.
  mutating func commit() {
    let placed = completion.placed
    for file in placed {
      let index = index(of: file.record)
      if steps[index] != .folderSynced { problems.append("\(index) completed before its folder") }
      move(index, to: .committed)
      end(index, .completed)
    }
    completion.step(.committed(placed.count))
  }

  private mutating func synchronize(
    _ file: Completion.File
  ) -> Result<FinishedFile, PartialFile.Failure> {
    let index = index(of: file.record)
    let needed: Step =
      scripts[index].check != .none
      ? .digested : scripts[index].pieces != .none ? .compared : .arrived
    if steps[index] != needed { problems.append("\(index) synced before it was checked") }
    if (file.verified != nil) != (scripts[index].check == .right) {
      problems.append("\(index) counts as verified: \(file.verified != nil)")
    }
    move(index, to: .synced)
    switch scripts[index].sync {
    case .failed: return .failure(Self.failure)
    case .interfered: return .failure(Self.interference)
    case .done: break
    }
    var record = records[index]
    record.folder = ""
    return .success(
      FinishedFile(
        record: record,
        layout: FileLayout(record: record, storeID: "s", rootPath: folders[index]),
        entity: Transfer.Entity(),
        identity: FileIdentity(size: 4, inode: 1, modified: 1)
      )
    )
  }

  private mutating func rename(_ file: FinishedFile) -> FilePlacement.Outcome {
    let index = index(of: file.record)
    renames[index] += 1
    if steps[index] != .logged { problems.append("\(index) renamed before the log") }
    switch scripts[index].rename {
    case .placed: break
    case .replaced: return .replaced
    case .failed: return .failed(Self.failure)
    case .takenOnce, .takenAndChanged, .takenAndFailed:
      if renames[index] == 1 { return .nameTaken }
      if scripts[index].rename == .takenAndFailed { return .failed(Self.failure) }
    }
    move(index, to: .renamed)
    return .placed
  }

  private mutating func move(_ index: Int, to step: Step) {
    if let last = steps[index], last < step {
      steps[index] = step
    } else {
      problems.append("\(index) goes from \(String(describing: steps[index])) to \(step)")
    }
  }

  private static func md5(_ text: String) -> Digest {
    guard let digest = try? Digest(text) else { preconditionFailure("\(text) is a digest") }
    return digest
  }

  private mutating func end(_ index: Int, _ end: End) { ends[index].append(end) }

  private func index(of record: DownloadRecord) -> Int {
    records.firstIndex { $0.id == record.id } ?? 0
  }

  /// Whether the effect changes no stage before its result is known.
  private static func isRepeatable(_ effect: Completion.Effect) -> Bool {
    switch effect {
    case .computeDigest, .settle, .fail, .release: false
    default: true
    }
  }

  private static func name(_ effect: Completion.Effect?) -> String {
    switch effect {
    case nil: "none"
    case .comparePieces(let file): "comparePieces \(file.record.url)"
    case .computeDigest(let file, _): "computeDigest \(file.record.url)"
    case .synchronize(let files): "synchronize \(files.count)"
    case .log(let files): "log \(files.count)"
    case .rename(let files): "rename \(files.count)"
    case .reserveNames(let files): "reserveNames \(files.count)"
    case .synchronizeFolders(let folders): "synchronizeFolders \(folders.count)"
    case .settle: "settle"
    case .fail: "fail"
    case .release: "release"
    }
  }
}
