import Foundation

/// Makes the records of the comparison: the same number gives the same record, in every run.
struct DownloadGenerator {
  private static let hosts = 2_000
  private static let firstDate = 780_000_000.0

  /// The record that is added as number `index`.
  func download(_ index: Int) -> Download {
    var random = SplitMix64(state: UInt64(index))
    let url = url(index)
    let name = "\(letters(Int.random(in: 6...22, using: &random), &random)).zip"
    let folder = "Archive/\(letters(8, &random))"
    let size = Int64.random(in: 1_000...4_000_000_000, using: &random)
    let createdAt = Date(timeIntervalSinceReferenceDate: Self.firstDate + Double(index))
    return Download(
      url: url,
      id: hexadecimal(random.next()),
      filename: name,
      folder: folder,
      destination: "downloads/\(folder)/\(name)",
      type: ["archive", "video", "image", "document"].randomElement(using: &random) ?? "",
      entityTag: "\"\(hexadecimal(random.next()))\"",
      tags: Set((0..<Int.random(in: 0...3, using: &random)).map { _ in letters(7, &random) }),
      resumeBlob: random.next().isMultiple(of: 10) ? blob(&random) : nil,
      progress: progress(index, round: 0),
      expected: size,
      generation: 1,
      createdAt: createdAt,
      completedAt: nil,
      nextRetryAt: nil,
      priority: Int32.random(in: 0...9, using: &random),
      failedAttempts: 0,
      state: UInt8.random(in: 0...7, using: &random),
      intent: 0,
      isHeldByHand: false,
      hasHeaders: false
    )
  }

  /// The key alone: 80 to 200 bytes, but one of ten thousand is longer than an LMDB key may be.
  func url(_ index: Int) -> String {
    var random = SplitMix64(state: ~UInt64(index))
    let host = Int.random(in: 0..<Self.hosts, using: &random)
    let start = "https://cdn\(host).example.com/\(hexadecimal(random.next()))/"
    let isLong = Int.random(in: 0..<10_000, using: &random) == 0
    let length = isLong ? 600 : Int.random(in: 80...200, using: &random)
    return start + letters(max(length - start.utf8.count - 4, 1), &random) + ".zip"
  }

  /// How far record `index` is after so many checkpoints.
  func progress(_ index: Int, round: Int) -> Download.Progress {
    let received = Int64(index) * 1_000 + Int64(round) * 65_536
    return Download.Progress(
      received: received,
      updatedAt: Date(timeIntervalSinceReferenceDate: Self.firstDate + Double(index + round)),
      resolvedBytes: received,
      unresolvedStarts: Int32(round % 3)
    )
  }

  /// The record after its owner has renamed the file, with what goes along with that.
  func renamed(_ index: Int, round: Int) -> Download {
    var download = download(index)
    download.filename = "\(letters(12, seed: UInt64(round))).zip"
    download.destination = "downloads/\(download.folder)/\(download.filename)"
    download.generation += Int64(round)
    download.progress = progress(index, round: round)
    return download
  }

  private func blob(_ random: inout SplitMix64) -> Data {
    var bytes = Data()
    for _ in 0..<Int.random(in: 75...500, using: &random) {
      unsafe withUnsafeBytes(of: random.next()) { unsafe bytes.append(contentsOf: $0) }
    }
    return bytes
  }

  private func letters(_ count: Int, seed: UInt64) -> String {
    var random = SplitMix64(state: seed)
    return letters(count, &random)
  }

  private func letters(_ count: Int, _ random: inout SplitMix64) -> String {
    var word: UInt64 = 0
    let bytes = (0..<count).map { position in
      if position.isMultiple(of: 12) { word = random.next() }
      defer { word >>= 5 }
      return UInt8(ascii: "a") + UInt8(word & 31) % 26
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
