/// The handling of a request whose file name is taken.
public enum NameCollision: String, Sendable, Hashable, CaseIterable {
  /// Number the new file, as in `a (2).zip`.
  case number
  /// Refuse the request with the error `nameTaken`.
  case fail
  /// Adopt the existing file as the finished one, whatever its contents, and download nothing.
  ///
  /// From then on it is the download's file.
  case keep
  /// Replace the existing file when the download completes, if it is still the same.
  ///
  /// Until then it counts as the download's previous file.
  case replace
}
