import DownloadStore
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// A terminal that interprets the escape sequences of ``LiveRegion`` and ``FullScreen``.
struct ScreenModel {
  private(set) var rows: [[Character]] = [[]]
  private(set) var isCursorVisible = true
  private(set) var isAlternate = false
  private var row = 0
  private var column = 0
  private var normal: [[Character]] = []
  var columns = 80

  /// The rows without trailing blanks.
  var lines: [String] {
    var lines = rows.map { row -> String in
      var row = row
      while row.last == " " { row.removeLast() }
      return String(row)
    }
    while lines.last?.isEmpty == true { lines.removeLast() }
    return lines
  }

  mutating func write(_ text: String) {
    var rest = text[...]
    while let character = rest.popFirst() {
      switch character {
      case "\u{1B}":
        let body = rest.dropFirst().prefix { !$0.isLetter }
        rest = rest.dropFirst(1 + body.count)
        if let final = rest.popFirst() { control(String(body), final) }
      case "\r": column = 0
      case "\n": moveDown()
      case "\r\n": moveDown()
      default: put(character)
      }
    }
  }

  private mutating func moveDown() {
    row += 1
    column = 0
    if row == rows.count { rows.append([]) }
  }

  private mutating func put(_ character: Character) {
    if column == columns { moveDown() }
    while rows[row].count <= column { rows[row].append(" ") }
    rows[row][column] = character
    column += 1
  }

  private mutating func control(_ body: String, _ final: Character) {
    switch (body, final) {
    case ("?25", _): isCursorVisible = final == "h"
    case ("?1049", "h"): (normal, rows, row, column, isAlternate) = (rows, [[]], 0, 0, true)
    case ("?1049", _): (rows, isAlternate) = (normal, false)
    case ("?2026", _), (_, "m"): break
    case (_, "A"): row = max(0, row - (Int(body) ?? 1))
    case (_, "G"): column = (Int(body) ?? 1) - 1
    case (_, "H"):
      row = (Int(body.prefix { $0 != ";" }) ?? 1) - 1
      column = 0
      while rows.count <= row { rows.append([]) }
    case (_, "K"): rows[row].removeLast(max(0, rows[row].count - column))
    case (_, "J"):
      rows[row].removeLast(max(0, rows[row].count - column))
      rows.removeLast(rows.count - row - 1)
    default: Issue.record("unknown sequence \(body)\(final)")
    }
  }

  /// Wraps the rows as tmux does when its window becomes narrower; the cursor is on the last row.
  mutating func narrow(to columns: Int) {
    self.columns = columns
    rows = rows.flatMap { row -> [[Character]] in
      guard !row.isEmpty else { return [[]] }
      return stride(from: 0, to: row.count, by: columns).map {
        Array(row[$0..<min(row.count, $0 + columns)])
      }
    }
    row = rows.count - 1
  }
}

struct LiveRegionTests {
  private func lines(_ texts: String...) -> [ScreenLine] { texts.map { ScreenLine($0) } }

  @Test func `a frame redraws the region below the printed lines`() {
    var region = LiveRegion()
    var screen = ScreenModel()
    screen.write("$ dlstore\n")
    screen.write(region.frame(lines("a 1", "b 1"), columns: 80))
    #expect(screen.lines == ["$ dlstore", "a 1", "b 1"])
    #expect(!screen.isCursorVisible)
    screen.write(region.frame(lines("b 2"), printing: ["done a"], columns: 80))
    #expect(screen.lines == ["$ dlstore", "done a", "b 2"])
    screen.write(region.frame(lines("b 3", "c", "d"), columns: 80))
    #expect(screen.lines == ["$ dlstore", "done a", "b 3", "c", "d"])
    screen.write(region.erase(columns: 80))
    #expect(screen.lines == ["$ dlstore", "done a"])
    #expect(screen.isCursorVisible)
  }

  @Test func `only changed lines are written`() {
    var region = LiveRegion()
    _ = region.frame(lines("first", "second"), columns: 80)
    let frame = region.frame(lines("first", "third"), columns: 80)
    #expect(!frame.contains("first") && frame.contains("third"))
    #expect(region.frame(lines("first", "third"), columns: 80) == "")
  }

  @Test func `a frame is one synchronized update`() {
    var region = LiveRegion()
    let frame = region.frame(lines("a"), printing: ["b"], columns: 80)
    #expect(frame.hasPrefix("\u{1B}[?2026h") && frame.hasSuffix("\u{1B}[?2026l"))
    #expect(frame.ranges(of: "2026").count == 2)
  }

  @Test(arguments: [1, 3, 7, 10, 20, 39, 60])
  func `lines that a narrower terminal has wrapped are erased`(columns: Int) {
    var region = LiveRegion()
    var screen = ScreenModel()
    screen.write("$\n")
    screen.write(region.frame(lines(String(repeating: "x", count: 60), "summary"), columns: 80))
    screen.narrow(to: columns)
    let short = lines(String("y".prefix(columns)), String("s".prefix(columns)))
    screen.write(region.frame(short, columns: columns))
    #expect(screen.lines == ["$", "y", "s"])
  }

