internal import CommandLineSupport
internal import DownloadStore
internal import SystemInterface

/// The control file that aria2 keeps beside a partial file, `NAME.aria2`.
///
/// Source: "Control File (*.aria2) Format" in aria2's technical notes. Version 1 has big-endian
/// numbers, version 0 those of the machine that wrote it, which is taken to be little-endian.
struct Aria2ControlFile: Sendable, Hashable {
  /// A file that is no control file, or contradicts itself.
  struct Invalid: Error, Sendable, Hashable {
    var reason: String
  }

  /// The length of the blocks of a piece that is not complete, in bytes.
  private static let blockLength: Int64 = 16_384

  /// The size of the complete file in bytes.
  let byteCount: Int64
  /// The bytes that aria2 has received and written.
  let ranges: ByteRanges

  /// Reads a control file.
  init(_ bytes: [UInt8]) throws(Invalid) {
    var reader = Reader(rest: bytes[...])
    let version = try reader.number(2)
    guard version <= 1 else { throw Invalid(reason: "version \(version) is unknown") }
    reader.isLittleEndian = version == 0
    let isTorrent = try reader.number(4) & 1 == 1
    let hashLength = try reader.number(4)
    guard !isTorrent, hashLength == 0 else {
      throw Invalid(reason: "it belongs to a torrent")
    }
    let pieceLength = try reader.number(4)
    let byteCount = try reader.number(8)
    _ = try reader.number(8)
    let pieces = try reader.bytes(try reader.number(4))
    guard pieceLength > 0, byteCount > 0 else { throw Invalid(reason: "it has no size") }
    guard RecordLimits.isSize(byteCount) else { throw Invalid(reason: "a size is too large") }
    let count = (byteCount - 1) / pieceLength + 1
    guard Int64(pieces.count) == count / 8 + (count % 8 == 0 ? 0 : 1) else {
      throw Invalid(reason: "it has not a bit for each of \(count) pieces")
    }
    var ranges: [Range<Int64>] = []
    Self.insert(pieces, of: pieceLength, from: 0, to: byteCount, into: &ranges)
    for _ in 0..<(try reader.number(4)) {
      let index = try reader.number(4)
      let length = try reader.number(4)
      let blocks = try reader.bytes(try reader.number(4))
      guard index < count else { throw Invalid(reason: "it has no piece \(index)") }
      let start = index * pieceLength
      let end = min(byteCount, start + min(length, pieceLength))
      Self.insert(blocks, of: Self.blockLength, from: start, to: end, into: &ranges)
    }
    self.byteCount = byteCount
    self.ranges = ByteRanges(ranges)
  }

  /// Adds the ranges whose bits are set; the highest bit of a byte is the first.
  private static func insert(
    _ bits: ArraySlice<UInt8>,
    of length: Int64,
    from start: Int64,
    to end: Int64,
    into ranges: inout [Range<Int64>]
  ) {
    var lower = start
    for byte in bits {
      for shift in stride(from: 7, through: 0, by: -1) {
        guard lower < end else { return }
        let upper = min(end, lower + length)
        if byte >> UInt8(shift) & 1 == 1 {
          if let last = ranges.last, last.upperBound == lower {
            ranges[ranges.count - 1] = last.lowerBound..<upper
          } else {
            ranges.append(lower..<upper)
          }
        }
        lower = upper
      }
    }
  }

  private struct Reader {
    var rest: ArraySlice<UInt8>
    var isLittleEndian = false

    mutating func bytes(_ count: Int64) throws(Invalid) -> ArraySlice<UInt8> {
      guard count <= Int64(rest.count) else { throw Invalid(reason: "it ends too early") }
      defer { rest = rest.dropFirst(Int(count)) }
      return rest.prefix(Int(count))
    }

    mutating func number(_ length: Int64) throws(Invalid) -> Int64 {
      let bytes = try bytes(length)
      let ordered = isLittleEndian ? Array(bytes.reversed()) : Array(bytes)
      let number = ordered.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
      guard let number = Int64(exactly: number) else {
        throw Invalid(reason: "a size is too large")
      }
      return number
    }
  }
}

extension ForeignPartial {
  /// The length of the longest control file that is read, in bytes: 4 MiB.
  ///
  /// With pieces of one MiB, aria2's default, that is a file of 32 TiB.
  private static let longest = 4 << 20

  /// Reads what another program has received of a file: by aria2's control file beside it, or else all
  /// bytes of the file, which curl and wget write in order.
  ///
  /// - Throws: ``CommandFailure``.
  init(ofFileAt path: String) throws {
    var status = stat()
    if lstat(Self.controlPath(of: path), &status) != 0, errno == ENOENT {
      guard let identity = FileIdentity(ofFileAt: path) else { throw Self.refusal(of: path) }
      guard identity.size > 0 else { throw CommandFailure(.damaged, "\(path) is empty") }
      self.init(path: path, byteCount: nil, ranges: ByteRanges(upTo: identity.size))
    } else {
      try self.init(ofAria2: path)
    }
  }

  /// The path of aria2's control file.
  static func controlPath(of path: String) -> String { path + ".aria2" }

  /// Reads the control file of a file that aria2 has begun.
  ///
  /// - Throws: ``CommandFailure``.
  init(ofAria2 path: String) throws {
    // Before the control file is read: a change in between is a change of this identity.
    guard let identity = FileIdentity(ofFileAt: path) else { throw Self.refusal(of: path) }
    try self.init(controlledAt: path)
    guard identity.size >= ranges.end else {
      let control = Self.controlPath(of: path)
      throw CommandFailure(.damaged, "\(path) is shorter than \(control) says")
    }
    self.identity = identity
  }

  /// Reads the control file of a file that is missing.
  ///
  /// - Throws: ``CommandFailure``.
  init(controlledAt path: String) throws {
    let control = Self.controlPath(of: path)
    do {
      let bytes = try ResumeDataFile.read(control, upTo: Self.longest, isRegular: true)
      let file = try Aria2ControlFile(bytes)
      self.init(path: path, byteCount: file.byteCount, ranges: file.ranges)
      identity = nil
      controlPath = control
    } catch let error as Aria2ControlFile.Invalid {
      throw CommandFailure(.damaged, "\(control) is not a control file of aria2: \(error.reason)")
    }
  }

  /// The failure for a path without a regular file.
  private static func refusal(of path: String) -> CommandFailure {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      let code = errno
      return CommandFailure(
        SystemCall.status(code),
        "cannot read \(path): \(systemErrorText(code))"
      )
    }
    guard status.st_mode & S_IFMT == S_IFLNK else {
      return CommandFailure(.damaged, "\(path) is not a regular file")
    }
    // The finished file may replace the adopted one, and must not replace a link to it.
    let target = resolvedPath(path).map { ": give \($0), with its control file beside it" } ?? ""
    return CommandFailure(.damaged, "\(path) is a symbolic link\(target)")
  }
}
