/// What is done with the space on disk when the size of a file is known.
///
/// After a crash, a partial file is truncated to its counted bytes in any case.
///
/// ```swift
/// var options = EngineOptions()
/// options.preallocation = .full
/// ```
public enum Preallocation: String, Sendable, Hashable, CaseIterable {
  /// Nothing: the file grows with its bytes.
  case none
  /// The file gets its full length, and no space is reserved (`ftruncate`).
  case sparse
  /// The space of the whole file is reserved, so that a full disk is found before the first byte is
  /// written (`posix_fallocate`; `F_PREALLOCATE` on Apple platforms).
  ///
  /// Slow on a file system that cannot reserve space: the C library then writes to each block.
  case full
}
