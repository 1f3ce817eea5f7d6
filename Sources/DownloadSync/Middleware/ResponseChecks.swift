public import DownloadStore

/// Decides whether a response may be the file of a download.
///
/// Called with the head of a response, after redirects, and the record as committed at the start of the
/// attempt. Throws to refuse the response; see ``EngineOptions/responseChecks``.
public typealias ResponseCheck =
  @Sendable (_ head: ResponseHead, _ record: DownloadRecord) throws -> Void

/// The checks of an engine, in their order.
struct ResponseChecks: Sendable {
  private let checks: [ResponseCheck]

  /// Creates checks, by default none.
  init(_ checks: [ResponseCheck] = []) {
    self.checks = checks
  }

  /// The failure of an attempt that received a response; `nil` if all checks accept it.
  func failure(of head: ResponseHead, for record: DownloadRecord) -> DownloadFailure? {
    for check in checks {
      do {
        try check(head, record)
      } catch let failure as DownloadFailure {
        return failure
      } catch {
        return DownloadFailure(.interceptorFailed, "a response check refused the answer: \(error)")
      }
    }
    return nil
  }
}
