internal import DownloadSimulation
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore
internal import SystemInterface

extension Simulation {
  /// Injects a fault with some probability, and returns whether it did.
  func introduceFault() throws -> Bool {
    if interferenceChance.happens(profile.interference), try interfere() { return true }
    if chance.happens(profile.kills) {
      let count = chance.number(in: 0...6)
      trace.note("kill", "after \(count)")
      if count == 0 { life.die() } else { life.die(afterEffects: count) }
    } else if chance.happens(profile.stops) {
      trace.note("stop")
      askToStop()
    } else if chance.happens(profile.serverFaults) {
      changeServer()
    } else if chance.happens(profile.changedEntities) {
      guard let index = chance.pick(website.pages.indices) else { return false }
      trace.note("change", "\(index)")
      website.change(index, chance, profile)
      for url in website.urls(index) { serve(index, at: url) }
    } else if chance.happens(profile.fullDisks) {
      faults.isFull.toggle()
      trace.note("room", "\(!faults.isFull)")
    } else if chance.happens(profile.diskErrors) {
      faults.errorProbability = faults.errorProbability == 0 ? 0.2 : 0
      faults.errorCode = chance.pick(DiskFaults.errorCodes) ?? EIO
      trace.note("disk error", "\(faults.errorCode)")
    } else if chance.happens(profile.clockJumps) {
      // By up to two hours, or a third of the time by up to a day.
      let seconds = chance.number(in: -7_200...7_200)
      let jump = Duration.seconds(seconds % 3 == 0 ? 12 * seconds : seconds)
      trace.note("jump", "\(jump)")
      clock.jump(by: jump)
    } else if chance.happens(profile.foreignFiles) {
      try putForeignFile()
    } else {
      return false
    }
    return true
  }

  /// Makes a URL of a page respond correctly.
  func serve(_ index: Int, at url: String) {
    network.transport.serve(website.pages[index].version(at: url), at: url)
  }

  /// Changes how a page responds, or makes it respond correctly again.
  private func changeServer() {
    guard let index = chance.pick(website.pages.indices),
      let url = chance.pick(website.urls(index)),
      var resource = website.pages[index].version(at: url)
    else { return }
    let way = chance.number(in: 0...8)
    switch way {
    case 0: resource.status = 503
    case 1: resource.status = 404
    case 2: resource.status = 403
    case 3:
      resource.status = 429
      resource.retryAfter = "2"
    case 4: resource.acceptsRanges = false
    case 5: resource.heedsIfRange = false
    case 6: resource.overlap = Int64(chance.number(in: 1...100))
    case 7: resource.saysLength = false
    default: break
    }
    if refreshChance.happens(profile.refreshes) { resource.heedsConditions = false }
    if rangeChance.happens(profile.falseRanges) {
      falsifyRanges(of: &resource, hasDigest: website.pages[index].hasDigest)
    }
    trace.note("server", "\(url) \(way)")
    network.transport.serve(resource, at: url)
  }

  /// Lets a server answer requests for ranges in a way that no server should.
  private func falsifyRanges(of resource: inout SimulatedResource, hasDigest: Bool) {
    let way = rangeChance.number(in: 0...6)
    switch way {
    case 0: resource.heedsTags = false
    case 1:
      // A server need not repeat a date, so without a tag or a digest the change of a file cannot be
      // detected.
      guard hasDigest || resource.entityTag?.hasPrefix("\"") == true else { break }
      resource.repeatsValidators = false
      resource.heedsIfRange = false
    case 2: resource.excess = Int64(rangeChance.number(in: 1...100))
    case 3: resource.rangeStatus = rangeChance.pick([400, 401, 403, 404, 410, 416, 429, 503])
    case 4:
      resource.emptiesRanges = true
      // The digest shows that a file is too short; otherwise only the bytes on disk do.
      resource.saysLength = hasDigest
    case 5: if hasDigest { resource.changesTags = true }
    default: resource.acceptsRanges = false
    }
    trace.note("false ranges", "\(way)")
  }

