import DownloadReports
import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The table of `list` on terminals of different widths.
struct ListTableTests {
  private static let names = [
    "a", "film.mkv", String(repeating: "long-", count: 20), "日本語のとても長い名前のファイル.zip",
    "👨‍👩‍👧 family 🇩🇪 👍🏽 ❤\u{FE0F}.jpg", "שלום עולם 2024.pdf", "مرحبا.txt", "e\u{301}\u{302}clair",
  ]

  private let folder: TemporaryFolder
  private let entries: [DownloadEntry]

  init() async throws {
    folder = try TemporaryFolder()
    entries = try await Self.entries(Self.names, in: folder)
  }

  private static func entries(
    _ names: [String],
    in folder: TemporaryFolder
  ) async throws -> [DownloadEntry] {
    let store = try RecordStore(at: folder.path(UUID().uuidString))
    let urls = names.indices.map { "https://example.com/folder/\($0)" }
    try await store.add(urls.map { DownloadRequest(url: $0) })
    try await store.objects.write { tx in
      for (index, name) in names.enumerated() {
        guard var record = try tx.find(DownloadRecord.self, key: urls[index]) else { continue }
        record.filename = name
        record.received = 123_456_789
        record.expected = 987_654_321
        record.state = [.running, .completed, .failedPermanent, .finalizing][index % 4]
        try tx.upsert(record)
      }
    }
    let roots = try store.roots()
    return try await store.objects.read { tx in
      try urls.compactMap { try tx.find(DownloadRecord.self, key: $0) }
    }
    .map { DownloadEntry($0, roots) }
  }

