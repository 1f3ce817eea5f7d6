package import Foundation
package import ResumeData

/// Makes resume data fit for the system that is to go on from it.
package enum ResumeDataPreparation {
  /// The resume data as a system needs it.
  ///
  /// Stored resume data stays as it is: the same bytes are right for a later system.
  ///
  /// - Throws: `TaskFailure` with `unknown` for data that cannot be read or repaired. An engine drops
  ///   it then, and starts from the first byte.
  package static func prepared(
    _ resumeData: Data,
    for consumer: ResumeData.Consumer
  ) throws(TaskFailure) -> Data {
    do {
      return Data(try ResumeData(Array(resumeData)).prepared(for: consumer).bytes)
    } catch {
      throw TaskFailure(code: .unknown, message: "the resume data cannot be used: \(error)")
    }
  }
}
