internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore

/// An engine event as a JSON object, for `--json-events`.
///
/// The keys are stable, and sorted. `event` and `time` are in every object.
enum EventJSON {
  /// The object of an event.
  static func value(of event: DownloadEvent, at time: Date = Date()) -> JSONValue {
    switch event {
    case .started(let record, let offset):
      object("started", time, record, ["offset": .integer(offset)])
    case .copying(let record, let path): object("copying", time, record, ["from": .string(path)])
    case .rolledBack(let url, let bytes, let failure):
      object(
        "restarted",
        time,
        url,
        ["droppedBytes": .integer(bytes), "error": error(failure, [url])]
      )
    case .completed(let record): object("completed", time, record)
    case .unchanged(let record): object("unchanged", time, record)
    case .retrying(let record, let failure, let wait):
      object(
        "retrying",
        time,
        record,
        ["error": error(failure, record), "waitSeconds": .double(wait / .seconds(1))]
      )
    case .failed(let record, let failure):
      object("failed", time, record, ["error": error(failure, record)])
    case .waitingForDiskSpace(let record): object("waitingForDiskSpace", time, record)
    case .released(let url): object("released", time, url)
    case .interceptorFailed(let url, let failure):
      object(
        "interceptorFailed",
        time,
        url,
        ["interceptor": .string(failure.interceptor), "message": .string(failure.message)]
      )
    case .missed(let count): object("missed", time, ["count": .integer(Int64(count))])
    }
  }

  /// The object of a running download's progress.
  static func value(of progress: DownloadProgress, at time: Date = Date()) -> JSONValue {
    object(
      "progress",
      time,
      progress.url,
      [
        "bytesPerSecond": JSONValue(progress.bytesPerSecond.map(Speed.byteCount)),
        "connections": .integer(Int64(progress.connections)),
        "expected": JSONValue(progress.expected),
        "filename": .string(progress.filename),
        "id": .string(progress.recordID),
        "ranges": progress.hasGaps ? JSONValue(ranges: progress.ranges) : .null,
        "received": .integer(progress.received),
      ]
    )
  }

  /// The object of the end of a run.
  static func value(of summary: RunSummary, at time: Date = Date()) -> JSONValue {
    object(
      "finished",
      time,
      [
        "completed": .integer(Int64(summary.completed)),
        "copied": .integer(Int64(summary.copied)),
        "failed": .integer(Int64(summary.failed)),
        "unchanged": .integer(Int64(summary.unchanged)),
      ]
    )
  }

  private static func object(
    _ event: String,
    _ time: Date,
    _ record: DownloadRecord,
    _ more: [String: JSONValue] = [:]
  ) -> JSONValue {
    let own: [String: JSONValue] = [
      "expected": JSONValue(record.expected),
      "filename": .string(record.filename),
      "folder": .string(record.folder),
      "id": .string(record.id),
      "received": .integer(record.received),
    ]
    return object(event, time, record.url, own.merging(more) { $1 })
  }

  private static func object(
    _ event: String,
    _ time: Date,
    _ url: String,
    _ more: [String: JSONValue] = [:]
  ) -> JSONValue {
    let own: [String: JSONValue] = [
      "displayURL": .string(Redaction.url(url)), "url": .string(url),
    ]
    return object(event, time, own.merging(more) { $1 })
  }

  private static func object(
    _ event: String,
    _ time: Date,
    _ more: [String: JSONValue]
  ) -> JSONValue {
    let own: [String: JSONValue] = [
      "event": .string(event), "time": .string(Timestamp.text(time)),
    ]
    let members = own.merging(more) { $1 }.sorted { $0.key < $1.key }
    return .object(members.map { JSONValue.Member(name: $0.key, value: $0.value) })
  }

  private static func error(_ failure: DownloadFailure, _ record: DownloadRecord) -> JSONValue {
    error(failure, [record.url] + record.mirrors)
  }

  private static func error(_ failure: DownloadFailure, _ urls: [String]) -> JSONValue {
    [
      "code": .string(failure.code.rawValue),
      "message": .string(FailureSentence.reason(failure, urls)),
    ]
  }
}
