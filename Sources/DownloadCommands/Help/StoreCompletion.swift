internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadStore
internal import Foundation
internal import ObjectStore

/// Completions of states and downloads, for the completion scripts of shells.
///
/// The scripts run the tool, which prints one completion per line. Bash expands the printed words,
/// so a name from the store could run a command: only words of harmless characters are printed.
enum StoreCompletion {
  /// The number of downloads above which the rest is left out.
  static let limit = 200

  /// Completes the last of several states that are separated by commas.
  static let states = CompletionKind.custom { words, index, prefix in
    states(completing: words.indices.contains(index) ? words[index] : prefix)
  }

  /// Completes an id, or a URL once `h` is typed.
  static let downloads = CompletionKind.custom { words, index, prefix in
    let word =
      words.indices.contains(index) ? TypedWord(words, index, .requesting) : TypedWord(prefix)
    // An error has no place in a completion.
    return (try? downloads(completing: word, in: path(words), for: .requesting)) ?? []
  }

  /// Returns the state lists that begin with the text.
  static func states(completing text: String) -> [String] {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    let earlier = parts.dropLast().map(String.init)
    let start = earlier.map { $0 + "," }.joined()
    return DownloadState.words.filter { !earlier.contains($0) }.map { start + $0 }
      .filter { $0.hasPrefix(text) }
  }

  /// Returns the ids and URLs of the store that begin with the word.
  static func downloads(
    completing word: TypedWord,
    in path: String,
    for shell: CompletionShell?
  ) throws -> [String] {
    let store = try RecordStore(at: path, access: .readOnly)
    let text = word.text
    let isURL = text.hasPrefix("h")
    guard isURL || text.utf8.allSatisfy({ isHexDigit($0) }) else { return [] }
    let columns = DownloadRecord.columns
    let start = isURL ? columns.url.hasPrefix(text) : columns.id.hasPrefix(text.lowercased())
    var query = Query(start && columns.state != .removed)
    query.limit = limit
    return try store.records(query).compactMap { record in
      let name = isURL ? record.url : record.id
      guard name.utf8.allSatisfy(isHarmless), name.count >= word.keptCount else { return nil }
      let about = String(decoding: record.filename.utf8.prefix(40).map(plain), as: UTF8.self)
      let completion = String(name.dropFirst(word.keptCount))
      switch shell {
      case .zsh?: return "\(completion.replacing(":", with: "\\:")):\(about)"
      case .fish?: return "\(completion)\t\(about)"
      default: return completion
      }
    }
  }

  /// The store of the command line that is being completed.
  private static func path(_ words: [String]) throws -> String {
    let environment = ProcessInfo.processInfo.environment
    let arguments = Array(words.dropFirst())
    let configuration = try Configuration(arguments, environment: environment)
    let store = configuration.values.first { $0.setting.name == "store" }?.texts.first
    // Without a variable or a file that may set a value, the configuration has none.
    let given = DLStoreCommand.scan(arguments).given["--store"]?.last
    return Folder.absolutePath(store ?? given ?? StoreLocation.usualPath(environment))
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    Character(Unicode.Scalar(byte)).isHexDigit
  }

  /// Whether no shell gives the character a meaning within a word.
  private static func isHarmless(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "/:._-+,@%=".utf8.contains(byte)
    }
  }

  private static func plain(_ byte: UInt8) -> UInt8 {
    isHarmless(byte) && byte != UInt8(ascii: ":") ? byte : UInt8(ascii: "_")
  }

  /// The word to complete.
  struct TypedWord {
    /// The whole word.
    var text: String
    /// The number of characters at its start that the shell keeps, because it replaces the rest.
    var keptCount = 0

    init(_ text: String) { self.text = text }

    /// The word at an index; in bash, joined from the parts into which it splits words at `:` and
    /// `=`.
    init(_ words: [String], _ index: Int, _ shell: CompletionShell?) {
      text = words[index]
      guard shell == .bash else { return }
      var start = index
      while start > 0, Self.isSeparator(words[start]) || Self.isSeparator(words[start - 1]) {
        start -= 1
      }
      let kept = words[start..<index].joined()
      text = kept + words[index]
      keptCount = Self.isSeparator(words[index]) ? text.count : kept.count
    }

    private static func isSeparator(_ word: String) -> Bool { word == ":" || word == "=" }
  }
}
