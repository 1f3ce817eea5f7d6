internal import DownloadStore
internal import DownloadSync
internal import Foundation

/// Properties of every response head by itself.
enum HeadProperties {
  private static let now = Date(timeIntervalSince1970: 1_700_000_000)
  private static let offsets: [Int64] = [0, 1, 5, 1 << 40, .max]

  /// Evaluates a head in every situation.
  ///
  /// - Throws: `FuzzViolation`.
  static func check(_ head: ResponseHead) throws {
    if let name = head.suggestedFilename { try checkName(name) }
    if let digest = head.statedDigest, (try? Digest(digest.text)) != digest {
      throw FuzzViolation("\(digest.text) is not a digest")
    }
    for url in head.duplicates(of: "https://example.com/dir/file") {
      guard url.hasPrefix("https://"), (try? RecordIdentity.validate(url)) != nil else {
        throw FuzzViolation("\(url.debugDescription) is not a mirror of an encrypted file")
      }
    }
    for offset in offsets {
      for expected in [nil, 5, Int64.max] where expected.map({ $0 >= offset }) ?? true {
        for validator in [nil, Validator(entityTag: "\"1\"", lastModified: nil)] {
          try check(head, offset, expected, validator)
        }
      }
      let delivered = head.forDelivery(byteCount: 5, from: offset)
      if head.status == 206 { try check(delivered, offset, nil, nil) }
    }
  }

  private static func check(
    _ head: ResponseHead,
    _ offset: Int64,
    _ expected: Int64?,
    _ validator: Validator?
  ) throws {
    let verdict = ResponseVerdict(
      head,
      offset: offset,
      expected: expected,
      validator: validator,
      now: now
    )
    switch verdict {
    case .write(let start, let end, let total):
      guard start >= 0, start <= offset, total.map({ $0 >= start }) ?? true,
        end.map({ $0 >= start && $0 <= total ?? .max }) ?? true
      else {
        throw FuzzViolation(
          "bytes requested from \(offset) are written at \(start) of \(String(describing: total))"
        )
      }
    case .startOver(let total, _):
      guard total.map({ $0 >= 0 }) ?? true else { throw FuzzViolation("the size is negative") }
    case .alreadyComplete:
      guard offset > 0 else { throw FuzzViolation("a download without bytes counts as complete") }
    case .askWithoutCondition:
      guard offset > 0, head.status == 200 else {
        throw FuzzViolation("the same request would be repeated")
      }
    case .askAgainFromZero:
      guard offset > 0 else { throw FuzzViolation("the same request would be repeated") }
    case .fail(_, let wait):
      guard wait.map({ $0 >= .zero && $0 <= .seconds(86_400 * 365) }) ?? true else {
        throw FuzzViolation("the delay is \(String(describing: wait))")
      }
    }
  }

  /// Checks that a name is one safe path component.
  static func checkName(_ name: String) throws {
    let hasControl = name.unicodeScalars.contains {
      [.control, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
    }
    let scalars = name.unicodeScalars
    guard !name.isEmpty, name.utf8.count <= 255, !hasControl, scalars.first != ".",
      !scalars.contains("/"), !scalars.contains("\\"), SafeFilename.sanitized(name) == name
    else { throw FuzzViolation("not a safe name: \(name.debugDescription)") }
  }
}
