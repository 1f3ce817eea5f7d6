import Foundation
import ResumeData
import TestSupport
import Testing

/// Compares our reader and writer with Foundation's, for random property lists.
struct PropertyListOracleTests {
  private static let seeds: [UInt64] = Array(0..<300)

  private static func foundationFormat(
    _ format: PropertyListFormat
  ) -> PropertyListSerialization.PropertyListFormat {
    switch format {
    case .xml: .xml
    case .binary: .binary
    }
  }

  @Test(arguments: seeds, PropertyListFormat.allCases)
  func `Foundation reads what we write, and we read what it writes`(
    seed: UInt64,
    format: PropertyListFormat
  ) throws {
    var random = RandomPropertyList(SplitMix64(seed: seed))
    let value = PropertyList.array([random.value(), random.value()])
    let encoded = try value.encoded(as: format)
    let read = try unsafe PropertyListSerialization.propertyList(from: Data(encoded), format: nil)
    #expect(try FoundationValue.propertyList(read) == value)
    let foundationData = try PropertyListSerialization.data(
      fromPropertyList: FoundationValue.object(value),
      format: Self.foundationFormat(format),
      options: 0
    )
    #expect(try PropertyList(Array(foundationData)) == value)
  }

  @Test(arguments: seeds)
  func `written property lists round-trip`(seed: UInt64) throws {
    var random = RandomPropertyList(
      SplitMix64(seed: seed),
      .init(hasReferences: true, hasBinaryKinds: true)
    )
    let value = random.value(depth: 6)
    let bytes = try value.encoded(as: .binary)
    #expect(try PropertyList(bytes) == value)
    #expect(try PropertyList(bytes).encoded(as: .binary) == bytes)

    var plain = RandomPropertyList(SplitMix64(seed: seed), .init(hasReferences: true))
    let document = plain.value(depth: 6)
    let text = try document.encoded(as: .xml)
    #expect(try PropertyList(text) == document)
    #expect(try PropertyList(text).encoded(as: .xml) == text)
  }

  @Test(
    arguments: [
      .dictionary([
        "a": .dictionary(["b": .array([.integer(-5), .string("x<y&z>\"'"), .bool(false)])]),
        "c": .date(86_399), "d": .data([]),
      ]),
      .array([.data([UInt8](repeating: 7, count: 200)), .dictionary([:]), .array([]), .string("")]),
      (0..<10).reduce(.data([UInt8](repeating: 9, count: 60))) { value, _ in .array([value]) },
    ] as [PropertyList]
  )
  func `our XML equals Foundation's byte for byte`(value: PropertyList) throws {
    let foundationData = try PropertyListSerialization.data(
      fromPropertyList: FoundationValue.object(value),
      format: .xml,
      options: 0
    )
    let encoded = try value.encoded(as: .xml)
    #expect(
      String(decoding: encoded, as: UTF8.self) == String(decoding: foundationData, as: UTF8.self)
    )
  }
}

/// Conversions between property lists and Foundation objects.
enum FoundationValue {
  struct UnsupportedValue: Error {}

  static func object(_ value: PropertyList) throws -> Any {
    switch value {
    case .bool(let value): value
    case .integer(let value): Int(value)
    case .real(let value): value
    case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
    case .data(let bytes): Data(bytes)
    case .string(let text): text
    case .array(let values): try values.map(object)
    case .dictionary(let members):
      try Dictionary(uniqueKeysWithValues: members.entries.map { ($0.key, try object($0.value)) })
    case .null, .uid, .set: throw UnsupportedValue()
    }
  }

  static func propertyList(_ object: Any) throws -> PropertyList {
    switch object {
    // An `NSNumber` casts to any numeric type that fits, so check the type of the object itself.
    case let value as Bool where type(of: object) == Bool.self: return .bool(value)
    case let value as NSNumber:
      let isReal = unsafe ["d", "f"].contains(String(cString: value.objCType))
      return isReal ? .real(value.doubleValue) : .integer(Int128(value.int64Value))
    case let value as Date: return .date(value.timeIntervalSinceReferenceDate)
    case let value as Data: return .data(Array(value))
    case let value as String: return .string(value)
    case let values as [Any]: return .array(try values.map(propertyList))
    case let members as [String: Any]:
      var result = PropertyListDictionary()
      for (key, value) in members.sorted(by: { $0.key < $1.key }) {
        result[key] = try propertyList(value)
      }
      return .dictionary(result)
    default: throw UnsupportedValue()
    }
  }
}
