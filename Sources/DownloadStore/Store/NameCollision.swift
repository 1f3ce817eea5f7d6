/// What becomes of a request for a file name that is taken.
public enum NameCollision: String, Sendable, Hashable, CaseIterable {
  /// A number is put behind the name.
  case number
  /// The request is refused.
  case fail
  /// The file of that name is taken for the finished one, whatever it holds, and nothing is
  /// downloaded.
  ///
  /// From then on it is the download's own file.
  case keep
  /// The file of that name stays until the download is complete, and is replaced then, if it is
  /// still the same.
  ///
  /// From the request on it counts as the download's file of before.
  case replace
}
