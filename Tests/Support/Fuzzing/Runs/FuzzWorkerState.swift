internal import Foundation

/// The state that a worker reports to its supervisor: the number of inputs and the last input.
///
/// The state is stored in a file, which survives a crash of the worker.
struct FuzzWorkerState {
  var count: UInt64
  var input: [UInt8]

  private static let headerSize = 16

  init(count: UInt64, input: [UInt8]) {
    self.count = count
    self.input = input
  }

  /// Reads a state from a file.
  ///
  /// Returns `nil` if the file is missing or incomplete.
  init?(ofFile path: String) {
    guard let data = try? Data(contentsOf: URL(filePath: path)), data.count >= Self.headerSize
    else {
      return nil
    }
    let bytes = Array(data)
    let size = Self.number(bytes[8..<16])
    guard size <= UInt64(bytes.count - Self.headerSize) else { return nil }
    count = Self.number(bytes[0..<8])
    input = Array(bytes[Self.headerSize..<(Self.headerSize + Int(size))])
  }

  var data: Data { Data(Self.bytes(count) + Self.bytes(UInt64(input.count)) + input) }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func bytes(_ number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
  }
}
