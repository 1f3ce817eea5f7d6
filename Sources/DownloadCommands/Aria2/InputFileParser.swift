internal import DownloadStore

/// Parses an input file line by line.
struct InputFileParser {
  /// A result of the parser.
  enum Item: Sendable, Equatable {
    case entry(InputFile.Entry)
    case problem(InputFile.Problem)
  }

  /// The number of distinct unsupported options that are counted; further ones are reported each
  /// time.
  private static let mostOptions = 1_000

  /// Whether entries keep the options that were read.
  private let keepsOptions: Bool
  /// The number of lines parsed so far.
  private var lineCount = 0
  /// The download whose options are being read.
  private var entry: InputFile.Entry?
  /// Whether the last download cannot be used, so that its options are skipped.
  private var isRefused = false
  /// The first line and the number of lines with an option that is not supported.
  private var unsupported: [String: (line: Int, count: Int)] = [:]

  /// Creates a parser at the beginning of a file.
  init(keepsOptions: Bool = false) {
    self.keepsOptions = keepsOptions
  }

  /// Parses the next line, and appends the results.
  mutating func parse(_ line: LineReader.Line, into items: inout [Item]) {
    lineCount += 1
    switch line {
    case .text(let text): parse(text[...], into: &items)
    case .bytes(let bytes): parse(bytes, into: &items)
    case .tooLong:
      endEntry(into: &items)
      isRefused = true
      let message = "this line is longer than \(LineReader.longestLine >> 20) MiB"
      report(InputFile.Problem(line: lineCount, message: message, isFatal: true), into: &items)
    }
  }

  /// Ends the file, and appends the last results.
  mutating func finish(into items: inout [Item]) {
    endEntry(into: &items)
    for (option, place) in unsupported.sorted(by: { $0.value.line < $1.value.line }) {
      var problem = Self.unsupportedOption(option, place.line)
      if place.count > 1 { problem.message += " (\(place.count) times)" }
      items.append(.problem(problem))
    }
  }

  private mutating func parse(_ line: Substring, into items: inout [Item]) {
    let content = line.trimmingBlanks
    guard !content.isEmpty, line.utf8.first != UInt8(ascii: "#") else { return }
    guard line.utf8.first == UInt8(ascii: " ") || line.utf8.first == UInt8(ascii: "\t") else {
      endEntry(into: &items)
      entry = start(line, into: &items)
      isRefused = entry == nil
      return
    }
    if entry != nil {
      guard
        let problem = entry?.take(option: content, line: lineCount, isKept: keepsOptions)
      else { return }
      report(problem, into: &items)
      if problem.isFatal { entry = nil }
      isRefused = isRefused || problem.isFatal
    } else if !isRefused {
      let message = "this option has no URL above it"
      report(InputFile.Problem(line: lineCount, message: message), into: &items)
    }
  }

  /// Parses a line that is not UTF-8.
  ///
  /// A URL is requested as its bytes are, which are percent-encoded for that. An option cannot be
  /// read; without any but the name, another file would be downloaded.
  private mutating func parse(_ bytes: [UInt8], into items: inout [Item]) {
    guard bytes.first == UInt8(ascii: " ") || bytes.first == UInt8(ascii: "\t") else {
      let line = PercentEncoding.encodedBytes(bytes)[...]
      guard bytes.first == UInt8(ascii: "#") || line.contains("://") else {
        endEntry(into: &items)
        isRefused = true
        let message = "this line is neither text in UTF-8 nor a URL"
        return report(
          InputFile.Problem(line: lineCount, message: message, isFatal: true),
          into: &items
        )
      }
      return parse(line, into: &items)
    }
    guard entry != nil || !isRefused else { return }
    let isName = String(decoding: bytes, as: UTF8.self)[...].trimmingBlanks.hasPrefix("out=")
    if !isName {
      entry = nil
      isRefused = true
    }
    let message =
      isName
      ? "skipped a file name that is not UTF-8; the URL's is used"
      : "this option is not UTF-8, so the download is skipped"
    report(InputFile.Problem(line: lineCount, message: message, isFatal: !isName), into: &items)
  }

