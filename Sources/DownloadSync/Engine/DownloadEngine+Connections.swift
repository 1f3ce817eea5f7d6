internal import DownloadStore
internal import Foundation
internal import Logging

// The effects of ``Connections``, which decides about the connections of a transfer.

extension DownloadEngine {
  /// Handles the end of a task of a transfer.
  ///
  /// - Parameters:
  ///   - number: The number of the task; zero for the first one.
  ///   - key: The transfer.
  ///   - result: The result of the task.
  /// - Returns: The result of the transfer if it is over; `nil` if it is not, or no longer active.
  func endTask(_ number: Int, of key: TransferKey, _ result: TransferResult) -> TransferResult? {
    guard let closed = active.close(number, of: key), let download = active[key] else { return nil }
    if number > 0 { log("part ended", download.record, ["part": "\(number)"]) }
    let end = Connections.End(
      connection: closed,
      result: result,
      asksAgain: number == 0 && download.request != nil && download.transfer.asksAgain,
      mayContinue: !download.isEnding && !isStopping
    )
    let reading = download.transfer.isSplit ? reading(of: download) : nil
    var finished: TransferResult?
    for effect in active.step(key.url, { $0.noteEnd(end, reading) }) ?? [] {
      switch effect {
      case .askAgain: askAgain(key)
      case .stopSplitting: trust.limit(key.recordID, to: .oneServer)
      case .open(let opening): open(opening, of: key.url)
      case .endAll: cancelTasks(of: download)
      case .finish(let result): finished = result
      }
    }
    return finished
  }

  /// Starts and ends connections of the transfers, within the limits.
  ///
  /// Waiting downloads come first: they start before this is called.
  func adjustConnections() {
    guard !isStopping else { return }
    var limits = connectionLimits
    for url in active.urls {
      guard let download = active[url], download.mayHaveParts else { continue }
      let now = environment.instant()
      // A connection that waits for the rate limit has not stalled.
      let stallTime =
        options.split.stallTime
        + download.transfer.longestWait(of: download.connections.openCount)
      let turn = active.step(url) { [limits] in
        $0.noteTurn(download.connectionProgress, within: limits, stallTime: stallTime, at: now)
      }
      guard let turn else { continue }
      for number in turn.ending { cancelConnection(number, of: url) }
      guard turn.mayOpen else { continue }
      while let opening = nextConnection(of: url) {
        open(opening, of: url)
        limits = connectionLimits
      }
    }
  }

  private var connectionLimits: ConnectionLimits {
    ConnectionLimits(queue.limits, beside: active.values.lazy.map(\.connections))
  }

  private func reading(of download: ActiveTransfer) -> Connections.Reading {
    download.reading(
      trust[download.record.id],
      within: connectionLimits,
      minimumLength: options.split.minimumLength,
      deliversRanges: !takesResumeData
    )
  }

  private func nextConnection(of url: String) -> Connections.Opening? {
    guard let download = active[url],
      download.connections.wantsNext(hasSpare: download.transfer.spare != nil)
    else { return nil }
    let reading = reading(of: download)
    return active.step(url) { $0.next(reading) } ?? nil
  }

  /// Starts a connection of a transfer.
  private func open(_ opening: Connections.Opening, of url: String) {
    guard let download = active[url], var request = download.request else { return }
    download.transfer.noteSplit()
    let part = TransferPart(
      opening.number,
      of: download.transfer,
      range: opening.range,
      isSpare: opening.isSpare,
      source: opening.source,
      origin: opening.origin,
      proof: opening.proof,
      now: now,
      inbox: inbox
    )
    if opening.source > 0 {
      request.url = opening.url
      request.headers = download.headers?.fields(sentTo: opening.url) ?? []
    }
    request.offset = opening.range.lowerBound
    request.end = opening.range.upperBound
    request.validator = opening.proof.ifRange
    request.validatorOrigin = part.validatorOrigin
    request.resumeData = nil
    log(
      "part",
      download.record,
      ["part": "\(part.number)", "range": "\(opening.range)", "origin": opening.origin]
    )
    active.insert(part, of: url)
    if let preparation = dispatcher.prepare(request, for: download.record, part: part.number) {
      active.notePreparation(preparation, ofPart: part.number, of: url)
    } else {
      active.noteStart(of: transport.start(request, sink: part), part: part.number, of: url)
    }
  }

  /// Starts the task of a part with the request that the interceptors returned.
  ///
  /// - Returns: The result of the transfer if it is over; see ``endTask(_:of:_:)``.
  func send(
    _ prepared: Result<TaskRequest, DownloadFailure>,
    part number: Int,
    of key: TransferKey
  ) -> TransferResult? {
    guard let download = active[key], let part = download.parts[number] else { return nil }
    let isEnding =
      download.isEnding || download.connections.outcome != nil
      || download.connections.isEnding(number)
    switch prepared {
    case .success where isEnding:
      return endTask(number, of: key, .cancelled)
    case .success(let request):
      let task = transport.start(request, sink: part.sink)
      active.noteStart(of: task, part: number, of: key.url)
      return nil
    case .failure(let failure):
      return endTask(number, of: key, .failed(failure, retryAfter: nil))
    }
  }

  /// Repeats the first task of a transfer without `If-Range`.
  private func askAgain(_ key: TransferKey) {
    guard let download = active[key], var request = download.request,
      download.transfer.beginAgain()
    else { return }
    log("ask without If-Range", download.record)
    request.validator = nil
    active.noteRequest(request, of: key.url)
    if let preparation = dispatcher.prepare(request, for: download.record) {
      active.notePreparation(preparation, of: key.url)
    } else {
      active.noteStart(of: transport.start(request, sink: download.transfer), for: key.url)
    }
  }

  /// Ends the connection that was added last, to a server or to any; the others take over its rest.
  ///
  /// Does nothing if the transfer has only one.
  func endLastConnection(of url: String, to origin: String? = nil) {
    let last = active.step(url) { connections -> Int? in
      connections.last(to: origin).flatMap { connections.noteEnding($0) ? $0 : nil }
    }
    if let last = last ?? nil { cancelConnection(last, of: url) }
  }

  /// Cancels a connection whose rest others take over.
  private func cancelConnection(_ number: Int, of url: String) {
    guard let download = active[url] else { return }
    log("end part", download.record, ["part": "\(number)"])
    download.parts[number]?.preparation?.cancel()
    download.parts[number]?.sink.endLimit()
    let task = number == 0 ? download.task : download.parts[number]?.task
    if let task { transport.cancel(task) }
  }
}
