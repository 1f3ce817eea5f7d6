import CommandTestSupport
import DownloadReports
import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// What `list --watch` draws, and what its keys do.
struct WatchFrameTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String
  private let now = Date(timeIntervalSince1970: 1_000_000)
  private let names = ["done", "wait", "fail", "again", "run", "pause"]

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
    let opened = try RecordStore(at: store)
    _ = try opened.addNow(names.map { DownloadRequest(url: "http://h/\($0)") })
    func set(_ name: String, _ state: DownloadState, _ message: String? = nil) throws {
      try change("http://h/\(name)") { [now] record in
        record.state = state
        if state == .failedRetryable { record.nextRetryAt = now + 7 }
        guard let message else { return }
        let failure = DownloadFailure(.cannotConnect, message)
        record.attempts = [Attempt(at: now, url: "", failure: failure, received: 0)]
        record.failedAttempts = 1
      }
    }
    try set("done", .completed)
    try set("fail", .failedPermanent, "h refused the connection")
    try set("again", .failedRetryable, "h did not answer")
    try set("run", .running)
    try set("pause", .paused)
  }

  private func content(_ view: WatchView = WatchView()) throws -> WatchContent {
    var condition = Filter<DownloadRecord>.all
    if let states = view.filter.states { condition = DownloadRecord.columns.state.isIn(states) }
    let listing = RecordListing(condition: condition, order: view.order.listOrder)
    let groups = listing.order == nil ? WatchView.groups(engineRuns: true) : nil
    var content = WatchContent(of: listing, groups: groups)
    try content.update(from: RecordStore(at: store, access: .readOnly))
    return content
  }

  private func frame(_ view: WatchView = WatchView(), message: String = "") throws -> WatchFrame {
    let content = try content(view)
    return WatchFrame(
      entries: content.entries,
      count: content.count,
      speeds: [:],
      summary: content.summary(ListSpeeds()),
      engine: "process 7",
      view: view,
      message: message,
      now: now
    )
  }

  private func texts(_ frame: WatchFrame, _ columns: Int, _ lines: Int) -> [String] {
    let (shown, keys) = frame.lines(in: (columns, lines))
    return (shown + (keys.map { [$0] } ?? [])).map(\.text)
  }

  @Test func `running downloads are first, then retrying, failed, waiting, paused, completed`()
    throws
  {
    let order = try content().entries.map(\.record.filename)
    #expect(order == ["run", "again", "fail", "wait", "pause", "done"])
    #expect(try frame().count == names.count)
  }

  @Test func `the heading has the engine and the totals, and failures have reasons`() throws {
    let lines = texts(try frame(), 120, 24)
    #expect(lines[0].hasPrefix("engine: process 7  1 completed  3 remaining  1 failed"))
    #expect(lines.contains { $0.contains("h refused the connection") && $0.contains("failed") })
    #expect(lines.contains { $0.contains("attempt 2 in 0:07: h did not answer") })
    #expect(lines.last == WatchFrame.keys)
    #expect(lines.count { $0.hasPrefix(">") } == 1 && lines[2].hasPrefix(">"))
    var without = try frame()
    without.engine = nil
    #expect(texts(without, 120, 24)[0] == "no engine runs  1 completed  3 remaining  1 failed")
    // A narrow terminal has room for it, because there is no speed.
    #expect(texts(without, 60, 24)[0] == texts(without, 120, 24)[0])
  }

  @Test func `an attempt that waits for its turn has no time`() throws {
    let again = try #require(content().entries.first { $0.record.filename == "again" })
    #expect(WatchFrame.reason(of: again, now: now) == "attempt 2 in 0:07: h did not answer")
    #expect(WatchFrame.reason(of: again, now: now + 8) == "attempt 2 is next: h did not answer")
  }

  @Test func `the heading has the rate limit of the store`() throws {
    var limited = try frame(WatchView(order: .name, filter: .active))
    limited.limit = 2 << 20
    #expect(texts(limited, 120, 24)[0].hasSuffix("filter: active  limit 2.0 MiB/s  sort: name"))
    var idle = try frame()
    (idle.limit, idle.engine) = (2 << 20, nil)
    #expect(texts(idle, 80, 24)[0].hasSuffix("1 failed  limit 2.0 MiB/s"))
  }

  @Test func `the heading counts what a filter shows`() throws {
    for (filter, text) in [
      (WatchView.Filter.failed, "2 failed  filter: failed"),
      (.completed, "1 completed  filter: completed"),
    ] {
      let heading = texts(try frame(WatchView(filter: filter)), 120, 24)[0]
      #expect(heading == "engine: process 7  \(text)")
    }
    let active = texts(try frame(WatchView(filter: .active)), 120, 24)[0]
    #expect(active.hasPrefix("engine: process 7  3 active  ") && active.contains("ETA"))
  }

  @Test func `the table keeps its widths while figures change`() throws {
    let entries = try content().entries
    let id = try #require(entries.first { $0.record.state == .running }).record.id
    let lines = [0.5, 900, 1_000_000, 1_023_000, 1_030_000, 12_000_000, 1e9].map { speed in
      ListOutput().table(entries, speeds: [id: speed]).lines(width: 80)
    }
    #expect(Set(lines.map(\.first)).count == 1, "\(lines.map(\.first))")
    let places = lines.map { $0[1].firstRange(of: "[")?.lowerBound.utf16Offset(in: $0[1]) }
    #expect(Set(places).count == 1 && places[0] != nil, "\(lines.map { $0[1] })")
  }

  @Test func `? shows all keys in place of the list, and the next key the list`() throws {
    var view = WatchView()
    #expect(view.press(.keys, ["a"]) == nil && view.showsKeys)
    var shown = try frame()
    shown.view = view
    let lines = texts(shown, 80, 24)
    #expect(Array(lines.dropFirst().prefix(WatchFrame.allKeys.count)) == WatchFrame.allKeys)
    #expect(texts(shown, 20, 8).count <= 8)
    #expect(view.press(.down, ["a"]) == nil && !view.showsKeys)
    _ = view.press(.keys, ["a"])
    _ = view.press(.keys, ["a"])
    #expect(!view.showsKeys)
    let page = DocumentedPage("cli/look.md").text
    for key in WatchFrame.allKeys {
      for name in key.prefix(20).split(whereSeparator: { " ,".contains($0) }) {
        #expect(page.contains(name), "\(name)")
      }
    }
  }

  @Test func `every size of a terminal is respected, and the selected download is shown`() throws {
    let frames = try content().entries.map { entry in
      let view = WatchView(selected: entry.record.id)
      return (name: entry.record.filename, frame: try frame(view, message: "paused x"))
    }
    for columns in [1, 2, 10, 40, 59, 60, 61, 80, 99, 120, 200] {
      for lines in [1, 2, 3, 5, 6, 7, 8, 10, 24] {
        for (name, frame) in frames {
          let shown = texts(frame, columns, lines)
          #expect(shown.count <= lines, "\(columns) × \(lines)")
          #expect(shown.allSatisfy { TerminalText.width($0) <= columns }, "\(shown)")
          guard columns >= 40, lines >= 3 else { continue }
          #expect(
            shown.contains { $0.hasPrefix(">") && $0.contains(name) },
            "\(columns) × \(lines): \(shown)"
          )
        }
      }
    }
  }

  @Test(arguments: [60, 80, 120, 200])
  func `the state, the name and the reason are shown at each usual width`(columns: Int) throws {
    let lines = texts(try frame(), columns, 10)
    let failed = try #require(lines.first { $0.contains("fail ") || $0.hasSuffix("fail") })
    #expect(failed.contains("failed") && failed.contains("h refused"), "\(lines)")
  }

  @Test func `a reason takes the place of the speed and the remaining time`() throws {
    try change("http://h/run") { record in
      record.expected = 300_000_000
      record.received = 9_000_000
    }
    let lines = texts(try frame(), 62, 10)
    let failed = try #require(lines.first { $0.contains(" fail") && $0.contains("refused") })
    #expect(failed.contains("failed     h refused the connection"), "\(lines)")
    let running = try #require(lines.first { $0.hasPrefix(">") })
    #expect(running.contains("        --  [          ]"), "\(lines)")
    // Cells that follow are at the place of their title.
    let title = try #require(lines[1].firstRange(of: "NAME")).lowerBound
    let column = lines[1].distance(from: lines[1].startIndex, to: title)
    #expect(failed.dropFirst(column).hasPrefix("fail") && running.dropFirst(column) == "run")
  }

  @Test func `columns are dropped in the order that the page says`() throws {
    var order: [String] = []
    var shown: Set<String> = []
    for columns in stride(from: 200, through: 30, by: -1) {
      let line = texts(try frame(), columns, 10)[1]
      let titles = Set(line.split(separator: " ").map(String.init))
      order += shown.subtracting(titles).sorted { $0 > $1 }
      shown = titles
    }
    #expect(order == ["URL", "RECEIVED", "ID", "ETA", "SIZE", "DONE", "SPEED", "PROGRESS"])
    #expect(
      DocumentedPage("cli/look.md").text
        .contains("URL, RECEIVED, ID, ETA, SIZE, DONE, SPEED, PROGRESS")
    )
  }

  @Test func `an empty list says what to do`() throws {
    var empty = try frame()
    empty.entries = []
    empty.count = 0
    #expect(texts(empty, 60, 10)[1] == "No downloads: 'dlstore add URL' adds one.")
    empty.isSelection = true
    #expect(texts(empty, 80, 10)[1] == "No download matches the selection.")
    empty.view.filter = .failed
    #expect(texts(empty, 80, 10)[1] == "No download is failed: f shows others.")
    #expect(texts(empty, 80, 10).last == WatchFrame.keys)
  }

  @Test func `downloads that do not fit are counted`() throws {
    let first = texts(try frame(), 80, 7)
    #expect(first.contains("… and 3 more"), "\(first)")
    let last = try #require(try content().entries.last).record.id
    #expect(texts(try frame(WatchView(selected: last)), 80, 7).contains("… 3 above, 0 below"))
  }

  // MARK: Keys

  @Test func `keys are found in what a terminal sends`() {
    #expect(
      WatchKey.keys(in: Array("jkprtsf?q".utf8))
        == [.down, .up, .pause, .resume, .retry, .sort, .filter, .keys, .quit]
    )
    #expect(
      WatchKey.keys(in: Array("\u{1B}[A\u{1B}OB\u{1B}[1;5Bx\u{1B}[3~q".utf8))
        == [.up, .down, .down, .quit]
    )
    #expect(
      WatchKey.keys(
        in: Array("gG\u{1B}[5~\u{1B}[6~\u{1B}[H\u{1B}OF\u{1B}[1~\u{1B}[4~\u{1B}[15~".utf8)
      )
        == [.first, .last, .pageUp, .pageDown, .first, .last, .first, .last]
    )
    #expect(WatchKey.keys(in: [0x1B]) == [] && WatchKey.keys(in: [0x1B, 0x5B]) == [])
    #expect(WatchKey.keys(in: [0xC3, 0xA4, 0x00]) == [])
  }

  @Test func `each key has its effect, also in an empty list`() {
    let ids = ["a", "b", "c"]
    var view = WatchView()
    #expect(view.press(.down, ids) == nil && view.selected == "b")
    #expect(view.press(.pause, ids) == .command(.pause, id: "b"))
    #expect(view.press(.up, ids) == nil && view.press(.up, ids) == nil && view.selected == "a")
    for _ in 0..<5 { _ = view.press(.down, ids) }
    #expect(view.selected == "c")
    #expect(view.press(.resume, ids) == .command(.resume(immediately: false), id: "c"))
    #expect(view.press(.first, ids) == nil && view.selected == "a")
    #expect(view.press(.pageDown, ids, page: 2) == nil && view.selected == "c")
    #expect(view.press(.pageUp, ids, page: 5) == nil && view.selected == "a")
    #expect(view.press(.last, ids) == nil && view.selected == "c")
    // The selected download has left the list.
    #expect(view.position(in: ["a", "b"]) == 0)
    #expect(view.press(.retry, ids) == .retry && view.press(.quit, ids) == .quit)
    for filter in [WatchView.Filter.active, .failed, .completed, .all] {
      #expect(view.press(.filter, ids) == .read && view.filter == filter)
    }
    for order in [WatchView.Order.name, .size, .newest, .state] {
      #expect(view.press(.sort, ids) == .read && view.order == order)
    }
    var empty = WatchView()
    for key in WatchKey.allCases where key != .quit && key != .retry {
      let action = empty.press(key, [])
      #expect(action == nil || action == .read)
    }
  }

  @Test func `filters and orders show what they say`() throws {
    #expect(
      try content(WatchView(filter: .failed)).entries.map(\.record.filename) == ["again", "fail"]
    )
    #expect(
      try content(WatchView(order: .name)).entries.map(\.record.filename) == names.sorted()
    )
    let lines = texts(try frame(WatchView(order: .name, filter: .completed)), 120, 10)
    #expect(lines[0].contains("filter: completed  sort: name"))
  }
}
