internal import FaultServer

/// The arguments are invalid.
struct UsageError: Error {
  var message: String
}

/// The command line, parsed without a package, so that the server has no dependencies.
struct Options {
  /// The name, size and seed of a generated file.
  struct File {
    var name: String
    var seed: UInt64
    var body: Body
  }

  static let usage = """
    usage: fault-server [--port PORT] --file NAME=SIZE[:SEED] ... [--throttle BYTES/S]
                        [--reset-every BYTES [--then-stall NAME=BYTES]] [--log FILE]
           fault-server --write FILE=SIZE[:SEED] ...

    Serves generated files over HTTP on 127.0.0.1, or writes the same content to files. Sizes are in
    bytes; K, M and G multiply by 1024 each. Port 0 takes a free port. The seed is 1 unless given.
    --then-stall lets the second reply of a file send nothing more after some bytes.
    """

  var port: UInt16 = 0
  var served: [File] = []
  var written: [File] = []
  var bytesPerSecond: Int64?
  var resetEvery: Int64?
  /// The file whose second reply stalls, and after how many bytes.
  var stall: (name: String, byteCount: Int64)?
  var log: String?

  /// Whether there are resources to serve, rather than only files to write.
  var serves: Bool { !served.isEmpty }

  init(_ arguments: some Sequence<String>) throws {
    var arguments = arguments.makeIterator()
    while let name = arguments.next() {
      guard Self.names.contains(name) else { throw UsageError(message: "unknown argument \(name)") }
      guard let value = arguments.next() else {
        throw UsageError(message: "\(name) needs a value")
      }
      try take(name, value)
    }
    guard serves || !written.isEmpty else { throw UsageError(message: "nothing to serve") }
  }

  private static let names = [
    "--port", "--file", "--write", "--throttle", "--reset-every", "--then-stall", "--log",
  ]

  private mutating func take(_ name: String, _ value: String) throws {
    switch name {
    case "--port":
      guard let port = UInt16(value) else { throw UsageError(message: "invalid port: \(value)") }
      self.port = port
    case "--file": served.append(try Self.file(value))
    case "--write": written.append(try Self.file(value))
    case "--throttle": bytesPerSecond = try Self.positive(name, value)
    case "--reset-every": resetEvery = try Self.positive(name, value)
    case "--then-stall":
      let parts = value.split(separator: "=").map(String.init)
      guard parts.count == 2 else { throw UsageError(message: "not NAME=BYTES: \(value)") }
      stall = (parts[0], try Self.positive(name, parts[1]))
    default: log = value
    }
  }

  private static func file(_ text: String) throws -> File {
    guard let equals = text.lastIndex(of: "="), equals != text.startIndex else {
      throw UsageError(message: "not NAME=SIZE[:SEED]: \(text)")
    }
    let parts = text[text.index(after: equals)...].split(separator: ":", maxSplits: 1)
    guard let size = parts.first.flatMap({ byteCount(String($0)) }),
      let seed = parts.count == 2 ? UInt64(parts[1]) : 1
    else { throw UsageError(message: "not NAME=SIZE[:SEED]: \(text)") }
    return File(
      name: String(text[..<equals]),
      seed: seed,
      body: .generated(byteCount: size, seed: seed)
    )
  }

  private static func positive(_ name: String, _ text: String) throws -> Int64 {
    guard let count = byteCount(text), count > 0 else {
      throw UsageError(message: "\(name) needs a positive number of bytes: \(text)")
    }
    return count
  }

  /// Parses a number of bytes: digits, optionally followed by K, M or G.
  private static func byteCount(_ text: String) -> Int64? {
    let shifts: [Character: Int64] = ["K": 10, "M": 20, "G": 30]
    let shift = text.last.flatMap { shifts[$0] }
    guard let count = Int64(shift == nil ? text[...] : text.dropLast()), count >= 0 else {
      return nil
    }
    let (result, overflow) = count.multipliedReportingOverflow(by: 1 << (shift ?? 0))
    return overflow ? nil : result
  }
}
