#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A `Codable` type that is stored as JSON.
///
/// It suits existing `Codable` types that are seldom read. Declaring the conformance is enough:
///
/// ```swift
/// struct Settings: JSONFieldValue {
///   var theme: String
/// }
/// ```
///
/// Decoding a value takes some microseconds, many times as long as a type with `@Embedded` or a
/// custom encoding. The field cannot be indexed. Infinities and NaN are preserved.
///
/// - Important: Encoding must not fail. A value whose `encode(to:)` throws terminates the program.
public protocol JSONFieldValue: FieldValue, Codable {}

extension JSONFieldValue {
  /// The type of the encoded value: JSON in UTF-8 with sorted keys.
  public static var fieldType: FieldType { .embedded("JSON") }

  /// Decodes a value from all remaining bytes of the reader.
  ///
  /// - Throws: ``RecordError`` with `invalidValue` when `JSONDecoder` cannot decode them.
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

  /// Appends the encoded value.
  public func encode(to writer: inout ByteWriter) {
    let encoder = JSONEncoder()
    // Sorted, so that equal values have equal bytes: updates compare bytes to find changed fields.
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "Infinity",
      negativeInfinity: "-Infinity",
      nan: "NaN"
    )
    do {
      writer.write(try encoder.encode(self))
    } catch {
      preconditionFailure("a value of \(Self.self) cannot be encoded as JSON: \(error)")
    }
  }
}
