/// The path of `-o`: a file name, with a folder or without.
struct OutputPath: Sendable, Hashable {
  /// The reason why a text is not such a path.
  struct Problem: Error, Hashable {
    var message: String
  }

  /// The absolute path of the folder for the root; `nil` for the usual one.
  var root: String?
  /// The folder below the root; empty for the root itself.
  var folder: String
  /// The file name.
  var name: String

  /// Parses a path.
  ///
  /// A relative path is below the folder of `--folder`. One that leads out of it, as `../a` does, is
  /// refused.
  ///
  /// - Parameters:
  ///   - text: The path.
  ///   - below: The value of `--folder`.
  /// - Throws: ``Problem``.
  init(_ text: String, below: String?) throws(Problem) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    name = parts.last ?? ""
    guard FileName.isPlain(name) else {
      throw Problem(
        message: "-o must end with a file name, not '\(text)'; --output-folder sets the folder."
      )
    }
    let folders = parts.dropLast().filter { !$0.isEmpty && $0 != "." }
    guard text.hasPrefix("/") else {
      guard !folders.contains("..") else {
        throw Problem(
          message:
            "-o must not leave the folder for files, as '\(text)' does; use an absolute path."
        )
      }
      folder = ((below.map { [$0] } ?? []) + folders).filter { !$0.isEmpty }.joined(separator: "/")
      return
    }
    guard below == nil else {
      throw Problem(message: "-o with an absolute path and --folder cannot be combined.")
    }
    root = "/" + folders.joined(separator: "/")
    folder = ""
  }
}
