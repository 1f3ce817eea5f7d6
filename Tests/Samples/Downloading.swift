// What the samples of the download modules stand in: a store, an engine, and parts of a program.
import DownloadMetalink
import Downloads
import Foundation

/// Returns a value that the text around a sample has.
func some<Value>() -> Value { fatalError("samples are only compiled") }

struct Bar { var value = 0.0 }

var store: RecordStore { some() }
var engine: DownloadEngine { some() }
var transport: any Transport { some() }
var handle: DownloadHandle { some() }
var record: DownloadRecord { some() }
var request: DownloadRequest {
  get { some() }
  set {}
}
var requests: [DownloadRequest] { some() }
var plan: PurgePlan { some() }
var options: EngineOptions {
  get { some() }
  set {}
}
var sink: any TaskSink { some() }
var task: TaskID { some() }
var outcome: TaskOutcome { some() }
var digests: [Digest] { some() }
var child: Process { some() }
var url: String { some() }
var urls: [String] { some() }
var folder: String { some() }
var identifier: String { some() }
var size: Int64 { some() }
var otherURL: String { some() }
var token: String { some() }
func token() async throws -> String { some() }
func fetchToken(_ challenge: String) async throws -> String { some() }
func signedURL(for name: String) async throws -> String { some() }
func publish(_ record: DownloadRecord) async throws {}
func show<Value>(_ value: Value) {}
func makeSink(_ record: String) -> any TaskSink { some() }
func isKnown(_ record: String) -> Bool { some() }
func commit(_ outcome: TaskOutcome, of task: TaskID) async throws {}
func completionHandler() {}
var bar: Bar {
  get { some() }
  set {}
}

#if !canImport(UIKit)
  class UIScene {}
#endif
