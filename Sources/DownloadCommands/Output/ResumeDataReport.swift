internal import ObjectStore
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
