internal import DownloadStore

extension DownloadEngine {
  /// Starts the task of an active transfer.
  ///
  /// If there are request interceptors, they run first, outside the actor. The inbox receives the
  /// request that they return as `requestMade`.
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

  /// Starts the task of a transfer with the request that the interceptors returned.
  ///
  /// - Returns: The result of the transfer if it is over: an interceptor rejected the request, or
  ///   the engine is ending the transfer. Otherwise `nil`.
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

  /// Notifies interceptors and observers that the finished file has its final name.
  func notifyCompleted(_ record: DownloadRecord, head: ResponseHead? = nil) {
    let response = DownloadResponse(
      record: record,
      head: head,
      // If the root folder no longer exists, neither does the file.
      filePath: try? roots.layout(of: record).finalPath
    )
    notifyEnd(response, .completed(record))
  }

  /// Notifies the response interceptors of the end of a download, and then emits the event.
  ///
  /// A consumer that receives the event can therefore rely on what the interceptors have done.
  func notifyEnd(_ response: DownloadResponse, _ event: DownloadEvent) {
    guard !interceptors.responses.isEmpty else {
      return emit(event, of: response.record.id)
    }
    notify(response, before: event)
  }

  /// Emits the event of a failed attempt that is retried, and notifies the response interceptors.
  ///
  /// The event does not wait for the interceptors.
  func notifyRetry(_ response: DownloadResponse, _ event: DownloadEvent) {
    emit(event)
    if !interceptors.responses.isEmpty { notify(response, before: nil) }
  }

  /// Waits until the interceptors have returned from all notifications.
  ///
  /// Discards all other inputs, so it is called only outside a run.
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
