import Foundation

/// Generates the records of the comparison; the same index gives the same record in every run.
struct DownloadGenerator: Sendable {
  private static let hosts = 2_000
  private static let firstDate = 780_000_000.0
  /// The largest size of a download, in bytes.
  static let greatestSize: Int64 = 4_000_000_000

  /// Returns the record with the given index as it is added.
  func download(_ index: Int) -> Download {
    var random = SplitMix64(state: UInt64(index))
    let name = "\(letters(Int.random(in: 6...22, using: &random), &random)).zip"
    let size = Int64.random(in: 1_000...Self.greatestSize, using: &random)
    let createdAt = date(index)
    let isFailed = Int.random(in: 0..<100, using: &random) == 0
    return Download(
      url: url(index),
      name: name,
      destination: "downloads/Archive/\(letters(8, &random))/\(name)",
      type: ["archive", "video", "image", "document"].randomElement(using: &random) ?? "",
      entityTag: "\"\(hexadecimal(random.next()))\"",
      tags: (0..<Int.random(in: 0...3, using: &random)).map { _ in letters(7, &random) },
      resumeBlob: random.next().isMultiple(of: 10) ? blob(&random) : nil,
      state: isFailed ? Download.failed : UInt8.random(in: 0..<Download.failed, using: &random),
      failedAttempts: 0,
      createdAt: createdAt,
      completedAt: random.next().isMultiple(of: 2) ? createdAt.addingTimeInterval(600) : nil,
      received: Int64.random(in: 0...size, using: &random),
      expected: size,
      updatedAt: createdAt,
      priority: Int32.random(in: 0...9, using: &random)
    )
  }

  /// Returns only the key, of 80 to 200 bytes.
  func url(_ index: Int) -> String {
    var random = SplitMix64(state: ~UInt64(index))
    let host = Int.random(in: 0..<Self.hosts, using: &random)
    let start = "https://cdn\(host).example.com/\(hexadecimal(random.next()))/"
    let length = Int.random(in: 80...200, using: &random)
    return start + letters(length - start.utf8.count - 4, &random) + ".zip"
  }

  /// Returns the progress of a record after the given number of checkpoints.
  func progress(_ index: Int, round: Int) -> Progress {
    Progress(
      url: url(index),
      received: Int64(index) * 1_000 + Int64(round) * 65_536,
      updatedAt: date(index + round)
    )
  }

  /// Returns the record with another file name; one in four also has another state.
  func renamed(_ download: Download, round: Int) -> Download {
    var random = SplitMix64(state: UInt64(round))
    var download = download
    download.name = "\(letters(12, &random)).zip"
    download.destination = "downloads/Archive/\(letters(8, &random))/\(download.name)"
    download.received += Int64(round)
    download.updatedAt = date(round)
    if download.priority % 4 == 0, download.state != Download.failed {
      download.state = (download.state + 1) % Download.failed
    }
    return download
  }

  private func date(_ second: Int) -> Date {
    Date(timeIntervalSinceReferenceDate: Self.firstDate + Double(second))
  }

  private func blob(_ random: inout SplitMix64) -> Data {
    var bytes = Data()
    for _ in 0..<Int.random(in: 75...500, using: &random) {
      unsafe withUnsafeBytes(of: random.next()) { unsafe bytes.append(contentsOf: $0) }
    }
    return bytes
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