  @Test func `a terminal that cuts lines keeps the text above the region`() {
    var region = LiveRegion()
    var screen = ScreenModel()
    screen.write("$\nbefore\n")
    screen.write(region.frame(lines(String(repeating: "x", count: 60)), columns: 80))
    screen.write(region.frame(lines("y"), columns: 20, reflows: false))
    #expect(screen.lines == ["$", "before", "y"])
  }

  @Test func `after an erase the next frame begins at the cursor`() {
    var region = LiveRegion()
    var screen = ScreenModel()
    screen.write(region.frame(lines("a"), columns: 80))
    screen.write(region.erase(columns: 80))
    screen.write("[1]+ Stopped\n$ fg\n")
    screen.write(region.frame(lines("a"), columns: 80))
    #expect(screen.lines == ["[1]+ Stopped", "$ fg", "a"])
    #expect(!screen.isCursorVisible)
    #expect(LiveRegion().drawsNothing)
  }

  @Test func `a full screen shows changes only, and is redrawn in another size`() {
    var full = FullScreen()
    var screen = ScreenModel()
    screen.write("$ list\n")
    screen.write(full.frame(lines("a", "b", "c"), size: (80, 24)))
    #expect(screen.lines == ["a", "b", "c"] && screen.isAlternate && !screen.isCursorVisible)
    let change = full.frame(lines("a", "d"), size: (80, 24))
    #expect(!change.contains("a"))
    screen.write(change)
    #expect(screen.lines == ["a", "d"])
    #expect(full.frame(lines("a", "d"), size: (80, 24)) == "")
    screen.write(full.frame(lines("a", "d"), size: (40, 24)))
    #expect(screen.lines == ["a", "d"])
    screen.write(full.close())
    #expect(screen.lines == ["$ list"] && screen.isCursorVisible)
    #expect(full.close() == "")
  }
}

extension LiveRegion {
  /// Whether there is nothing to erase.
  fileprivate var drawsNothing: Bool {
    var region = self
    let bytes = region.erase(columns: 80)
    return bytes.isEmpty
  }
}

struct ProgressFrameTests {
  private func frame(_ names: [String]) -> ProgressFrame {
    let estimate = ProgressEstimate(
      received: 5_242_880,
      expected: 10_485_760,
      bytesPerSecond: 1_048_576
    )
    var summary = ProgressSummary(completed: 2, failed: 1, remainingBytes: 0)
    for _ in names { summary.add(estimate) }
    return ProgressFrame(
      downloads: names.map { ProgressLine(name: $0, estimate: estimate) },
      summary: summary
    )
  }

  @Test(arguments: Array(1...200))
  func `no line reaches the last column, and the lines fit on the screen`(columns: Int) {
    let names = ["a", "日本語のとても長い名前のファイル.zip", "👨‍👩‍👧", String(repeating: "x", count: 90)]
    for count in [0, 4] {
      for height in [1, 3, 24] {
        let lines = frame(Array(names.prefix(count))).lines(in: (columns, height))
        #expect(lines.count <= max(2, height - 1))
        for line in lines where columns > 1 {
          #expect(TerminalText.width(line.text) < columns)
          #expect(line.width < columns)
        }
      }
    }
  }

  @Test func `downloads that do not fit are counted, and the summary is last`() {
    let lines = frame((1...30).map { "name\($0)" }).lines(in: (80, 10)).map(\.text)
    #expect(lines.count == 9)
    #expect(lines[7] == "… and 23 more")
    #expect(lines[8] == "2 completed  30 remaining  1 failed  30.00 MiB/s  ETA 0:05")
  }

  @Test func `the parts of all lines are aligned`() {
    let lines = frame(["a", "a-longer-name.iso"]).lines(in: (120, 24)).map(\.text)
    for part in ["[=", "50%", "ETA"] {
      let places = lines.prefix(2).map { $0.firstRange(of: part)?.lowerBound.utf16Offset(in: $0) }
      #expect(places[0] != nil && places[0] == places[1])
    }
  }

  @Test func `unknown sizes and speeds are not added up`() {
    var summary = ProgressSummary(remainingBytes: 100)
    summary.add(ProgressEstimate(received: 5, expected: nil))
    #expect(summary.text(width: 80) == "0 completed  1 remaining  -- B/s  ETA --")
    summary = ProgressSummary(remainingBytes: .max, bytesPerSecond: 1)
    summary.add(ProgressEstimate(received: 0, expected: 10, bytesPerSecond: 1))
    #expect(summary.remainingBytes == .max && summary.bytesPerSecond == 2)
  }

  @Test(arguments: [
    (100, "2 completed  1 remaining  1 failed  1.00 MiB/s  ETA 0:05"),
    (30, "2 completed  1 remaining"), (12, "2 completed"), (5, "2 co…"),
  ])
  func `the summary drops its last parts on a narrow terminal`(width: Int, text: String) {
    #expect(frame(["a"]).summary.text(width: width) == text)
  }

  @Test func `colors do not change the width of a bar`() {
    let plain = frame(["a"]).lines(in: (100, 24))
    let colored = frame(["a"]).lines(in: (100, 24), isColored: true)
    #expect(plain[0].width == colored[0].width && plain[0].text != colored[0].text)
    #expect(colored[0].text.replacing(/\u{1B}\[[0-9]*m/, with: "") == plain[0].text)
  }
}
