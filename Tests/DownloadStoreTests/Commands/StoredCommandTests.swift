import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import TestTraits
import Testing

@Suite struct StoredCommandTests {
  let fixture: StoreFixture

  init() throws {
    fixture = try StoreFixture()
    for name in ["a", "b", "c"] {
      try fixture.add(url(name)) { $0.tags = name == "c" ? ["odd"] : ["even"] }
    }
  }

  private func url(_ name: String) -> String { "https://example.com/\(name)" }

  private func states() throws -> [DownloadState] {
    try ["a", "b", "c"].map { try fixture.store.record(matching: url($0)).state }
  }

  private func effects(_ outcomes: [CommandOutcome]) -> [String] {
    outcomes.map {
      switch $0.effect {
      case .done: "done"
      case .unchanged: "unchanged"
      case .unknown(let error): "\(error.code)"
      }
    }
  }

  @Test(.requirements("ZY23", "SC9"))
  func `each name has its own outcome, and an unknown name blocks no other`() throws {
    let id = try fixture.store.record(matching: url("b")).id
    let names = [url("a"), "https://example.com/none", String(id.prefix(6)), url("a"), ""]
    let outcomes = try fixture.store.apply(.pause, to: .matching(names))
    #expect(outcomes.map(\.name) == names)
    #expect(
      effects(outcomes) == ["done", "unknownRecord", "done", "unchanged", "unknownRecord"]
    )
    #expect(try states() == [.paused, .paused, .waiting])
    #expect(outcomes[0].record == (try fixture.store.record(matching: url("a"))))
  }

  @Test(arguments: ["restart", "refresh", "due refresh", "add again"])
  func `a download that is queued again keeps the size that is required`(way: String) throws {
    let (store, url) = (fixture.store, url("sized"))
    try fixture.add(url) { $0.byteCount = 4 }
    try fixture.finish(url, "body")
    let moment = fixture.now
    switch way {
    case "restart": try store.apply(.restart, to: .matching(url))
    case "refresh": try store.apply(.refresh, to: .matching(url))
    case "due refresh":
      try fixture.change(url) { $0.refreshDates = [moment] }
      let roots = try store.roots()
      let requested = try store.objects.write { tx in
        try store.requestRefreshes([url], dueAt: moment, at: moment, roots, in: &tx)
      }
      #expect(requested.map(\.expected) == [4])
    default:
      try fixture.change(url) { ($0.state, $0.intent) = (.cancelled, .cancel) }
      #expect(try fixture.add(url).record.expected == 4)
    }
    let record = try store.record(matching: url)
    #expect(record.state == .waiting && record.received == 0 && record.expected == 4)
  }

  @Test(.requirements("FK16"))
  func `commands on a tag or on all records change every record that can change`() throws {
    #expect(effects(try fixture.store.apply(.pause, to: .tagged("even"))) == ["done", "done"])
    #expect(try states() == [.paused, .paused, .waiting])
    #expect(effects(try fixture.store.apply(.pause, to: .tagged("none"))) == [])
    try fixture.change(url("c")) { $0.state = .completed }
    #expect(
      effects(try fixture.store.apply(.resume(immediately: false), to: .all)) == ["done", "done"]
    )
    #expect(try states() == [.waiting, .waiting, .completed])
    #expect(
      effects(try fixture.store.apply(.remove(withFile: false), to: .all)) == [
        "done", "done", "done",
      ]
    )
    #expect(
      effects(try fixture.store.apply(.remove(withFile: false), to: .all)) == [
        "unchanged", "unchanged", "unchanged",
      ]
    )
  }

  @Test func `a changed record has a new modification date, and an unchanged one keeps its own`()
    throws
  {
    let before = try fixture.store.record(matching: url("a")).updatedAt
    fixture.now += 60
    try fixture.store.apply(.resume(immediately: false), to: .matching(url("a")))
    #expect(try fixture.store.record(matching: url("a")).updatedAt == before)
    try fixture.store.apply(.resume(immediately: true), to: .matching(url("a")))
    #expect(try fixture.store.record(matching: url("a")).updatedAt == before + 60)
    #expect(try fixture.store.record(matching: url("a")).startsImmediately)
  }

  @Test func `a removed record accepts no command except another removal`() throws {
    try fixture.store.apply(.remove(withFile: false), to: .matching(url("a")))
    for command in [DownloadCommand.pause, .resume(immediately: true), .cancel, .restart] {
      let outcomes = try fixture.store.apply(command, to: .matching(url("a")))
      #expect(effects(outcomes) == ["unknownRecord"])
    }
    #expect(
      effects(try fixture.store.apply(.remove(withFile: false), to: .matching(url("a")))) == [
        "unchanged"
      ]
    )
    #expect(
      effects(try fixture.store.apply(.remove(withFile: true), to: .matching(url("a")))) == ["done"]
    )
  }

  @Test func `a removed URL that is added again begins at the first byte`() throws {
    try fixture.change(url("a")) { $0.received = 10 }
    let before = try fixture.store.record(matching: url("a")).generation
    try fixture.store.apply(.remove(withFile: true), to: .matching(url("a")))
    let added = try fixture.add(url("a"))
    #expect(!added.isNew)
    #expect(added.record.state == .waiting && added.record.intent == .run)
    #expect(added.record.received == 0 && !added.record.removesFile)
    #expect(added.record.generation == before + 1)
  }

  @Test func `commands are stored durably`() throws {
    try fixture.store.apply(.cancel, to: .matching(url("a")))
    try fixture.store.apply(.resume(immediately: true), to: .matching(url("b")))
    let again = try RecordStore(at: fixture.folder.path("store"), access: .readOnly)
    #expect(try again.record(matching: url("a")).intent == .cancel)
    #expect(try again.record(matching: url("b")).startsImmediately)
  }
}
