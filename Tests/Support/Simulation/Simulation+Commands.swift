internal import DownloadSimulation
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore

extension Simulation {
  /// Adds a download, as a user would.
  func add(_ page: Website.Page) throws {
    var request = DownloadRequest(url: page.urls[0])
    request.priority = Int32(chance.number(in: 0...2))
    if chance.happens(0.3) { request.mirrors = [page.mirror] }
    if page.hasDigest, let body = page.versions.last?.body {
      var hasher = DigestHasher(.sha256)
      hasher.update(body[0..<body.byteCount].span)
      request.digest = hasher.digest
    }
    unwantedFiles = [:]
    try store.addNow([request])
  }

  /// Writes to the store as another process would.
  func command() throws {
    let records = try store.records(DownloadRecord.all)
    guard let record = chance.pick(records) else { return try addSome() }
    if refreshChance.happens(profile.refreshes) { return try refresh(records) }
    let selection = chance.happens(0.2) ? RecordSelection.all : .matching(record.id)
    let kind = chance.number(in: 0...13)
    // A removal deletes the file, and a new name moves it.
    replacedFiles = []
    events.forget(selection == .all ? nil : record.id)
    trace.note("command", "\(kind) \(selection == .all ? "all" : record.id)")
    switch kind {
    case 0, 1: try store.apply(.pause, to: selection)
    case 2, 3: try store.apply(.resume(immediately: false), to: selection)
    case 4: try store.apply(.resume(immediately: true), to: .matching(record.id))
    case 5:
      // The bytes are deleted before the record counts none. If a command reverts the cancel, the
      // record counts them until the next reconciliation.
      uncertain.insert(record.id)
      try store.apply(.cancel, to: .matching(record.id))
    case 6:
      unwantedFiles = [:]
      try store.apply(.restart, to: .matching(record.id))
    case 7: try remove(record, withFile: chance.happens(0.5))
    case 8: try replaceURL(of: record)
    case 9: try purge(record)
    case 10:
      // Both commands in quick succession: the engine may see only the second.
      try store.apply(.pause, to: selection)
      try store.apply(.resume(immediately: false), to: selection)
    case 11: try rename(record)
    case 12: try purgeOrphans()
    default: try addSome()
    }
  }

  /// Gives a command, with some probability, when nothing is left to transfer for an engine that ends
  /// then; returns whether it did.
  func commandAtEnd() throws -> Bool {
    guard life.endsWhenIdle, network.transport.tasks.isEmpty, idleChance.happens(0.1) else {
      return false
    }
    try command()
    return true
  }

  /// Asks for newer versions of some or all finished files.
  private func refresh(_ records: [DownloadRecord]) throws {
    let complete = records.filter { $0.state == .completed }
    guard let record = refreshChance.pick(complete) else { return }
    let selection = refreshChance.happens(0.3) ? RecordSelection.all : .matching(record.id)
    trace.note("command", "refresh \(selection == .all ? "all" : record.id)")
    unwantedFiles = [:]
    replacedFiles = []
    events.forget(selection == .all ? nil : record.id)
    try store.apply(.refresh, to: selection)
  }

  private func addSome() throws {
    guard let page = chance.pick(website.pages) else { return }
    trace.note("add", page.urls[0])
    events.forget(nil)
    try add(page)
  }

  private func remove(_ record: DownloadRecord, withFile: Bool) throws {
    let path = try store.roots().layout(of: record).finalPath
    if withFile, let file = FileCalls.identity(of: path) {
      removedInodes.insert(file.inode)
      if record.state == .completed { unwantedFiles[path] = file.inode }
    }
    try store.apply(.remove(withFile: withFile), to: .matching(record.id))
  }

  private func rename(_ record: DownloadRecord) throws {
    var update = RecordUpdate()
    update.filename = "name\(chance.number(in: 0...3))"
    do {
      try store.updateNow(matching: record.id, with: update)
    } catch let error as RecordStoreError {
      // The name is taken, or the record is about to be deleted or completed.
      trace.note("refused", "\(error.code)")
    }
    disk.noteRenames()
  }

  /// Replaces, with some probability, the URL of a record whose transfer is resuming and has no
  /// response yet; returns whether it did.
  func replaceContinuedURL() throws -> Bool {
    guard profile.dividesVersions,
      let task = network.transport.tasks.first(where: {
        $0.request.offset > 0 && $0.answer == nil && !$0.isCancelled
      }),
      chance.happens(0.3),
      let record = try store.records(DownloadRecord.all)
        .first(where: { $0.id == task.request.recordID })
    else { return false }
    events.forget(record.id)
    trace.note("replace", record.id)
    try replaceURL(of: record)
    return true
  }

  private func replaceURL(of record: DownloadRecord) throws {
    guard let index = website.pages.firstIndex(where: { $0.urls.contains(record.url) }) else {
      return
    }
    let page = website.pages[index]
    let url = page.urls[record.url == page.urls[0] ? 1 : 0]
    if profile.dividesVersions, chance.happens(0.5) {
      // The reason for the replacement: the old URL now serves another version.
      website.change(index, at: [record.url], chance, profile)
      for url in website.urls(index) { serve(index, at: url) }
    }
    do {
      try store.replaceURLNow(matching: record.id, with: url)
    } catch let error as RecordStoreError {
      // Another record has the URL, or this one is about to be deleted or completed.
      trace.note("refused", "\(error.code)")
    }
    guard profile.dividesVersions else { return }
    // The engine notices late, and the network continues.
    for _ in 0..<chance.number(in: 0...20) { network.calmStep() }
  }

  /// Replaces each record by its own export, as `dlstore import --if-known replace` does when no
  /// engine runs.
  func importExport() throws {
    guard importChance.happens(profile.imports) else { return }
    let file = "\(scratch)/export"
    defer { try? FileManager.default.removeItem(atPath: file) }
    _ = try store.objects.exportJSONLines(to: file)
    let lines = try FileHandle(forReadingFrom: URL(fileURLWithPath: file))
    var options = ImportOptions()
    options.conflict = .replace
    do {
      let report = try Store.importJSONLines(
        from: lines.fileDescriptor,
        named: file,
        intoStoreAt: "\(scratch)/store",
        options: options,
        review: DownloadImport(
          intoStoreAt: "\(scratch)/store",
          known: .replace,
          acceptsHiddenFolders: false
        )
      )
      trace.note("import", "\(report.updated)")
    } catch let error as StoreError where profile.tampering > 0 {
      // A map of ranges that contradicts its record.
      trace.note("import refused", "\(error.code)")
    }
    try checkRecords()
  }

  private func purge(_ record: DownloadRecord) throws {
    purged.insert(record.id)
    unwantedFiles = [:]
    generations[record.id] = nil
    disk.keepAll()
    try store.purge(try store.purgePlan([record], withFiles: false))
    disk.noteRemovals()
  }

  /// Deletes orphaned partial files as another process would, of this store and of the other store
  /// with files in the folder.
  private func purgeOrphans() throws {
    disk.keepAll()
    for store in [store, otherStore] {
      let report = try store.purge(try store.orphanPlan(graceSeconds: -1 << 40))
      trace.note("purge orphans", "\(report.files.count)")
    }
    disk.noteRemovals()
  }
}
