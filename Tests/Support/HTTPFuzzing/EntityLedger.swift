internal import DownloadSync
internal import Foundation

/// Decides which entity the body of each response is a part of, and so which files may result.
///
/// The server tells the truth about validators, however hostile it is otherwise: bytes under one
/// strong entity tag, or under one date where there is no strong tag, are those of one entity, and
/// under any other those of another one. A response without either is of an entity of its own. A
/// partial response that does not contradict the `If-Range` of its request is of the entity that was
/// asked for (RFC 9110, 13.1.5). Error pages and coded bodies are of no entity.
struct EntityLedger: Sendable {
  /// What a request asked for, and what the record knew then.
  struct Request: Sendable {
    var offset: Int64
    var validator: String?
    var storedTag: String?
    var storedDate: String?
  }

  /// The bytes of one response.
  struct Part: Sendable {
    /// The entity that they are of.
    fileprivate var entity: String
    /// The place of the first one.
    var start: Int64

    /// Some of the bytes, counted from the first one of the part.
    func bytes(from: Int, count: Int) -> [UInt8] {
      EntityLedger.bytes(of: entity, at: start &+ Int64(from), count: count)
    }
  }

  /// The entity of each validator.
  private var entities: [String: String] = [:]
  /// The sizes that were told of an entity, and those at which a response of unknown length ended.
  private var sizes: [String: Set<Int64>] = [:]
  private var count = 0
  /// Whether validators have contradicted one another, so that no client could tell entities apart.
  private(set) var isAmbiguous = false

  /// Notes a response, and says which bytes its body has.
  ///
  /// - Parameters:
  ///   - head: The head of the response.
  ///   - request: What it answers.
  ///   - byteCount: How many bytes are sent.
  ///   - isWhole: Whether the end of the body can be told from the loss of a connection.
  /// - Returns: The bytes.
  mutating func note(
    _ head: ParsedHead,
    to request: Request,
    byteCount: Int,
    isWhole: Bool
  ) -> Part {
    count += 1
    let range = head.contentRange
    let continues = request.offset > 0 && request.validator != nil
    if head.status == 416, continues, let total = range?.total, !contradicts(head, request) {
      sizes[entity(of: request), default: []].insert(total)
    }
    guard head.status == 200 || head.status == 206, !head.isCoded else {
      return Part(entity: "page \(count)", start: 0)
    }
    let isPart = range?.first != nil
    guard head.status == 200 || isPart else { return Part(entity: "page \(count)", start: 0) }
    let isContinuation = isPart && continues && !contradicts(head, request)
    let entity = isContinuation ? entity(of: request) : ownEntity(of: head)
    if isContinuation, let tag = head.strongTag {
      // From here on both validators are of one entity.
      if let other = entities[tag], other != entity { isAmbiguous = true }
      entities[tag] = entity
    }
    let start = isPart ? range?.first ?? 0 : 0
    if let total = isPart ? range?.total : head.contentLength {
      sizes[entity, default: []].insert(total)
    } else if isWhole {
      sizes[entity, default: []].insert(start &+ Int64(byteCount))
    }
    return Part(entity: entity, start: start)
  }

  /// Notes that no client can tell the entities of this server apart.
  mutating func noteAmbiguity() {
    isAmbiguous = true
  }

  /// Adds the entity that a validator stands for, and its size.
  mutating func add(tag: String, size: Int) {
    let entity = entities[tag] ?? "tag \(tag)"
    entities[tag] = entity
    sizes[entity, default: []].insert(Int64(size))
  }

  /// All bytes of the entity of a tag.
  func part(ofTag tag: String, from start: Int64) -> Part {
    Part(entity: entities[tag] ?? "tag \(tag)", start: start)
  }

  /// Whether a finished file is one entity that was sent, with a length that it was said to have.
  func accepts(_ file: [UInt8]) -> Bool {
    sizes.contains { entity, sizes in
      sizes.contains(Int64(file.count)) && Self.bytes(of: entity, at: 0, count: file.count) == file
    }
  }

  /// Whether a response says that it is of another entity than the bytes that the client has.
  private func contradicts(_ head: ParsedHead, _ request: Request) -> Bool {
    let isStrong = request.storedTag.map { $0 == request.validator } ?? false
    if isStrong, let tag = head["ETag"] { return tag != request.storedTag }
    if let stored = request.storedDate, let date = head["Last-Modified"] { return date != stored }
    return false
  }

  private func entity(of request: Request) -> String {
    let validator = request.validator ?? ""
    return entities[validator] ?? (validator.hasPrefix("\"") ? "tag " : "date ") + validator
  }

  private mutating func ownEntity(of head: ParsedHead) -> String {
    if let tag = head.strongTag {
      let entity = entities[tag] ?? "tag \(tag)"
      entities[tag] = entity
      return entity
    }
    return head.lastModified.map { "date \($0)" } ?? "response \(count)"
  }

  /// The bytes of an entity at a place.
  private static func bytes(of entity: String, at start: Int64, count: Int) -> [UInt8] {
    let seed = entity.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01B3
    }
    return (0..<count).map { index in
      var mixed = seed &+ UInt64(bitPattern: start &+ Int64(index)) &* 0x9E37_79B9_7F4A_7C15
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      return UInt8(truncatingIfNeeded: mixed >> 29)
    }
  }
}
