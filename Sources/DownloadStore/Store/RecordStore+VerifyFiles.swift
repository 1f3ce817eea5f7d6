internal import ObjectStore

extension RecordStore {
  /// Compares every record with its files, and looks for partial files that no download uses.
  ///
  /// Reads sizes and identities, no contents. An engine may run meanwhile: a record that differs
  /// from its files is read again, because the engine may have changed both.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of problems in the list. All are counted.
  ///   - progress: Called with the number of records compared, after every 1,000.
  /// - Returns: The differences, and the number of records compared.
  /// - Throws: `StoreError`; any error that `progress` throws.
  /// - Complexity: O(n) in the records and in the files below the roots, with three `lstat` for each
  ///   record. Uses memory for the problems in the list.
  package func verifyFiles(
    limit: Int = 1_000,
    progress: (Int) throws -> Void = { _ in }
  ) throws -> FileReport {
    let roots = try roots()
    var report = FileReport()
    var token: PageToken?
    repeat {
      // A snapshot per page, so that the pages freed by an engine are reused.
      let (page, doubles) = try objects.read { tx in
        let page = try tx.page(DownloadRecord.all, size: 1_000, after: token)
        return (page, try tx.doubles(among: page.objects, in: roots))
      }
      for problem in doubles { report.add(problem, limit: limit) }
      for record in page.objects {
        let problem = try lastingProblem(of: record, in: roots)
        report.note(record, problem)
        if let problem { report.add(problem, limit: limit) }
      }
      token = page.next
      try progress(report.recordCount)
    } while token != nil
    report.findEmptyRoots(of: roots)
    let orphans = try orphanPlan()
    for file in orphans.files {
      let problem = FileProblem(
        kind: .orphan,
        recordID: file.recordID,
        path: file.path,
        message: "no download uses this partial file of \(file.size) bytes"
      )
      report.add(problem, limit: limit)
    }
    return report
  }

  /// Returns the problem of a record that no process changes during the check; `nil` if it has
  /// none.
  private func lastingProblem(
    of record: DownloadRecord,
    in roots: Roots
  ) throws -> FileProblem? {
    var record = record
    var last: FileProblem?
    // Bounded: a record with a date that is not a number never equals itself.
    for _ in 0..<16 {
      guard let problem = FileProblem(of: record, in: roots) else { return nil }
      last = problem
      let current = try objects.read { tx in
        try tx.first(DownloadRecord.where { $0.id == record.id })
      }
      guard let current else { return nil }
      if current == record { return problem }
      record = current
    }
    return last
  }
}

extension ObjectReader where Self: ~Copyable {
  /// Returns a problem for each record that has the id, the destination or a key of another one.
  ///
  /// A key that is the URL of another record names two downloads, too. URLs are primary keys, of which
  /// the store itself has no two.
  fileprivate func doubles(
    among records: [DownloadRecord],
    in roots: Roots
  ) throws -> [FileProblem] {
    try records.flatMap { record in
      let (url, id, destination) = (record.url, record.id, record.destination)
      let hasSameID = try exists(DownloadRecord.where { $0.id == id && $0.url != url })
      let hasSameDestination = try exists(
        DownloadRecord.where { $0.destination == destination && $0.url != url }
      )
      let hasSameKey = try record.keys.contains { key in
        try exists(DownloadRecord.where { $0.keys.contains(key) && $0.url != url })
          || key != url && find(DownloadRecord.self, key: key) != nil
      }
      return (hasSameKey ? [FileProblem(.duplicateKey, of: record, in: roots)] : [])
        + (hasSameID ? [FileProblem(.duplicateID, of: record, in: roots)] : [])
        + (hasSameDestination ? [FileProblem(.duplicateDestination, of: record, in: roots)] : [])
    }
  }
}
