internal import DownloadStore
internal import Foundation
internal import Logging

// The connections of a transfer: ``ConnectionRamp`` decides how many there are, ``ConnectionPlan``
// what each one fetches, and ``PartEnd`` what follows the end of one.

extension DownloadEngine {
  /// Notes that a task of a transfer has ended.
  ///
  /// - Parameters:
  ///   - number: The number of the task; zero for the first one.
  ///   - key: The transfer.
  ///   - result: The result of the task.
  /// - Returns: The result of the transfer if it is over; `nil` if it is not, or no longer active.
  func endTask(
    _ number: Int,
    of key: TransferKey,
    _ result: TransferResult
  ) async -> TransferResult? {
    var hasProgressed = true
    var source = 0
    let isReplaced = active.isEnding(number, of: key)
    if number == 0 {
      guard active.noteEnd(key) else { return nil }
      if askAgain(key) { return nil }
      hasProgressed = active[key]?.transfer.hasProgressed ?? true
    } else {
      guard let part = active.noteEnd(ofPart: number, of: key) else { return nil }
      hasProgressed = part.sink.hasProgressed
      source = part.sink.source
    }
    guard let download = active[key] else { return nil }
    guard download.transfer.isSplit else { return result }
    if number > 0 { log("part ended", download.record, ["part": "\(number)"]) }
    let others = download.openCount
    let isComplete = download.transfer.missing?.isEmpty ?? false
    if download.outcome == nil, !download.isEnding, !isStopping {
      let end = PartEnd(
        result,
        hasProgressed: hasProgressed,
        isFirst: number == 0,
        others: others,
        isComplete: isComplete,
        isOfMirror: source > 0,
        isReplaced: isReplaced
      )
      switch end {
      case .endAll(let result, let isSplittable):
        if !isSplittable { unsplittable.insert(download.record.id) }
        active.noteOutcome(result, of: key)
        cancelTasks(of: download)
      case .leaveRest(let isRefused, let isSplittable):
        if !isSplittable { unsplittable.insert(download.record.id) }
        if isRefused { active.noteRefusal(ofSource: source, of: key) }
        return nil
      case .startNext(let isRefused):
        if isRefused { active.noteRefusal(ofSource: source, of: key) }
        if startConnection(of: key.url, minimumLength: nil) { return nil }
        active.noteOutcome(result, of: key)
      }
    }
    guard others == 0 else { return nil }
    // A file that is complete needs no task, whatever ended the last one.
    if isComplete, active[key]?.outcome?.dropsBytes != true { return .complete }
    return active[key]?.outcome ?? (result == .complete ? .cancelled : result)
  }

  /// Starts and ends connections of the transfers, within the limits.
  ///
  /// Waiting downloads come first: they start before this is called.
  func adjustConnections() {
    guard !isStopping else { return }
    for url in active.urls {
      guard let download = active[url], mayHaveParts(download) else { continue }
      let now = environment.instant()
      let stalled = active.notePace(of: url, stallTime: options.split.stallTime, at: now)
      for number in stalled { endConnection(number, of: url) }
      // The user may have lowered the limits, or the last connections have gained nothing.
      switch active.excess(of: url, queue.limits) {
      case .total:
        endLastConnection(of: url)
        continue
      case .origin(let origin):
        endLastConnection(of: url, to: origin)
        continue
      case nil: break
      }
      if let download = active[url], download.openCount > download.allowedCount {
        endLastConnection(of: url)
        continue
      }
      let minimumLength = maySplit(download) ? options.split.minimumLength : nil
      while let download = active[url], download.openCount > 0,
        download.openCount < download.ramp.target,
        startConnection(of: url, minimumLength: minimumLength)
      {}
      handOver(url)
    }
  }

  /// Opens one connection more than the ramp allows, if another one would receive many bytes that the
  /// file has, before those that it is to write.
  ///
  /// When the further one has its response, the other one ends. If the server refuses the further one,
  /// the other one still delivers all bytes.
  private func handOver(_ url: String) {
    guard let download = active[url], download.openCount > 0, !download.ramp.hasRefusal,
      download.openCount < download.ramp.limit, download.openCount <= download.ramp.target,
      let spare = download.transfer.spare
    else { return }
    _ = startConnection(of: url, minimumLength: nil, takingOver: spare)
  }

  /// Whether a transfer may use more than one task, at a time or one after another.
  private func mayHaveParts(_ download: ActiveTransfer) -> Bool {
    guard download.ramp.limit > 1 || download.transfer.isSplit else { return false }
    // The first response decides whether the bytes on disk are kept.
    guard download.preparation == nil, download.transfer.hasProgressed || download.task == nil
    else { return false }
    return !download.isEnding && download.outcome == nil && download.request != nil
  }

  /// Whether the file of a transfer may be split.
  private func maySplit(_ download: ActiveTransfer) -> Bool {
    let entity = download.transfer.entity
    return download.ramp.limit > 1 && !takesResumeData
      && !unsplittable.contains(download.record.id)
      && download.transfer.hasProgressed && entity.total != nil
      && (entity.validator?.isStrong == true || download.transfer.hasRequiredDigest)
      && download.transfer.head?.refusesRanges != true
      // Several connections do not speed up what the user slows down.
      && download.record.bytesPerSecond == nil
      && download.transfer.file.written.ranges.count < ByteRanges.storedLimit / 2
  }

