public import ObjectStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// One attempt that failed.
public struct Attempt: Sendable, Hashable {
  /// How many a record keeps.
  public static let limit = 16

  /// When it ended.
  public var at: Date
  /// The URL that was asked: the record's own, or a mirror.
  public var url: String
  /// Why it failed.
  public var failure: DownloadFailure
  /// How many bytes were on disk then.
  public var received: Int64

  /// Describes an attempt.
  public init(at: Date, url: String, failure: DownloadFailure, received: Int64) {
    self.at = at
    self.url = url
    self.failure = failure
    self.received = received
  }
}

extension Attempt: FieldValue {
  /// A value of its own coding: fields one after another, later versions append to them.
  public static var fieldType: FieldType { .embedded("Attempt") }

  /// Reads an attempt; what a later version appended is passed over.
  public init(from reader: inout ByteReader) throws(RecordError) {
    at = try reader.readSized()
    url = try reader.readSized()
    failure = DownloadFailure(
      DownloadFailure.Code(rawValue: try reader.readSized()) ?? .unknown,
      try reader.readSized()
    )
    received = try reader.readSized()
  }

  /// Writes the attempt.
  public func encode(to writer: inout ByteWriter) {
    writer.writeSized(at)
    writer.writeSized(url)
    writer.writeSized(failure.code.rawValue)
    writer.writeSized(failure.message)
    writer.writeSized(received)
  }
}
