// What the samples of ResumeData stand in.
import Foundation
import ResumeData

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Returns a value that the text around a sample has.
func some<Value>() -> Value { fatalError("samples are only compiled") }

struct Record { var url = "", entityTag: String? }

var bytes: [UInt8] { some() }
var data: URLSessionResumeData { some() }
var record: Record { some() }
var url: String { some() }
var folder: String { some() }
var size: Int64 { some() }
var session: URLSession { some() }
func start(with bytes: [UInt8]) {}
func startFromZero() {}
