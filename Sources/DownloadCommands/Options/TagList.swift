internal import ArgumentParser
internal import CommandLineSupport

/// The tags in the value of an option such as `--tag a,b`.
enum TagList {
  /// Parses tags separated by commas.
  ///
  /// - Throws: `ValidationError` for an empty tag.
  static func parse(_ text: String) throws(ValidationError) -> [String] {
    let tags = text.split(separator: ",", omittingEmptySubsequences: false)
      .map { String($0.trimmingBlanks) }
    guard !tags.contains("") else {
      throw ValidationError("'\(text)' has an empty tag: write a tag, or several as in a,b.")
    }
    return tags
  }
}