  /// Changes the partial file of a download while an engine runs, as another program would.
  private func interfere() throws -> Bool {
    let roots = try store.roots()
    let possible = try store.records(DownloadRecord.where { $0.state == .running })
      .map { ($0, try roots.layout(of: $0).partialPath) }
      .filter { disk.isOnlyName($0.1) }
    guard let (record, path) = interferenceChance.pick(possible),
      var time = FileCalls.identity(of: path)
    else { return false }
    var bytes = try FileCalls.read(path)
    let way = interferenceChance.number(in: 0...4)
    switch way {
    case 0: disk.delete(path)
    case 1: try disk.replace(path, with: [])
    case 2:
      guard let count = interferenceChance.pick(bytes.indices) else { return false }
      try disk.put(Array(bytes.prefix(count)), at: path)
    case 3:
      let end = max(bytes.count, Int(clamping: record.expected ?? 0))
      bytes += [UInt8](
        repeating: 0xBB,
        count: end - bytes.count + interferenceChance.number(in: 1...100)
      )
      time.seconds += 3_600
      try disk.put(bytes, at: path, modified: time)
    default:
      // Without a digest, a change in place need not be noticed.
      guard record.expectedDigest != nil, let offset = interferenceChance.pick(bytes.indices) else {
        return false
      }
      bytes[offset] ^= 1
      // A history must not depend on the clock of the files.
      time.seconds += 3_600
      try disk.put(bytes, at: path, modified: time)
    }
    trace.note("interfere", "\(record.id) \(way)")
    interfered[record.id] = record.generation
    return true
  }

  /// Creates a foreign file under a name that a download will use.
  private func putForeignFile() throws {
    guard let record = chance.pick(try store.records(DownloadRecord.all)) else { return }
    let path = try store.roots().layout(of: record).finalPath
    guard FileCalls.identity(of: path) == nil else { return }
    trace.note("foreign", record.filename)
    let bytes = [UInt8](repeating: 0xFF, count: chance.number(in: 0...100))
    foreignFiles[path] = bytes
    try disk.put(bytes, at: path)
  }

  /// Changes a byte of a partial file that a record counts, while no engine runs, as another program
  /// would an hour after the engine's last write, and an hour after the last such change.
  func overwrite() throws {
    guard overwriteChance.happens(profile.overwrites) else { return }
    let roots = try store.roots()
    let possible = try store.records(DownloadRecord.where { $0.received > 0 })
      .map { ($0, try roots.layout(of: $0).partialPath) }
      // A renamed file may still have its partial name: changing it changes the finished file.
      .filter { disk.isOnlyName($0.1) && $0.0.partialWrittenAt != nil }
    guard let (record, path) = overwriteChance.pick(possible),
      let writtenAt = record.partialWrittenAt, var time = FileCalls.identity(of: path)
    else { return }
    var bytes = try FileCalls.read(path)
    guard let offset = overwriteChance.pick(bytes.indices) else { return }
    trace.note("overwrite", "\(record.id) \(offset)")
    bytes[offset] ^= 1
    if !defects.contains(.overwritesAreNotDated) {
      // The clock of the files does not pass these hours, so each change must be later than all
      // before it. The clock of the engine may have jumped.
      overwriteCount += 1
      time.seconds = max(
        time.seconds + 3_600 * overwriteCount,
        Int(writtenAt.timeIntervalSince1970) + 3_600
      )
    }
    try disk.put(bytes, at: path, modified: time)
    uncertain.insert(record.id)
  }

  /// Changes a partial file, or the map of its bytes, while no engine runs.
  func tamper() throws {
    let records = try store.records(DownloadRecord.all)
    let roots = try store.roots()
    // A renamed file may still have its partial name: changing it changes the finished file.
    let possible = try records.map { ($0, try roots.layout(of: $0).partialPath) }
      .filter { disk.isOnlyName($0.1) }
    guard let (record, path) = chance.pick(possible) else { return }
    var bytes = try FileCalls.read(path)
    let way = chance.number(in: 0...(profile.connections > 1 ? 4 : 3))
    trace.note("tamper", "\(record.id) \(way)")
    switch way {
    case 0:
      disk.delete(path)
    case 1:
      bytes.removeLast(chance.number(in: 0...bytes.count))
      try disk.put(bytes, at: path)
    case 2:
      // A file that was truncated before now has other bytes where the record counts some, at a
      // plausible length. Without a digest that cannot be detected either.
      guard record.expectedDigest != nil || Int64(bytes.count) >= record.committed.end else {
        return
      }
      bytes += [UInt8](repeating: 0xAA, count: chance.number(in: 1...100))
      try disk.put(bytes, at: path)
    case 3:
      // Without a digest the change cannot be detected.
      guard record.expectedDigest != nil, !bytes.isEmpty else { return }
      bytes[chance.number(in: 0...bytes.count - 1)] ^= 1
      try disk.put(bytes, at: path)
    default:
      // A map that contradicts the count, or that cannot be read.
      let map = chance.happens(0.5) ? ByteRanges([5..<record.received + 6]).encoded : Data([0x80])
      try store.objects.write { tx in
        _ = try tx.update(DownloadRecord.self, key: record.url) { $0.ranges = map }
      }
    }
    uncertain.insert(record.id)
  }
}
