internal import Foundation

/// The responses of a hostile server to the requests for one file, in order.
///
/// An input of the fuzzers is the text of a script: a line of options, and for each response a line
/// `--`, the head with plain line feeds, an empty line, and a line that describes the body:
///
/// ```
/// size=20 checkpoint=4
/// --
/// HTTP/1.1 200 OK
/// Content-Length: 20
/// ETag: "1"
///
/// 8 3 lost
/// ```
///
/// Any bytes are a script: unreadable parts are skipped.
public struct ResponseScript: Sendable, Hashable {
  /// One response.
  public struct Response: Sendable, Hashable {
    /// The status line and the fields, without line ends.
    public var head: [[UInt8]]
    /// How the body is sent.
    public var body: String
  }

  /// The words of the first line.
  public var options: String
  /// The responses, in order.
  public var responses: [Response]

  /// The maximum number of responses that are used.
  static let limit = 12

  /// Creates a script.
  public init(options: String, responses: [Response]) {
    self.options = options
    self.responses = responses
  }

  /// Parses a script.
  public init(_ bytes: [UInt8]) {
    var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)[...]
    options = lines.popFirst().map { String(decoding: $0, as: UTF8.self) } ?? ""
    responses = []
    let separator = Array("--".utf8)
    for block in lines.split(whereSeparator: { $0.elementsEqual(separator) }) {
      let head = block.prefix { !$0.isEmpty }
      let rest = block.dropFirst(head.count).first { !$0.isEmpty }
      let body = rest.map { String(decoding: $0, as: UTF8.self) } ?? ""
      responses.append(Response(head: head.map { Array($0) }, body: body))
    }
  }

  /// The text of the script.
  public var bytes: [UInt8] {
    var result = Array(options.utf8) + [0x0A]
    for response in responses {
      result += Array("--\n".utf8)
      for line in response.head { result += line + [0x0A] }
      result += Array("\n\(response.body)\n".utf8)
    }
    return result
  }

  /// Returns the number of an option, which is written as a name and `=`.
  func option(_ name: String, in range: ClosedRange<Int>) -> Int? {
    let word = options.split(separator: " ").last { $0.hasPrefix(name + "=") }
    return word.flatMap { Int($0.dropFirst(name.count + 1)) }.map { $0.clamped(to: range) }
  }

  /// Returns whether an option is set.
  func has(_ word: String) -> Bool {
    options.split(separator: " ").contains { $0 == word }
  }
}

/// How the body of a response is sent.
struct BodyPlan: Sendable, Hashable {
  /// How the response ends.
  enum Ending: String, Sendable, Hashable, CaseIterable {
    /// By its own rules: successfully if `Content-Length` bytes were sent, otherwise as a lost
    /// connection.
    case fitting
    /// Successfully, whatever the number of bytes.
    case complete
    /// The connection is lost.
    case lost
    /// No more data arrives.
    case silent
    /// The engine is stopped inside the body, and another one continues.
    case stop
  }

  /// The number of body bytes.
  var byteCount: Int
  /// The number of bytes that arrive together.
  var pieceSize: Int
  /// How the response ends.
  var ending: Ending

  private static let largest = 2_000

  /// Parses the line of a script: the number of bytes, the size of a piece, and the ending.
  init(_ line: String) {
    let words = line.split(separator: " ")
    let numbers = words.compactMap { Int($0) }.map { $0.clamped(to: 0...Self.largest) }
    byteCount = numbers.first ?? 0
    // A body in very many pieces would only be slow.
    pieceSize = max(numbers.dropFirst().first ?? Self.largest, 1 + byteCount / 50)
    ending = words.compactMap { Ending(rawValue: String($0)) }.last ?? .fitting
  }
}

extension Comparable {
  func clamped(to range: ClosedRange<Self>) -> Self {
    min(max(self, range.lowerBound), range.upperBound)
  }
}
