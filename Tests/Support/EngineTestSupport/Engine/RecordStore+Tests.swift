package import DownloadStore
internal import ObjectStore

extension RecordStore {
  /// Opens or creates a store that reserves 1 GiB of address space instead of 256 GiB.
  ///
  /// Hundreds of tests have a store open at the same time, and a process has 128 TiB.
  package convenience init(ofTestAt path: String) throws {
    var options = Self.options
    options.mapSize = 1 << 30
    try self.init(at: path, options: options)
  }
}
