internal import DownloadStore
internal import ResumeData

/// What earlier responses have shown of a file that the task of a background session delivers.
///
/// The session resumes by itself after a lost connection, and delivers only the head of the last
/// response. That response must not contradict the earlier ones.
struct EarlierResponse: Sendable, Hashable {
  /// A number of bytes that the file has at least; at least 1.
  var byteCount: Int64
  /// The size of the file in bytes; `nil` if it is unknown.
  var total: Int64?
  /// The validator of the file; `nil` if the server has stated none.
  var validator: Validator?

  /// Combines what a record says about the file that its task continues with what this process has
  /// been told; `nil` if the task may not have received any byte before.
  ///
  /// The task of an earlier process may have received bytes of which no process that lives has heard,
  /// and may have resumed by itself. So it counts as one that has received a byte, and an empty file is
  /// requested again.
  ///
  /// - Parameters:
  ///   - record: The record, as it was when the task was started or adopted.
  ///   - held: The number of bytes that the session has reported.
  ///   - total: The size of the file, if it is known.
  ///   - isAdopted: Whether an earlier process has started the task.
  init?(ofTaskOf record: DownloadRecord, held: Int64, total: Int64?, isAdopted: Bool = false) {
    self.total = total
    byteCount = isAdopted ? max(held, 1) : held
    validator = Validator(of: record)
    if let resumeData = record.resumeData.flatMap({ try? URLSessionResumeData(Array($0)) }) {
      validator = Validator(resumeData)
      byteCount = max(byteCount, resumeData.received ?? 1)
    } else if record.received == 0, validator != nil {
      // An earlier process has adopted the task, which had used up its resume data.
      byteCount = max(byteCount, 1)
    }
    guard byteCount > 0 else { return nil }
  }

  /// Returns why a delivered body cannot be the file; `nil` if it can.
  ///
  /// A new version of the file may have any size but none: a server that sends nothing in answer to a
  /// request for a range is more likely broken. The download then starts again without a range, and
  /// an empty file costs one more request.
  ///
  /// - Parameters:
  ///   - head: The head of the last response.
  ///   - byteCount: The number of bytes that the session has delivered.
  /// - Returns: The failure of the attempt.
  func contradiction(of head: ResponseHead, byteCount: Int64) -> DownloadFailure? {
    guard head.status == 200 || head.status == 206 else { return nil }
    let isSame =
      validator?.isStrong == true && Validator.areEqual(head["ETag"], validator?.entityTag)
    let isShort = byteCount < self.byteCount || (total ?? 0) > byteCount
    guard byteCount == 0 || isSame && isShort else { return nil }
    let received = "\(byteCount) bytes of a file of which it had received \(self.byteCount)"
    return DownloadFailure(
      .badResponse,
      "the session delivered \(byteCount == 0 ? "an empty body" : received)"
    )
  }
}

extension Validator {
  /// The validator of the bytes that resume data continues; `nil` if it has none.
  init?(_ resumeData: URLSessionResumeData) {
    self.init(entityTag: resumeData.entityTag, lastModified: resumeData.lastModified)
  }
}