  /// Starts the next connection of a transfer.
  ///
  /// - Parameters:
  ///   - url: The URL of the transfer.
  ///   - minimumLength: The shortest length of the halves of a range; `nil` to split no range.
  ///   - spare: What it takes over from another one; `nil` to choose a range.
  /// - Returns: Whether there was something to fetch, and a free connection.
  private func startConnection(
    of url: String,
    minimumLength: Int64?,
    takingOver spare: Range<Int64>? = nil
  ) -> Bool {
    active.noteLinks(of: url)
    guard let download = active[url], var request = download.request,
      let (claims, missing) = download.openRanges
    else { return false }
    let isTrusted = !unsplittable.contains(download.record.id)
    let trustsDigest =
      download.transfer.hasRequiredDigest && !unmixable.contains(download.record.id)
    let sameServerProof = download.transfer.sameServerProof
    guard
      let (index, source) = active.nextSource(
        of: url,
        using: !isTrusted
          ? .none : trustsDigest ? .all : sameServerProof == nil ? .none : .ofSameOrigin,
        queue.limits
      )
    else { return false }
    let ownProof = RangeProof.unchanged(download.transfer.entity.validator)
    let proof = trustsDigest ? .digest : index == 0 ? ownProof : sameServerProof ?? ownProof
    let range: Range<Int64>
    switch spare.map(ConnectionPlan.Step.fetch)
      ?? ConnectionPlan.next(
        missing: missing,
        claims: claims,
        minimumLength: minimumLength
      )
    {
    case nil: return false
    case .fetch(let free): range = free
    case .split(let number, let offset):
      guard let claim = claims.first(where: { $0.number == number }) else { return false }
      range = offset..<claim.range.upperBound
    }
    download.transfer.noteSplit()
    let part = TransferPart(
      active.nextPart(of: url),
      of: download.transfer,
      range: range,
      isSpare: spare != nil,
      source: index,
      origin: source.origin,
      proof: proof,
      now: now,
      inbox: inbox
    )
    if index > 0 {
      request.url = source.url
      request.headers = download.headers?.fields(sentTo: source.url) ?? []
    }
    request.offset = range.lowerBound
    request.end = range.upperBound
    request.validator = proof.ifRange
    request.validatorOrigin = part.validatorOrigin
    request.resumeData = nil
    log(
      "part",
      download.record,
      ["part": "\(part.number)", "range": "\(range)", "origin": source.origin]
    )
    active.insert(part, of: url)
    if let preparation = dispatcher.prepare(request, for: download.record, part: part.number) {
      active.notePreparation(preparation, ofPart: part.number, of: url)
    } else {
      active.noteStart(of: transport.start(request, sink: part), part: part.number, of: url)
    }
    return true
  }

  /// Starts the task of a part with the request that the interceptors returned.
  ///
  /// - Returns: The result of the transfer if it is over; see ``endTask(_:of:_:)``.
  func send(
    _ prepared: Result<TaskRequest, DownloadFailure>,
    part number: Int,
    of key: TransferKey
  ) async -> TransferResult? {
    guard let download = active[key], let part = download.parts[number] else { return nil }
    let isEnding =
      download.isEnding || download.outcome != nil || download.endingConnections.contains(number)
    switch prepared {
    case .success where isEnding:
      return await endTask(number, of: key, .cancelled)
    case .success(let request):
      let task = transport.start(request, sink: part.sink)
      active.noteStart(of: task, part: number, of: key.url)
      return nil
    case .failure(let failure):
      return await endTask(number, of: key, .failed(failure, retryAfter: nil))
    }
  }

  /// Uses the servers of a file one at a time from now on, because one of them may have another file.
  ///
  /// - Parameters:
  ///   - download: The transfer.
  ///   - arePiecesChecked: Whether the bytes that count have the required digests of their pieces.
  ///     Otherwise only bytes with equal validators are put together.
  func stopMixingServers(of download: ActiveTransfer, arePiecesChecked: Bool) {
    guard download.hasUsedMirrors || download.transfer.isMixed else { return }
    unsplittable.insert(download.record.id)
    if !arePiecesChecked { unmixable.insert(download.record.id) }
  }

  /// Repeats the first task of a transfer without `If-Range`, if its sink asks for that.
  ///
  /// - Returns: Whether the transfer continues.
  private func askAgain(_ key: TransferKey) -> Bool {
    guard let download = active[key], !download.isEnding, download.outcome == nil, !isStopping,
      var request = download.request, download.transfer.beginAgain()
    else { return false }
    log("ask without If-Range", download.record)
    request.validator = nil
    active.noteRequest(request, of: key.url)
    if let preparation = dispatcher.prepare(request, for: download.record) {
      active.notePreparation(preparation, of: key.url)
    } else {
      active.noteStart(of: transport.start(request, sink: download.transfer), for: key.url)
    }
    return true
  }

  /// Ends the connection that was added last, to a server or to any; the others take over its rest.
  ///
  /// Does nothing if the transfer has only one. The first server takes over the rest of a mirror.
  func endLastConnection(of url: String, to origin: String? = nil) {
    guard let download = active[url] else { return }
    let parts = download.parts.values.map(\.sink)
    let last = parts.filter { origin == nil || $0.origin == origin }
      .max { $0.number < $1.number }
    guard let last, download.openCount > 1 || last.origin != download.candidate.origin else {
      return
    }
    endConnection(last.number, of: url)
  }

  /// Ends a connection whose rest others take over.
  private func endConnection(_ number: Int, of url: String) {
    guard let download = active[url], active.noteEnding(number, of: url) else { return }
    log("end part", download.record, ["part": "\(number)"])
    download.parts[number]?.preparation?.cancel()
    let task = number == 0 ? download.task : download.parts[number]?.task
    if let task { transport.cancel(task) }
  }
}
