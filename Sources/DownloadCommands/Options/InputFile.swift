/// A list of downloads: one URL per line, or aria2's input file format.
///
/// Further URLs on a line, separated by tabs, are mirrors of the first. A line that begins with a
/// blank is an option of the URL above it. Lines that begin with `#` are comments.
struct InputFile: Sendable, Equatable {
  /// One download.
  struct Entry: Sendable, Equatable {
    var line: Int
    var url: String
    var mirrors: [String] = []
    var filename: String?
    var folder: String?
    var checksum: String?
    var headers: [String] = []
  }

  /// A line or option that cannot be used.
  struct Problem: Sendable, Equatable {
    var line: Int
    var message: String
    /// Whether the whole download is skipped, and not only an option.
    var isFatal = false
  }

  private(set) var entries: [Entry] = []
  private(set) var problems: [Problem] = []

  /// Parses a text.
  init(_ text: String) {
    let text = text.hasPrefix("\u{FEFF}") ? text.dropFirst() : text[...]
    let lines = text.split(omittingEmptySubsequences: false) {
      $0 == "\n" || $0 == "\r\n" || $0 == "\r"
    }
    var entry: Entry?
    var isRefused = false
    for (index, line) in lines.enumerated() {
      let number = index + 1
      let content = line.trimmingBlanks
      guard !content.isEmpty, !line.hasPrefix("#") else { continue }
      if line.first == " " || line.first == "\t" {
        if entry != nil {
          if let problem = entry?.take(option: content, line: number) {
            problems.append(problem)
            if problem.isFatal { entry = nil }
            isRefused = isRefused || problem.isFatal
          }
        } else if !isRefused {
          problems.append(Problem(line: number, message: "this option has no URL above it"))
        }
      } else {
        if let entry { entries.append(entry) }
        entry = start(line, number)
        isRefused = entry == nil
      }
    }
    if let entry { entries.append(entry) }
  }

  /// Parses a line of URLs; `nil` if none of them can be downloaded.
  private mutating func start(_ line: Substring, _ number: Int) -> Entry? {
    let urls = line.split(separator: "\t").map { String($0.trimmingBlanks) }.filter { !$0.isEmpty }
    let usable = urls.filter { url in
      let url = url.lowercased()
      return url.hasPrefix("http://") || url.hasPrefix("https://")
    }
    guard let first = usable.first else {
      let message = "only http and https URLs can be downloaded"
      problems.append(Problem(line: number, message: message, isFatal: true))
      return nil
    }
    if usable.count < urls.count {
      let message = "skipped a mirror that is neither http nor https"
      problems.append(Problem(line: number, message: message))
    }
    return Entry(line: number, url: first, mirrors: Array(usable.dropFirst()))
  }
}

extension InputFile.Entry {
  /// Applies an option `name=value`; returns the problem if it cannot be used.
  fileprivate mutating func take(option: Substring, line: Int) -> InputFile.Problem? {
    guard let equals = option.firstIndex(of: "=") else {
      return InputFile.Problem(
        line: line,
        message: "'\(option)' is not an option of the form name=value"
      )
    }
    let name = option[..<equals].trimmingBlanks
    let value = option[option.index(after: equals)...].trimmingBlanks
    switch name {
    case "out": return take(out: value, line)
    case "dir": return take(dir: value, line)
    case "checksum":
      guard value.lowercased().hasPrefix("sha-256=") else {
        return InputFile.Problem(
          line: line,
          message: "skipped the checksum: only sha-256 is supported"
        )
      }
      checksum = String(value)
    case "header": headers.append(String(value))
    default:
      return InputFile.Problem(line: line, message: "skipped the unsupported option '\(name)'")
    }
    return nil
  }

  private mutating func take(out value: Substring, _ line: Int) -> InputFile.Problem? {
    guard FileName.isPlain(String(value)) else {
      return InputFile.Problem(
        line: line,
        message: "out=\(value) must be a file name without a folder",
        isFatal: true
      )
    }
    filename = String(value)
    return nil
  }

  private mutating func take(dir value: Substring, _ line: Int) -> InputFile.Problem? {
    guard !value.hasPrefix("/"), !value.hasPrefix("~") else {
      return InputFile.Problem(
        line: line,
        message: "skipped dir=\(value): the folder must be relative to the root"
      )
    }
    guard !value.split(separator: "/").contains("..") else {
      return InputFile.Problem(
        line: line,
        message: "dir=\(value) leads out of the folder",
        isFatal: true
      )
    }
    folder = String(value)
    return nil
  }
}

extension Substring {
  /// The text without leading and trailing blanks and tabs.
  var trimmingBlanks: Substring {
    var text = drop { $0 == " " || $0 == "\t" }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text
  }
}
