package import ResumeData

/// What `dlstore resume-data` prints.
package struct ResumeDataReport {
  private let data: ResumeData
  private let revealsSecrets: Bool

  package init(of data: ResumeData, revealsSecrets: Bool) {
    self.data = data
    self.revealsSecrets = revealsSecrets
  }

  /// One fact a line, without the last line's end.
  package var text: String {
    ResumeDataText.lines(of: data, revealsSecrets: revealsSecrets).joined(separator: "\n")
  }

  /// One JSON object.
  package var json: String {
    ResumeDataJSON.value(of: data, revealsSecrets: revealsSecrets).prettyText
  }
}
