package import DownloadStore
package import ObjectStore
internal import ProgramOutput
package import ResumeData

/// The output of `dlstore resume-data`.
package struct ResumeDataReport {
  private let data: URLSessionResumeData
  private let revealsSecrets: Bool

  package init(of data: URLSessionResumeData, revealsSecrets: Bool) {
    self.data = data
    self.revealsSecrets = revealsSecrets
  }

  /// One property per line, without the last line feed.
  package var text: String {
    ResumeDataText.lines(of: data, revealsSecrets: revealsSecrets).joined(separator: "\n")
  }

  /// One JSON object.
  package var json: String {
    ResumeDataJSON.value(of: data, revealsSecrets: revealsSecrets).prettyText
  }
}

/// Resume data as JSON.
///
/// The keys are stable.
package enum ResumeDataJSON {
  /// The contents of resume data; unknown values are null.
  package static func value(of data: URLSessionResumeData, revealsSecrets: Bool) -> JSONValue {
    let shown = ResumeDataRedaction(revealsSecrets: revealsSecrets)
    return [
      "form": .string(data.form.rawValue),
      "version": JSONValue(data.version),
      "url": JSONValue(data.url.map(shown.url)),
      "received": JSONValue(data.received),
      "etag": JSONValue(data.entityTag),
      "lastModified": JSONValue(data.lastModified),
      "tempFileName": JSONValue(data.temporaryFileName),
      "localPath": JSONValue(data.localPath),
      "byteRange": JSONValue(data.byteRange),
      "requests": [
        "original": request(data.originalRequest, shown),
        "current": request(data.currentRequest, shown),
      ],
      "defects": .array(
        data.defects.map { defect in
          [
            "code": .string(defect.code.description),
            "message": .string(defect.message),
            "fatal": .bool(defect.code.isFatal),
          ]
        }
      ),
      "repairs": .array(ResumeDataRepair.changing(data).map { .string($0.rawValue) }),
      "byteCount": .integer(Int64(data.bytes.count)),
    ]
  }

  private static func request(
    _ request: URLRequestArchive?,
    _ shown: ResumeDataRedaction
  ) -> JSONValue {
    guard let request else { return .null }
    let fields = request.headers.map(shown.field)
    return [
      "url": JSONValue(request.url.map(shown.url)),
      "method": .string(request.method ?? "GET"),
      "headers": .object(fields.map { .init(name: $0.name, value: .string($0.value)) }),
    ]
  }
}

/// Resume data as text for people, one property per line.
package enum ResumeDataText {
  /// The lines, without line feeds.
  package static func lines(of data: URLSessionResumeData, revealsSecrets: Bool) -> [String] {
    let rows = rows(of: data, revealsSecrets: revealsSecrets)
    let width = rows.map(\.0.count).max() ?? 0
    return rows.map { name, value in
      "\(TerminalText.padded(name, to: width))  \(TerminalText.safe(value))"
    }
  }

  /// The known properties, as names and values.
  package static func rows(
    of data: URLSessionResumeData,
    revealsSecrets: Bool
  ) -> [(String, String)] {
    let shown = ResumeDataRedaction(revealsSecrets: revealsSecrets)
    var rows: [(String, String)] = [
      ("form", "\(data.form.rawValue), \(data.bytes.count) bytes"),
      ("version", data.version.map { String($0) } ?? ""), ("url", data.url.map(shown.url) ?? ""),
      ("received", data.received.map { "\($0) bytes" } ?? ""),
      ("entity tag", data.entityTag ?? ""), ("modified", data.lastModified ?? ""),
      ("partial file", data.temporaryFileName ?? ""), ("path", data.localPath ?? ""),
      ("byte range", data.byteRange ?? ""),
    ]
    for (name, request) in [("original", data.originalRequest), ("current", data.currentRequest)] {
      guard let request else { continue }
      rows.append((name, "\(request.method ?? "GET") \(request.url.map(shown.url) ?? "")"))
      rows += request.headers.map(shown.field).map { ("header", "\($0.name): \($0.value)") }
    }
    rows += data.otherKeys.map { ("other", $0) }
    rows += data.defects.map { defect in
      ("defect", "\(defect.code): \(defect.message)\(defect.code.isFatal ? "; unusable" : "")")
    }
    rows += ResumeDataRepair.changing(data).map { repair in
      ("repair", "\(repair.rawValue) would change it")
    }
    return rows.filter { !$0.1.isEmpty }
  }
}

/// Redacts the URLs and header fields in resume data.
package struct ResumeDataRedaction {
  /// Whether nothing is redacted.
  package var revealsSecrets: Bool

  package func url(_ url: String) -> String {
    revealsSecrets ? url : Redaction.url(url)
  }

  package func field(_ field: URLRequestArchive.HeaderField) -> HeaderField {
    // Fields such as Referer contain URLs.
    let value = field.value.contains("://") ? url(field.value) : field.value
    let field = HeaderField(name: field.name, value: value)
    return revealsSecrets ? field : Redaction.field(field)
  }
}

/// The system versions for which resume data can be repaired.
package enum ResumeDataRepair: String, CaseIterable, Sendable {
  case ios10
  case ios11
  case v1
}

extension ResumeDataRepair {
  /// The repairs that would change the data.
  package static func changing(_ data: URLSessionResumeData) -> [Self] {
    allCases.filter { repair in
      switch repair {
      case .ios10: (try? data.needsRepair(for: .iOS10)) ?? false
      case .ios11: (try? data.needsRepair(for: .iOS11)) ?? false
      // The current folder of the file is not known here.
      case .v1: data.temporaryFileName == nil && data.localPath != nil
      }
    }
  }
}
