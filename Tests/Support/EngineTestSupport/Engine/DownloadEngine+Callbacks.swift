package import DownloadSync

extension DownloadEngine {
  /// Calls closures with the progress of a download and once with its end, until the task is
  /// cancelled.
  @discardableResult
  package nonisolated func follow(
    _ handle: DownloadHandle,
    every interval: Duration = .milliseconds(200),
    progress: (@Sendable (DownloadProgress) -> Void)? = nil,
    end: (@Sendable (Result<FinishedDownload, any Error>) -> Void)? = nil
  ) -> Task<Void, Never> {
    Task.detached { [self] in
      if let progress {
        for await change in self.progress(of: .download(handle), every: interval) {
          progress(change)
        }
      }
      guard let end, !Task.isCancelled else { return }
      do {
        let file = try await handle.value()
        end(.success(file))
      } catch is CancellationError {
        return
      } catch {
        end(.failure(error))
      }
    }
  }
}
