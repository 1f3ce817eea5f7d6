internal import DownloadSync
internal import Foundation

/// Determines the entity of each response body, and so the files that may result.
///
/// The server sends correct validators, whatever else it does: bytes with the same strong entity
/// tag, or the same date if there is no strong tag, belong to one entity; bytes with another belong
/// to another. A response without either is an entity of its own. A partial response that does not
/// contradict the `If-Range` of its request belongs to the requested entity (RFC 9110, 13.1.5).
/// Error pages and bodies with a content coding belong to no entity.
struct EntityLedger: Sendable {
  /// A request, and what the record knew when it was sent.
  struct Request: Sendable {
    var offset: Int64
    var validator: String?
    var storedTag: String?
    var storedDate: String?
  }

  /// The bytes of one response.
  struct Part: Sendable {
    /// The entity of the bytes.
    fileprivate var entity: String
    /// The offset of the first byte.
    var start: Int64

    /// Returns some of the bytes, counted from the first byte of the part.
    func bytes(from: Int, count: Int) -> [UInt8] {
      EntityLedger.bytes(of: entity, at: start &+ Int64(from), count: count)
    }
  }

  /// The entity of each validator.
  private var entities: [String: String] = [:]
  /// The announced sizes of each entity, and the sizes at which responses of unknown length ended.
  private var sizes: [String: Set<Int64>] = [:]
  private var count = 0
  /// Whether validators contradicted each other, so that no client could distinguish entities.
  private(set) var isAmbiguous = false

  /// Records a response, and returns the bytes of its body.
  ///
  /// - Parameters:
  ///   - head: The head of the response.
  ///   - request: The request that it answers.
  ///   - byteCount: The number of bytes sent.
  ///   - isWhole: Whether the client can distinguish the end of the body from a lost connection.
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
      // From here on, both validators belong to one entity.
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

  /// Records that no client can distinguish the entities of this server.
  mutating func noteAmbiguity() {
    isAmbiguous = true
  }

  /// Adds the entity of a validator, and its size.
  mutating func add(tag: String, size: Int) {
    let entity = entities[tag] ?? "tag \(tag)"
    entities[tag] = entity
    sizes[entity, default: []].insert(Int64(size))
  }

  /// Returns all bytes of the entity with a tag.
  func part(ofTag tag: String, from start: Int64) -> Part {
    Part(entity: entities[tag] ?? "tag \(tag)", start: start)
  }

  /// Returns whether a finished file is one entity that was sent, with an announced length.
  func accepts(_ file: [UInt8]) -> Bool {
    sizes.contains { entity, sizes in
      sizes.contains(Int64(file.count)) && Self.bytes(of: entity, at: 0, count: file.count) == file
    }
  }

  /// Returns whether a response belongs to another entity than the client's bytes.
  private func contradicts(_ head: ParsedHead, _ request: Request) -> Bool {
    let isStrong = request.storedTag.map { $0 == request.validator } ?? false
    if isStrong, let tag = head["ETag"] {
      return !tag.utf8.elementsEqual((request.storedTag ?? "").utf8)
    }
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

  /// Returns the bytes of an entity at an offset.
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
