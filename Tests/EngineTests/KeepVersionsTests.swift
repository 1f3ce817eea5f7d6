import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import SystemInterface
import Testing

/// Previous versions that stay beside a finished file.
@Suite(.timeLimit(.minutes(10)))
struct KeepVersionsTests {
  private let fixture: EngineFixture

  init() throws {
    fixture = try EngineFixture()
  }

  /// The bytes of a version of the file.
  private static func body(_ version: Int) -> Body {
    .generated(byteCount: 20_000 + Int64(version), seed: UInt64(90 + version))
  }

  private func route(_ version: Int) {
    fixture.server.route("/a", Resource(Self.body(version), etag: "\"\(version)\""))
  }

  /// Downloads the first version.
  private func complete(keeping count: Int32) async throws {
    route(1)
    try fixture.add("/a") { $0.keepVersions = count }
    try await fixture.run()
  }

  /// Refreshes the file to another version.
  private func refresh(to version: Int, _ hook: EffectHook = EffectHook()) async throws {
    route(version)
    try await fixture.store.refresh(.all)
    _ = try await fixture.engine(environment: .live(hook)).run(until: .idle)
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: fixture.file("")).sorted()
  }

  /// The version of a file; `nil` if it is none.
  private func version(_ name: String) -> Int? {
    (1...6).first { Self.body($0).matches(file: fixture.file(name)) }
  }

  private static func isNumbered(_ effect: Effect) -> Bool {
    if case .link(_, let path) = effect { path.hasSuffix("~") } else { false }
  }

  @Test func `previous versions get rising numbers, and only the newest stay`() async throws {
    try await complete(keeping: 2)
    try await refresh(to: 2)
    #expect(try names() == ["a", "a.~1~"])
    let inode = try #require(try fixture.record("/a").keptVersions.first).identity.inode
    #expect(FileIdentity(ofFileAt: fixture.file("a.~1~"))?.inode == inode)
    for version in 3...5 { try await refresh(to: version) }
    #expect(try names() == ["a", "a.~3~", "a.~4~"])
    #expect(version("a") == 5 && version("a.~3~") == 3 && version("a.~4~") == 4)
    // A server without a newer version adds none.
    try await refresh(to: 5)
    #expect(try names() == ["a", "a.~3~", "a.~4~"])
    // Also a restart, whose file replaces the finished one.
    route(6)
    try await fixture.store.restart(.all)
    try await fixture.run()
    #expect(try names() == ["a", "a.~4~", "a.~5~"])
    #expect(version("a") == 6 && version("a.~5~") == 5)
  }

  @Test func `files of the user are neither replaced nor deleted`() async throws {
    try await complete(keeping: 1)
    for number in [1, 3] {
      try Data("mine".utf8).write(to: URL(filePath: fixture.file("a.~\(number)~")))
    }
    try await refresh(to: 2)
    #expect(version("a.~2~") == 1)
    // The user puts a file in the place of the kept one.
    try FileManager.default.removeItem(atPath: fixture.file("a.~2~"))
    try Data("mine".utf8).write(to: URL(filePath: fixture.file("a.~2~")))
    try await refresh(to: 3)
    #expect(version("a.~4~") == 2)
    try await refresh(to: 4)
    #expect(try names() == ["a", "a.~1~", "a.~2~", "a.~3~", "a.~5~"])
    for number in [1, 2, 3] {
      let data = try Data(contentsOf: URL(filePath: fixture.file("a.~\(number)~")))
      #expect(data == Data("mine".utf8))
    }
    #expect(try fixture.record("/a").keptVersions.last?.filename == "a.~5~")
  }

  @Test func `thousands of numbers of the user are passed`() async throws {
    try await complete(keeping: 1)
    for number in 1...12_000 { close(open(fixture.file("a.~\(number)~"), O_CREAT | O_EXCL, 0o600)) }
    try await refresh(to: 2)
    let kept = try #require(try fixture.record("/a").keptVersions.first)
    #expect(kept.number > 12_000 && version(kept.filename) == 1 && version("a") == 2)
    #expect(try names().count == 12_002)
  }

  @Test func `a name that is taken after it was chosen is left to the other program`() async throws
  {
    try await complete(keeping: 3)
    let path = fixture.file("a.~1~")
    let hook = EffectHook { effect in
      if Self.isNumbered(effect), FileIdentity(ofFileAt: path) == nil {
        try? Data("mine".utf8).write(to: URL(filePath: path))
      }
      return nil
    }
    try await refresh(to: 2, hook)
    #expect(try Data(contentsOf: URL(filePath: path)) == Data("mine".utf8))
    #expect(version("a") == 2 && version("a.~2~") == 1)
    #expect(try fixture.record("/a").keptVersions.map(\.filename) == ["a.~2~"])
  }

  @Test func `a file system without hard links gets copies`() async throws {
    try await complete(keeping: 1)
    let before = try #require(FileIdentity(ofFileAt: fixture.file("a")))
    let hook = EffectHook { Self.isNumbered($0) ? EPERM : nil }
    try await refresh(to: 2, hook)
    let copy = try #require(FileIdentity(ofFileAt: fixture.file("a.~1~")))
    #expect(version("a.~1~") == 1)
    #expect(copy.inode != before.inode && copy.modified == before.modified)
    try await refresh(to: 3, hook)
    #expect(try names() == ["a", "a.~2~"])
    #expect(version("a") == 3 && version("a.~2~") == 2)
  }

  @Test(arguments: [false, true])
  func `a full disk keeps the finished file, and leaves nothing`(isCopied: Bool) async throws {
    try await complete(keeping: 1)
    let hook = EffectHook { effect in
      guard isCopied else { return Self.isNumbered(effect) ? ENOSPC : nil }
      if case .open(let path) = effect, path.hasSuffix(".version") { return ENOSPC }
      return Self.isNumbered(effect) ? EPERM : nil
    }
    await #expect(throws: EngineError.self) { try await refresh(to: 2, hook) }
    #expect(version("a") == 1)
    #expect(try !names().contains { $0.contains("~") || $0.hasSuffix(".version") })
    try await fixture.run()
    #expect(try names() == ["a", "a.~1~"])
    #expect(version("a") == 2 && version("a.~1~") == 1)
  }

  @Test(arguments: [false, true])
  func `a newer version that does not get its name leaves no copy`(lacksLinks: Bool) async throws {
    try await complete(keeping: 1)
    try await refresh(to: 2)
    let path = fixture.file("a")
    let hook = EffectHook { effect in
      if case .rename(_, path) = effect { return EPERM }
      return lacksLinks && Self.isNumbered(effect) ? EPERM : nil
    }
    for _ in 0..<2 { try await refresh(to: 3, hook) }
    #expect(try names() == ["a", "a.~1~"])
    #expect(version("a") == 2 && version("a.~1~") == 1)
    try await refresh(to: 3)
    #expect(try names() == ["a", "a.~2~"])
    #expect(version("a") == 3 && version("a.~2~") == 2)
  }

  @Test
  func `a file that takes the name of a copy stays if the newer version does not get its name`()
    async throws
  {
    try await complete(keeping: 1)
    let (path, kept) = (fixture.file("a"), fixture.file("a.~1~"))
    let hook = EffectHook { effect in
      guard case .rename(_, path) = effect else { return nil }
      unlink(kept)
      try? Data("mine".utf8).write(to: URL(filePath: kept))
      return EPERM
    }
    try await refresh(to: 2, hook)
    #expect(version("a") == 1)
    #expect(try Data(contentsOf: URL(filePath: kept)) == Data("mine".utf8))
  }

  /// Refuses every effect from some number of effects after the sync of the complete file on.
  private final class Kill: Sendable {
    private let count: Mutex<Int?> = Mutex(nil)
    private let limit: Int
    private let lacksLinks: Bool

    init(after limit: Int, lacksLinks: Bool) {
      self.limit = limit
      self.lacksLinks = lacksLinks
    }

    var hook: EffectHook {
      EffectHook { [self] effect in
        let isDead = count.withLock { count in
          if case .synchronize = effect, count == nil { count = 0 }
          guard let known = count else { return false }
          count = known + 1
          return known > limit
        }
        if isDead { return EIO }
        return lacksLinks && KeepVersionsTests.isNumbered(effect) ? EPERM : nil
      }
    }
  }

  @Test(arguments: 0..<9, [false, true])
  func `a kill between any two steps leaves one version under the name, and keeps the other once`(
    limit: Int,
    lacksLinks: Bool
  ) async throws {
    try await complete(keeping: 1)
    try await refresh(to: 2)
    try? await refresh(to: 3, Kill(after: limit, lacksLinks: lacksLinks).hook)
    #expect([2, 3].contains(version("a")))
    #expect(version("a") == 2 || names(of: 2).count == 1)
    try await fixture.run()
    #expect(version("a") == 3)
    #expect(names(of: 2) == ["a.~2~"])
    try await refresh(to: 4)
    #expect(try names() == ["a", "a.~3~"])
  }

  /// The numbered names that have a version.
  private func names(of wanted: Int) -> [String] {
    ((try? names()) ?? []).filter { $0.hasSuffix("~") && version($0) == wanted }
  }

  @Test func `removing a download with its file leaves the kept versions`() async throws {
    try await complete(keeping: 1)
    try await refresh(to: 2)
    try await fixture.store.remove(.all, withFile: true)
    try await fixture.run()
    #expect(try names() == ["a.~1~"])
  }
}
