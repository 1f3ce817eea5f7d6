package import DownloadStore
package import Foundation
package import ResumeData

/// Converts resume data to the form that a system accepts.
package enum ResumeDataPreparation {
  /// Returns resume data repaired for a system.
  ///
  /// Store the original data, not the result: a later system accepts the original bytes.
  ///
  /// - Throws: `DownloadFailure` with `unknown` if the data cannot be read or repaired. The engine
  ///   then drops it and restarts the download from the first byte.
  package static func prepared(
    _ resumeData: Data,
    for consumer: URLSessionResumeData.Consumer
  ) throws(DownloadFailure) -> Data {
    do {
      return Data(try URLSessionResumeData(Array(resumeData)).prepared(for: consumer).bytes)
    } catch {
      throw DownloadFailure(.unknown, "the resume data cannot be used: \(error)")
    }
  }
}
