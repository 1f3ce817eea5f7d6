internal import DownloadStore

extension DownloadEngine {
  /// Starts the task of a live download, once the interceptors have seen its request.
  func send(_ request: TaskRequest, for record: DownloadRecord) {
    guard let transfer = live[record.url]?.transfer else { return }
    guard !interceptors.requests.isEmpty else {
      live[record.url]?.task = transport.start(request, sink: transfer)
      return
    }
    live[record.url]?.preparation = Task.detached { [interceptors, inbox] in
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
  func goOn(_ url: String, with result: Result<TaskRequest, DownloadFailure>) -> TransferResult? {
    guard let download = live[url] else { return nil }
    live[url]?.preparation = nil
    guard !download.isReleased else { return .cancelled }
    switch result {
    case .success(let request):
      live[url]?.task = transport.start(request, sink: download.transfer)
      return nil
    case .failure(let failure):
      return .failed(failure, retryAfter: nil)
    }
  }

  /// Tells of a file that is under its name.
  func tellCompleted(_ record: DownloadRecord, head: ResponseHead? = nil) {
    let response = DownloadResponse(
      record: record,
      head: head,
      // A root that is gone by now has no file either.
      filePath: try? roots.layout(of: record).finalPath
    )
    tellEnd(response, .completed(record))
  }

  /// Tells of the end of a download: interceptors first, so that whoever hears the event finds what
  /// they have done.
  func tellEnd(_ response: DownloadResponse, _ event: DownloadEvent) {
    guard !interceptors.responses.isEmpty else {
      return emit(event, of: response.record.id)
    }
    tell(response, before: event)
  }

  /// Tells of an attempt that failed and is followed by another, whose events do not wait.
  func tellRetry(_ response: DownloadResponse, _ event: DownloadEvent) {
    emit(event)
    if !interceptors.responses.isEmpty { tell(response, before: nil) }
  }

  /// Waits until the interceptors were told of everything.
  func awaitTellings() async {
    while tellings > 0 {
      for case .endTold in await inbox.next() { tellings -= 1 }
    }
  }

  private func tell(_ response: DownloadResponse, before event: DownloadEvent?) {
    tellings += 1
    Task.detached { [interceptors, hub, inbox] in
      for failure in await interceptors.tell(response) {
        hub.emit(
          .interceptorFailed(url: response.originalURL, failure),
          of: response.record.id
        )
      }
      if let event { hub.emit(event, of: response.record.id) }
      inbox.post(.endTold)
    }
  }
}
