internal import DownloadStore

extension DownloadEngine {
  /// Starts the task of a live download, once the interceptors have seen its request.
  func send(_ request: TaskRequest, for record: DownloadRecord) {
    guard let transfer = active[record.url]?.transfer else { return }
    guard !interceptors.requests.isEmpty else {
      active[record.url]?.task = transport.start(request, sink: transfer)
      return
    }
    active[record.url]?.preparation = Task.detached { [interceptors, inbox] in
      let result: Result<TaskRequest, DownloadFailure>
      do throws(DownloadFailure) {
        result = .success(try await interceptors.request(request, for: record))
      } catch {
        result = .failure(error)
      }
      inbox.post(.requestMade(TransferKey(record), result))
    }
  }

  /// Goes on with a download whose request is made, or was refused; returns its end if this is it.
  func resume(_ url: String, with result: Result<TaskRequest, DownloadFailure>) -> TransferResult? {
    guard let download = active[url] else { return nil }
    active[url]?.preparation = nil
    guard !download.isEnding else { return .cancelled }
    switch result {
    case .success(let request):
      active[url]?.task = transport.start(request, sink: download.transfer)
      return nil
    case .failure(let failure):
      return .failed(failure, retryAfter: nil)
    }
  }

  /// Tells of a file that is under its name.
  func notifyCompleted(_ record: DownloadRecord, head: ResponseHead? = nil) {
    let response = DownloadResponse(
      record: record,
      head: head,
      // A root that is gone by now has no file either.
      filePath: try? roots.layout(of: record).finalPath
    )
    notifyEnd(response, .completed(record))
  }

  /// Tells of the end of a download: interceptors first, so that whoever hears the event finds what
  /// they have done.
  func notifyEnd(_ response: DownloadResponse, _ event: DownloadEvent) {
    guard !interceptors.responses.isEmpty else {
      return emit(event, of: response.record.id)
    }
    notify(response, before: event)
  }

  /// Tells of an attempt that failed and is followed by another, whose events do not wait.
  func notifyRetry(_ response: DownloadResponse, _ event: DownloadEvent) {
    emit(event)
    if !interceptors.responses.isEmpty { notify(response, before: nil) }
  }

  /// Waits until the interceptors were told of everything.
  func awaitNotifications() async {
    while pendingNotifications > 0 {
      for case .endNotified in await inbox.next() { pendingNotifications -= 1 }
    }
  }

  private func notify(_ response: DownloadResponse, before event: DownloadEvent?) {
    pendingNotifications += 1
    Task.detached { [interceptors, hub, inbox] in
      for failure in await interceptors.notify(response) {
        hub.emit(
          .interceptorFailed(url: response.originalURL, failure),
          of: response.record.id
        )
      }
      if let event { hub.emit(event, of: response.record.id) }
      inbox.post(.endNotified)
    }
  }
}