  private func lines(
    _ style: TerminalStyle,
    _ output: ListOutput = ListOutput(),
    _ entries: [DownloadEntry]? = nil
  ) -> [String] {
    var text = ""
    #expect(throws: Never.self) {
      try output.render(
        { try (entries ?? self.entries).forEach($0) },
        style: style,
        to: { text += String(decoding: $0, as: UTF8.self) }
      )
    }
    return text.split(separator: "\n").map(String.init)
  }

  /// Returns the lines of a table of the columns `filename` and `received`.
  private func lines(
    of names: [String],
    _ style: TerminalStyle,
    _ columns: [RecordColumn] = [.filename, .received]
  ) async throws -> [String] {
    lines(style, ListOutput(columns: columns), try await Self.entries(names, in: folder))
  }

  /// Returns the text as a terminal shows it: without escape sequences and isolates.
  private func shown(_ line: String) -> String {
    line.replacing(/\u{1B}\[[0-9]*[mG]|[\u{2068}\u{2069}]/, with: "")
  }

  @Test(arguments: Array(stride(from: 20, through: 200, by: 30)))
  func `no line is wider than the terminal, and every name is visible`(width: Int) {
    for columns in [nil, RecordColumn.allCases] {
      for line in lines(TerminalStyle(width: width), ListOutput(columns: columns)) {
        #expect(TerminalText.width(line) <= width)
      }
    }
    let lines = lines(TerminalStyle(width: width))
    #expect(lines.first?.contains("NAME") == true)
    for (line, name) in zip(lines.dropFirst(), Self.names) {
      #expect(shown(line).contains(TerminalText.truncated(name, to: 14, ellipsis: "")), "\(line)")
    }
  }

  @Test func `the columns fit every width from 20 to 200, and the name has at least 16`() throws {
    let columns = RecordColumn.table.map { $0.tableColumn() }
    let name = try #require(RecordColumn.table.firstIndex(of: .filename))
    for nameWidth in [1, 8, 16, 40, 300] {
      let contents = [16, 10, 4, 9, 9, 8, nameWidth, 60]
      for width in 20...200 {
        let places = TableLayout.places(of: columns, contentWidths: contents, width: width)
        let used = places.reduce(0) { $0 + $1.width } + 2 * (places.count - 1)
        #expect(used <= width && places.map(\.column) == places.map(\.column).sorted())
        let place = try #require(places.first { $0.column == name })
        #expect(place.width >= min(16, nameWidth))
        // No width is left over while a column is truncated.
        #expect(used == width || places.allSatisfy { $0.width == contents[$0.column] })
      }
    }
  }

  @Test(arguments: [
    (20, "NAME"), (31, "STATE NAME"), (40, "STATE DONE NAME"), (60, "ID STATE DONE SIZE NAME"),
    (80, "ID STATE DONE RECEIVED SIZE FILE NAME"),
    (200, "ID STATE DONE RECEIVED SIZE FILE NAME URL"),
  ])
  func `the least useful columns are dropped first`(width: Int, titles: String) throws {
    let header = try #require(lines(TerminalStyle(width: width)).first)
    #expect(header.split(separator: " ").joined(separator: " ") == titles)
  }

  @Test func `a wider terminal never shows fewer columns`() {
    var count = 0
    for width in 20...200 {
      let shown = lines(TerminalStyle(width: width))[0].split(separator: " ").count
      #expect(shown >= count)
      count = shown
    }
    #expect(count == 8)
  }

  @Test func `a file or a pipe gets every column in full`() {
    let lines = lines(TerminalStyle())
    for (line, name) in zip(lines.dropFirst(), Self.names) {
      #expect(line.contains(name) && line.contains("https://example.com/folder/"))
    }
  }

  @Test(arguments: [60, 80, 120, 200])
  func `the column after the name begins at the same position in every line`(width: Int) throws {
    let output = ListOutput(columns: [.filename, .priority])
    let lines = lines(TerminalStyle(width: width), output)
    #expect(lines.count == Self.names.count + 1)
    for line in lines {
      #expect(TerminalText.width(line) == TerminalText.width(lines[0]))
    }
  }

  @Test func `an id is cut to a prefix without an ellipsis`() {
    let id = lines(TerminalStyle(width: 60))[1].prefix { $0 != " " }
    #expect((8...16).contains(id.count) && entries[0].record.id.hasPrefix(id))
    #expect(lines(TerminalStyle(width: 200))[1].hasPrefix(entries[0].record.id))
  }

  @Test func `a right-to-left cell is isolated from its neighbors on a terminal`() async throws {
    let names = ["שלום 1", "latin"]
    let shown = try await lines(of: names, TerminalStyle(width: 80))
    #expect(shown[1].hasPrefix("\u{2068}שלום 1\u{2069}  "))
    #expect(!shown[2].contains("\u{2068}"))
    // The isolate of a truncated cell is closed.
    let cut = try await lines(of: ["שלום עולם"], TerminalStyle(width: 6), [.filename])
    #expect(cut[1] == "\u{2068}שלום …\u{2069}")
    // Programs get the name as it is.
    #expect(try await lines(of: names, TerminalStyle())[1].hasPrefix("שלום 1  "))
  }

  @Test func `a name cannot end its isolate`() async throws {
    let lines = try await lines(of: ["שלום\u{2069}\u{202E}x"], TerminalStyle(width: 80))
    #expect(lines[1].hasPrefix("\u{2068}שלום\u{FFFD}\u{FFFD}x\u{2069}  "))
  }

  @Test func `the cursor is positioned after an emoji sequence, whose width differs by terminal`()
    async throws
  {
    let style = TerminalStyle(width: 80, isInteractive: true)
    let family = try await lines(of: ["👨‍👩‍👧"], style, [.filename, .priority])
    #expect(family[1] == "👨‍👩‍👧  \u{1B}[9G       0")
    #expect(TerminalText.widestWidth("👨‍👩‍👧") == 6)
    let wide = try await lines(of: ["日本"], style, [.filename, .priority])
    #expect(wide[1] == "日本         0")
  }

  @Test(arguments: [20, 40, 80, 200])
  func `colors do not change the layout`(width: Int) {
    let plain = lines(TerminalStyle(width: width))
    let colored = lines(TerminalStyle(width: width, isColored: true))
    #expect(plain != colored)
    #expect(colored.map(shown) == plain.map(shown))
  }

  @Test func `each state has its color`() {
    let words = DownloadState.words.map { TerminalColor.ofState($0) }
    #expect(words == [nil, .cyan, .yellow, .yellow, .red, .magenta, .green, .dim])
  }
}

struct ColorChoiceTests {
  @Test(arguments: [true, false], ["xterm", "dumb", nil] as [String?])
  func `the option comes before NO_COLOR, CLICOLOR_FORCE, TERM and the terminal`(
    isTerminal: Bool,
    term: String?
  ) {
    for noColor in ["", "1"] {
      for force in ["", "0", "1"] {
        check(isTerminal: isTerminal, term: term, noColor: noColor, force: force)
      }
    }
  }

  private func check(isTerminal: Bool, term: String?, noColor: String, force: String) {
    var environment = ["NO_COLOR": noColor, "CLICOLOR_FORCE": force]
    environment["TERM"] = term
    func isColored(_ choice: ColorChoice) -> Bool {
      choice.isColored(isTerminal: isTerminal, environment: environment)
    }
    #expect(isColored(.always))
    #expect(!isColored(.never))
    let expected: Bool =
      if noColor == "1" { false } else if force == "1" { true } else {
        isTerminal && term != "dumb"
      }
    #expect(isColored(.auto) == expected)
  }

  @Test func `variables that are not set have no effect`() {
    #expect(ColorChoice.auto.isColored(isTerminal: true, environment: [:]))
    #expect(!ColorChoice.auto.isColored(isTerminal: false, environment: [:]))
  }
}
