public import ObjectStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A failed attempt.
///
/// ```swift
/// let record = try store.record(matching: "https://example.com/model.bin")
/// for attempt in record.attempts { print(attempt.at, attempt.url, attempt.failure.message) }
/// ```
public struct Attempt: Sendable, Hashable {
  /// The number of attempts that a record keeps.
  package static let limit = 16

  /// The time of the failure.
  public var at: Date
  /// The requested URL: the record's own or a mirror.
  public var url: String
  /// The failure.
  public var failure: DownloadFailure
  /// The number of bytes on disk at that time.
  public var received: Int64

  /// Creates an attempt.
  package init(at: Date, url: String, failure: DownloadFailure, received: Int64) {
    self.at = at
    self.url = url
    self.failure = failure
    self.received = received
  }
}

extension Attempt: FieldValue {
  /// A custom encoding: fields in sequence, to which later versions append.
  public static var fieldType: FieldType { .embedded("Attempt") }

  /// Decodes an attempt; skips fields that a later version appended.
  public init(from reader: inout ByteReader) throws(RecordError) {
    at = try reader.readSized()
    url = try reader.readSized()
    failure = DownloadFailure(
      DownloadFailure.Code(rawValue: try reader.readSized()) ?? .unknown,
      try reader.readSized()
    )
    received = try reader.readSized()
    failure.detail = DownloadFailure.Detail(rawValue: try reader.readSized())
  }

  /// Encodes the attempt.
  public func encode(to writer: inout ByteWriter) {
    writer.writeSized(at)
    writer.writeSized(url)
    writer.writeSized(failure.code.rawValue)
    writer.writeSized(failure.message)
    writer.writeSized(received)
    writer.writeSized(failure.detail?.rawValue ?? "")
  }
}

extension DownloadRecord {
  /// The last attempts, as many as ``failedAttempts`` counts; at most ``Attempt/limit``.
  package var countedAttempts: ArraySlice<Attempt> {
    attempts.suffix(Int(max(0, failedAttempts)))
  }
}
