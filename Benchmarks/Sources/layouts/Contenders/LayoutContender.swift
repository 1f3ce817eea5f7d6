import LMDB

/// A layout of packed records, used through the binding alone.
final class LayoutContender<L: Layout>: Contender {
  let name: String
  private let environment: Environment
  private let layout: L
  private var lastID: UInt64 = 0

  init(
    _ name: String,
    at path: String,
    layout: (inout WriteTransaction) throws -> L
  ) throws {
    self.name = name
    environment = try Environment.open(path)
    var transaction = try environment.beginWrite()
    self.layout = try layout(&transaction)
    try transaction.commit()
  }

  func load(_ stopwatch: inout Stopwatch, _ nextChunk: () -> [Download]?) throws {
    var packed = PackedDownload()
    var transaction = try environment.beginWrite()
    while let chunk = nextChunk() {
      try stopwatch.run {
        for download in chunk {
          packed.pack(download)
          lastID += 1
          try layout.add(packed, url: download.url, id: lastID, in: &transaction)
        }
      }
    }
    let start = ContinuousClock.now
    try transaction.commit()
    stopwatch.add(ContinuousClock.now - start)
  }

  func replace(_ downloads: [Download]) throws {
    var packed = PackedDownload()
    var transaction = try environment.beginWrite()
    for download in downloads {
      packed.pack(download)
      try layout.replace(packed, url: download.url, in: &transaction)
    }
    try transaction.commit()
  }

  func update(_ changes: [(url: String, progress: Download.Progress)]) throws {
    var scratch: [UInt8] = []
    var transaction = try environment.beginWrite()
    for (url, progress) in changes {
      try layout.update(url, with: progress, scratch: &scratch, in: &transaction)
    }
    try transaction.commit()
  }

  func received(of urls: [String]) throws -> Int64 {
    let transaction = try environment.beginRead()
    var sum: Int64 = 0
    for url in urls { sum &+= try layout.received(of: url, in: transaction) }
    return sum
  }

  func copy(_ urls: [String]) throws -> Int? {
    let transaction = try environment.beginRead()
    var scratch: [UInt8] = []
    var size = 0
    for url in urls {
      try layout.copy(url, into: &scratch, in: transaction)
      size += scratch.count
    }
    return size
  }

  func forEach(_ urls: [String], _ body: (Download) throws -> Void) throws {
    var scratch: [UInt8] = []
    let transaction = try environment.beginRead()
    for url in urls {
      try layout.copy(url, into: &scratch, in: transaction)
      var reader = PackedReader(scratch)
      try body(reader.download())
    }
  }

  func total() throws -> Total {
    try layout.total(in: environment.beginRead())
  }
}
