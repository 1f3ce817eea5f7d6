internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore

extension Simulation {
  /// Unmounts or mounts the volume with the files between two processes, with some probability.
  ///
  /// Without it the folder is empty, and engines create files on the disk below, which a mount
  /// hides again.
  func changeMount() throws {
    guard rootChance.happens(profile.unmounts) else { return }
    if away == nil { try unmount() } else { try mount() }
  }

  private func unmount() throws {
    trace.note("unmount")
    var complete: Set<String> = []
    for record in try store.records(DownloadRecord.all) {
      // A refresh returns to its finished file, which is on the volume, too.
      if record.state == .completed || record.earlierVersion != nil { complete.insert(record.id) }
      noteFiles(of: record)
    }
    away = MountedState(disk: try disk.unmount(), foreignFiles: foreignFiles, complete: complete)
    foreignFiles = [:]
  }

  /// Mounts the volume again, and restarts the downloads that were completed without it, also those that
  /// are refreshed since, as a user would.
  func mount() throws {
    guard let state = away else { return }
    trace.note("mount")
    away = nil
    try disk.mount(state.disk)
    foreignFiles = state.foreignFiles
    let roots = try store.roots()
    for record in try store.records(DownloadRecord.all) {
      noteFiles(of: record)
      let layout = try roots.layout(of: record)
      let isWithoutFile =
        record.state == .completed
        ? FileInspection.final(of: record, in: layout) != .ours
        : record.earlierVersion != nil
          && !record.hasPreviousFile(FileInspection(of: record, in: layout))
      guard isWithoutFile else { continue }
      trace.note("restart", record.id)
      events.forget(record.id)
      try store.apply(.restart, to: .matching(record.id))
    }
  }

  /// Notes that the files of a record are others than those that it describes.
  private func noteFiles(of record: DownloadRecord) {
    uncertain.insert(record.id)
    // A record that is deleted in between leaves its files on the volume that was not there.
    purged.insert(record.id)
    unmounted.insert(record.id)
    replacedFiles = []
    unwantedFiles = [:]
  }

  /// What the simulation knows about a volume that is not mounted.
  struct MountedState {
    var disk: SimulatedDisk.Volume
    var foreignFiles: [String: [UInt8]]
    /// The ids of the records whose finished files are on the volume.
    var complete: Set<String>
  }

  /// Creates a foreign file under the name of a download between two processes, best one whose rename
  /// is logged.
  func placeForeignFile() throws {
    guard strangerChance.happens(profile.strangers) else { return }
    let records = try store.records(DownloadRecord.all).filter { $0.state != .completed }
    let renamed = records.filter { $0.state == .finalizing }
    guard let record = strangerChance.pick(renamed.isEmpty ? records : renamed) else { return }
    let path = try store.roots().layout(of: record).finalPath
    guard FileCalls.identity(of: path) == nil else { return }
    // Also one of the size of the download's file.
    let size = strangerChance.happens(0.5) ? Int(clamping: record.expected ?? 0) : 7
    let bytes = [UInt8](repeating: 0xEE, count: min(size, 10_000))
    trace.note("stranger", record.filename)
    foreignFiles[path] = bytes
    try disk.put(bytes, at: path)
  }
}