  private mutating func endEntry(into items: inout [Item]) {
    if let entry {
      if let line = entry.keepsNameLine, !entry.overwrites {
        report(Self.unsupportedOption(Self.renamingOption, line), into: &items)
      }
      items.append(.entry(entry.completed))
    }
    entry = nil
  }

  private mutating func report(_ problem: InputFile.Problem, into items: inout [Item]) {
    guard let option = problem.option,
      unsupported[option] != nil || unsupported.count < Self.mostOptions
    else { return items.append(.problem(problem)) }
    unsupported[option, default: (problem.line, 0)].count += 1
  }

  /// The option that only a call of `aria2c` applies.
  ///
  /// Other commands add downloads in one transaction, which one taken name would undo.
  static let renamingOption = "auto-file-renaming"

  /// The problem of an option that is not supported.
  static func unsupportedOption(_ option: String, _ line: Int) -> InputFile.Problem {
    InputFile.Problem(
      line: line,
      message: "skipped the unsupported option '\(option)'",
      option: option
    )
  }

  /// Parses a line of URLs; `nil` if none of them can be downloaded.
  private mutating func start(_ line: Substring, into items: inout [Item]) -> InputFile.Entry? {
    if !line.utf8.contains(UInt8(ascii: "\t")), Self.isUsable(line) {
      return InputFile.Entry(line: lineCount, url: String(line.trimmingBlanks))
    }
    let urls = line.split(separator: "\t").map { String($0.trimmingBlanks) }.filter { !$0.isEmpty }
    var seen: Set<[UInt8]> = []
    // aria2 lists a URL once for each connection that used it.
    let usable = urls.filter { Self.isUsable($0[...]) && seen.insert(Array($0.utf8)).inserted }
    if usable.isEmpty, urls.count == 1, Self.isDocument(urls[0][...]) {
      return InputFile.Entry(line: lineCount, url: urls[0], isDocument: true)
    }
    guard let first = usable.first else {
      let shown = Redaction.argument(String(line.trimmingBlanks.prefix(80)))
      let meant = urls.first.flatMap(MisspeltURL.corrected)
      let message =
        "'\(shown)' does not begin with https:// or http://"
        + (meant.map { "; did you mean '\(Redaction.url($0))'?" } ?? "")
      report(InputFile.Problem(line: lineCount, message: message, isFatal: true), into: &items)
      return nil
    }
    if usable.count < Set(urls.map { Array($0.utf8) }).count {
      let message = "skipped a mirror that is neither http nor https"
      report(InputFile.Problem(line: lineCount, message: message), into: &items)
    }
    return InputFile.Entry(line: lineCount, url: first, mirrors: Array(usable.dropFirst()))
  }

  /// Whether the text has the form of an option's name; others may be secrets on the wrong line.
  static func isOptionName(_ name: Substring) -> Bool {
    name.utf8.count <= 40 && !name.isEmpty
      && name.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "-")
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      }
  }

  /// Whether the text is the path of a Metalink document, which aria2 stores for its files.
  private static func isDocument(_ text: Substring) -> Bool {
    let text = text.lowercased()
    return !text.contains("://") && (text.hasSuffix(".meta4") || text.hasSuffix(".metalink"))
  }

  /// Whether the URL begins with `http://` or `https://`, in any case.
  private static func isUsable(_ url: Substring) -> Bool {
    begins(url, with: "http://") || begins(url, with: "https://")
  }

  private static func begins(_ url: Substring, with scheme: String) -> Bool {
    var bytes = url.utf8.makeIterator()
    for expected in scheme.utf8 {
      guard let byte = bytes.next() else { return false }
      let isUppercase = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      guard byte == expected || isUppercase && byte | 0x20 == expected else { return false }
    }
    return true
  }
}
