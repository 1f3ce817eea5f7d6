internal import DownloadStore

/// Delivers events to observers and interceptors.
///
/// Owns the number of interceptor calls that have not returned. Interceptors run outside the
/// engine; the inbox receives what they return.
struct EventDispatcher {
  private let hub: EventHub
  private let interceptors: InterceptorChain
  private let inbox: EngineInbox
  /// The number of notifications from which the response interceptors have not returned.
  private(set) var pendingCount = 0

  init(hub: EventHub, interceptors: InterceptorChain, inbox: EngineInbox) {
    self.hub = hub
    self.interceptors = interceptors
    self.inbox = inbox
  }

  /// Emits an event.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - recordID: The id of the record, for events that only contain its URL.
  func emit(_ event: DownloadEvent, of recordID: String? = nil) {
    hub.emit(event, of: recordID)
  }

  /// Emits the event of a failed attempt that is retried, and notifies the response interceptors.
  ///
  /// The event does not wait for the interceptors.
  mutating func emitRetry(_ event: DownloadEvent, _ response: DownloadResponse) {
    emit(event)
    if !interceptors.responses.isEmpty { notify(response, before: nil) }
  }

  /// Notifies the response interceptors of the end of a download, and then emits the event.
  ///
  /// A consumer that receives the event can therefore rely on what the interceptors have done.
  mutating func emitEnd(_ event: DownloadEvent, _ response: DownloadResponse) {
    guard !interceptors.responses.isEmpty else {
      return emit(event, of: response.record.id)
    }
    notify(response, before: event)
  }

  /// Notes that the interceptors have returned from one notification.
  mutating func noteReturn() {
    pendingCount -= 1
  }

  /// Starts the request interceptors.
  ///
  /// The inbox receives the request that they return as `requestMade`.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - record: The record of the download.
  ///   - part: The number of the part; zero for the first task.
  /// - Returns: The task in which they run; `nil` if there are none.
  func prepare(
    _ request: TaskRequest,
    for record: DownloadRecord,
    part: Int = 0
  ) -> Task<Void, Never>? {
    guard !interceptors.requests.isEmpty else { return nil }
    return Task.detached { [interceptors, inbox] in
      let result: Result<TaskRequest, DownloadFailure>
      do throws(DownloadFailure) {
        result = .success(try await interceptors.request(request, for: record))
      } catch {
        result = .failure(error)
      }
      inbox.post(.requestMade(TransferKey(record), part, result))
    }
  }

  private mutating func notify(_ response: DownloadResponse, before event: DownloadEvent?) {
    pendingCount += 1
    Task.detached { [interceptors, hub, inbox] in
      for failure in await interceptors.notify(response) {
        hub.emit(
          .interceptorFailed(url: response.record.url, failure),
          of: response.record.id
        )
      }
      if let event { hub.emit(event, of: response.record.id) }
      inbox.post(.endNotified)
    }
  }
}
