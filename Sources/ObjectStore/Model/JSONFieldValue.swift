#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A `Codable` type that a field keeps as JSON.
///
/// For types that are at hand and seldom read: `struct Settings: JSONFieldValue { … }` is all. Reading
/// one costs some microseconds, many times as much as one under `@Embedded` or one that writes
/// itself. No index can be kept over it.
///
/// Its coding must not fail: a value whose `encode(to:)` throws ends the program. Numbers that are
/// none are kept.
public protocol JSONFieldValue: FieldValue, Codable {}

extension JSONFieldValue {
  /// How the value lies on disk: as JSON in UTF-8, its keys in order.
  public static var fieldType: FieldType { .embedded("JSON") }

  /// Reads a value from all of the bytes that are lent.
  ///
  /// - Throws: ``RecordError`` with `invalidValue` when they are not the JSON of one.
  public init(from reader: inout ByteReader) throws(RecordError) {
    let bytes = try reader.readBytes()
    do {
      let decoder = JSONDecoder()
      decoder.nonConformingFloatDecodingStrategy = .convertFromString(
        positiveInfinity: "Infinity",
        negativeInfinity: "-Infinity",
        nan: "NaN"
      )
      self = try decoder.decode(Self.self, from: Data(bytes))
    } catch {
      throw RecordError(.invalidValue)
    }
  }

  /// Appends the value's bytes.
  public func encode(to writer: inout ByteWriter) {
    let encoder = JSONEncoder()
    // Equal values have equal bytes, so that an unchanged one is seen to be unchanged.
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "Infinity",
      negativeInfinity: "-Infinity",
      nan: "NaN"
    )
    do {
      writer.write(try encoder.encode(self))
    } catch {
      preconditionFailure("a value of \(Self.self) cannot be written as JSON: \(error)")
    }
  }
}
