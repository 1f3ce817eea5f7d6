import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import SystemInterface
import TestSupport

#if os(Linux)
  /// Writes the state after a power cut to disk, and checks it.
  struct PowerCutCheck {
    let run: RecordedRun

    /// Writes an image to disk, and returns its problems.
    func problems(
      of image: DiskImage,
      promised: [String: RecordedRun.Promise],
      using random: inout some RandomNumberGenerator
    ) -> [String] {
      do {
        try write(image, filesToo: false, using: &random)
        let store = try RecordStore(at: run.storePath)
        let report = try store.objects.verify()
        guard report.isValid else { return ["verify: \(report.problems.prefix(3))"] }
        let roots = try store.roots()
        let records = try store.records(DownloadRecord.all)
        var problems: [String] = []
        for record in records {
          // Until its repair is queued, a damaged file is what the record says.
          if record.state == .completed, promise(of: record, in: promised) == .damaged { continue }
          let layout = try roots.layout(of: record)
          problems += try self.problems(of: record, layout, in: image)
          problems += versionProblems(of: record, layout, in: image, promised)
        }
        let paths = Dictionary(uniqueKeysWithValues: records.map { ($0.url, $0) })
        for (path, promise) in promised {
          let record = paths[run.server.url(path)]
          if !Self.isKept(promise, record, try record.map(roots.layout), in: image) {
            problems.append("\(path) was promised to be \(promise): \(String(describing: record))")
          }
        }
        return problems
      } catch {
        return ["\(error)"]
      }
    }

    private func path(of record: DownloadRecord) -> String {
      String(record.url.dropFirst(run.server.url("").count))
    }

    private func promise(
      of record: DownloadRecord,
      in promised: [String: RecordedRun.Promise]
    ) -> RecordedRun.Promise? {
      promised[path(of: record)]
    }

    private func problems(
      of record: DownloadRecord,
      _ layout: FileLayout,
      in image: DiskImage
    ) throws -> [String] {
      let path = path(of: record)
      let versions = run.versions[path, default: []]
      // Adopted bytes have no entity tag.
      let bodies = versions.filter { record.entityTag == nil || $0.tag == record.entityTag }
        .map(\.body)
      let partial = image.files[layout.partialPath]
      let final = image.files[layout.finalPath]
      func isOurs(_ file: DiskImage.File?) -> Bool {
        guard let file, let fileIdentity = record.fileIdentity else { return false }
        return fileIdentity
          == FileIdentity(
            size: Int64(file.bytes.count),
            inode: file.inode,
            modified: file.modified
          )
      }
      if record.state == .completed || (record.state == .finalizing && isOurs(final)) {
        guard isOurs(final), let final, let body = bodies.first,
          body.byteCount == Int64(final.bytes.count), body.matches(final.bytes.span, at: 0)
        else { return ["\(path) is \(record.state.rawValue), and its file is not whole"] }
        return []
      }
      guard record.received > 0, record.intent == .run || record.intent == .pause else { return [] }
      let committed = record.committed
      guard let partial, Int64(partial.bytes.count) >= committed.end else {
        return ["\(path): \(committed) bytes received, \(partial?.bytes.count ?? 0) on disk"]
      }
      guard let body = bodies.first else { return ["\(path) has bytes of an unknown version"] }
      for range in committed.ranges {
        let bytes = partial.bytes.span.extracting(Int(range.lowerBound)..<Int(range.upperBound))
        guard body.matches(bytes, at: range.lowerBound) else {
          return ["\(path): the bytes \(range) are not those of the server"]
        }
      }
      return []
    }

    /// Checks the finished file that a refresh is to replace, and the versions that are kept beside it.
    private func versionProblems(
      of record: DownloadRecord,
      _ layout: FileLayout,
      in image: DiskImage,
      _ promised: [String: RecordedRun.Promise]
    ) -> [String] {
      let path = path(of: record)
      let bodies = run.versions[path, default: []].map(\.body)
      func isWhole(_ file: DiskImage.File?, _ body: Body) -> Bool {
        guard let file else { return false }
        return body.byteCount == Int64(file.bytes.count) && body.matches(file.bytes.span, at: 0)
      }
      var problems: [String] = []
      let final = image.files[layout.finalPath]
      if record.earlierVersion != nil, !bodies.contains(where: { isWhole(final, $0) }) {
        problems.append("\(path) is refreshed, and its file is not a whole version")
      }
      for (index, body) in bodies.enumerated() {
        let kept = image.files["\(layout.finalPath).~\(index + 1)~"]
        if case .keeps(let numbers, _) = promised[path], numbers.contains(index + 1), kept == nil {
          problems.append("\(path): version \(index + 1) is missing")
        }
        if let kept, !isWhole(kept, body) {
          problems.append("\(path): version \(index + 1) is not whole")
        }
      }
      return problems
    }

    private static func isKept(
      _ promise: RecordedRun.Promise,
      _ record: DownloadRecord?,
      _ layout: FileLayout?,
      in image: DiskImage
    ) -> Bool {
      switch (promise, record) {
      case (.known, let record): record != nil
      case (.completed, let record), (.keeps(_, isComplete: true), let record):
        record?.state == .completed
      case (.keeps(_, isComplete: false), let record): record != nil
      // It is complete, or its repair is queued or about to be renamed.
      case (.damaged, let record): record != nil
      case (.cancelled, let record?):
        record.intent == .cancel && record.state != .completed
          && (record.state != .cancelled
            || layout.map { image.files[$0.partialPath] } == .some(nil))
      case (.gone, nil): true
      case (.gone, let record?): record.intent == .remove
      default: false
      }
    }

    // MARK: Recovery

    /// Runs the tool on the image that is on disk, and returns the problems afterwards.
    func recoveryProblems(
      of image: DiskImage,
      promised: [String: RecordedRun.Promise],
      using random: inout some RandomNumberGenerator
    ) async throws -> [String] {
      try write(image, filesToo: true, using: &random)
      try adoptFiles(of: image)
      let before = try RecordStore(at: run.storePath)
      let wanted = try before.records(DownloadRecord.where { $0.state.isIn(DownloadState.active) })
        .filter { $0.intent == .run }
      let damaged = try before.records(DownloadRecord.where { $0.state == .completed })
        .filter { promise(of: $0, in: promised) == .damaged }
      var problems = try await self.problems(running: ["run", "--until-idle"])
      // A purge leaves orphans that were written in the last minute, as those of the recording.
      for path in try partialFiles() { try setModified(0, of: path) }
      problems += try await self.problems(running: ["purge", "--orphans", "--yes"])
      let store = try RecordStore(at: run.storePath, access: .readOnly)
      if try !store.objects.verify().isValid { problems.append("verify after the recovery") }
      let roots = try store.roots()
      var expected: Set<String> = []
      for record in try store.records(DownloadRecord.all) {
        let layout = try roots.layout(of: record)
        // While bytes are adopted, the download is paused and counts none of them.
        if record.state == .paused || record.received > 0 && record.state != .completed {
          expected.insert(layout.partialPath)
        }
        let path = path(of: record)
        guard record.state == .completed || wanted.contains(where: { $0.url == record.url }),
          !damaged.contains(where: { $0.url == record.url })
        else { continue }
        let body = run.versions[path, default: []].last { $0.tag == record.entityTag }?.body
        if record.state != .completed || body?.matches(file: layout.finalPath) != true {
          problems.append("\(path) did not recover: \(record)")
        }
      }
      for path in try partialFiles() where !expected.contains(path) {
        problems.append("\(path) is left")
      }
      return problems
    }

    private func problems(running arguments: [String]) async throws -> [String] {
      let process = try RecordedRun.start(arguments, storePath: run.storePath)
      try await process.waitForEnd()
      let status = process.terminationStatus
      return status == 0 ? [] : ["\(arguments) after the power cut: \(status)"]
    }

    private func partialFiles() throws -> [String] {
      try FileManager.default.subpathsOfDirectory(atPath: run.diskPath)
        .filter { $0.hasSuffix(PartialName.suffix) }.map { "\(run.diskPath)/\($0)" }
    }

    /// Replaces the inode numbers in the records by those of the files written from the image.
    private func adoptFiles(of image: DiskImage) throws {
      let store = try RecordStore(at: run.storePath)
      let roots = try store.roots()
      for record in try store.records(DownloadRecord.all) {
        let layout = try roots.layout(of: record)
        for path in [layout.partialPath, layout.finalPath] {
          guard let file = image.files[path], let new = FileIdentity(ofFileAt: path)?.inode else {
            continue
          }
          try store.objects.write { tx in
            _ = try tx.update(DownloadRecord.self, key: record.url) { current in
              if record.fileIdentity?.inode == file.inode { current.fileIdentity?.inode = new }
              if record.partialIdentity?.inode == file.inode {
                current.partialIdentity?.inode = new
              }
              if record.replacedFileIdentity?.inode == file.inode {
                current.replacedFileIdentity?.inode = new
              }
            }
          }
        }
      }
    }

    // MARK: Files

    /// Makes the folder equal to the image.
    private func write(
      _ image: DiskImage,
      filesToo: Bool,
      using random: inout some RandomNumberGenerator
    ) throws {
      let files = FileManager.default
      try? files.removeItem(atPath: run.diskPath)
      try files.createDirectory(atPath: run.diskPath, withIntermediateDirectories: true)
      for folder in image.folders.sorted() {
        try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
      }
      var places: [UInt64: String] = [:]
      for (path, file) in image.files.sorted(by: { $0.key < $1.key })
      where filesToo || !path.contains("/files/") && !path.contains("/elsewhere/") {
        if let first = places[file.inode] {
          try files.linkItem(atPath: first, toPath: path)
          continue
        }
        places[file.inode] = path
        try Data(file.bytes).write(to: URL(filePath: path))
        try setModified(file.modified, of: path)
      }
      guard files.fileExists(atPath: run.storePath) else { return }
      // A file that is written through a memory map can have any content after a power cut.
      let lock: Data? =
        switch Int.random(in: 0..<4, using: &random) {
        case 0: nil
        case 1: Data()
        case 2: Data(count: 8_192)
        default: Data((0..<8_192).map { _ in UInt8.random(in: 0...255, using: &random) })
        }
      try lock?.write(to: URL(filePath: "\(run.storePath)/lock.mdb"))
    }

    /// Sets the time of a file's last change, in nanoseconds since 1970.
    private func setModified(_ time: Int64, of path: String) throws {
      let time = timespec(
        tv_sec: Int(time / 1_000_000_000),
        tv_nsec: Int(time % 1_000_000_000)
      )
      guard unsafe utimensat(AT_FDCWD, path, [time, time], 0) == 0 else {
        throw RecordedRun.Failure(description: "\(path): the time cannot be set")
      }
    }
  }
#endif
