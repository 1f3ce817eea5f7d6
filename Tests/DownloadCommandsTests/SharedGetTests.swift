import DownloadStore
import FaultServer
import Foundation
import TestSupport
import Testing

/// Several `get` on one store: one runs the downloads of all, and the others follow it.
@Suite(.timeLimit(.minutes(10)))
struct SharedGetTests: ToolSuite {
  let fixture: ToolFixture
  private let body = Body.generated(byteCount: 2_000_000, seed: 34)

  init() throws {
    fixture = try ToolFixture()
  }

  /// Routes files whose transfers take minutes, unless the gate is opened.
  @discardableResult
  private func slow(_ paths: String...) -> Gate {
    let gate = Gate()
    for path in paths {
      var resource = Resource(body)
      (resource.bytesPerSecond, resource.rateGate) = (10_000, gate)
      server.route(path, resource)
    }
    return gate
  }

  private func fast(_ paths: String...) {
    for path in paths { server.route(path, Resource(body)) }
  }

  /// Starts one `get` that runs an engine, and others that follow it.
  private func get(
    _ path: String,
    followedBy paths: String...
  ) async throws -> (leader: DLStoreProcess, followers: [DLStoreProcess]) {
    let leader = try start("get", server.url(path))
    try await leader.message("started \(path.dropFirst())")
    var followers: [DLStoreProcess] = []
    for path in paths {
      let follower = try start("get", server.url(path))
      // The engine of the leader runs it.
      try await follower.message("started \(path.dropFirst())")
      followers.append(follower)
    }
    return (leader, followers)
  }

  @Test func `five processes that start at once complete all files`() async throws {
    fast("/a", "/b", "/c", "/d", "/e", "/all")
    let gets = try ["a", "b", "c", "d", "e"].map { name in
      try start("get", server.url("/\(name)"), server.url("/all"))
    }
    for get in gets { #expect(try await get.status() == 0, "\(get.messages)") }
    for name in ["a", "b", "c", "d", "e", "all"] {
      #expect(body.matches(file: folder.path(name)))
    }
  }

  @Test func `when the leader is killed, the followers complete their downloads`() async throws {
    slow("/a", "/b", "/c")
    let (leader, followers) = try await get("/a", followedBy: "/b", "/c")
    fast("/b", "/c")
    leader.send(SIGKILL)
    _ = try await leader.status()
    for follower in followers { #expect(try await follower.status() == 0, "\(follower.messages)") }
    for name in ["b", "c"] { #expect(body.matches(file: folder.path(name))) }
    #expect(try record("/a").state != .completed)
  }

  @Test func `when the leader is stopped, a follower takes over and keeps the bytes`() async throws
  {
    slow("/a", "/b", "/c")
    let (leader, followers) = try await get("/a", followedBy: "/b", "/c")
    try await waitUntil { try record("/b").received > 0 }
    fast("/b", "/c")
    leader.send(SIGTERM)
    #expect(try await leader.status() == 143)
    for follower in followers { #expect(try await follower.status() == 0, "\(follower.messages)") }
    for name in ["b", "c"] { #expect(body.matches(file: folder.path(name))) }
    #expect(server.requests.contains { $0.path == "/b" && $0["Range"] != nil })
    #expect(try record("/a").state == .waiting)
  }

  @Test func `a follower that is killed does not disturb the leader and the others`() async throws {
    let gate = slow("/a", "/c")
    slow("/b")
    let (leader, followers) = try await get("/a", followedBy: "/b", "/c")
    followers[0].send(SIGKILL)
    _ = try await followers[0].status()
    gate.open()
    #expect(try await leader.status() == 0, "\(leader.messages)")
    #expect(try await followers[1].status() == 0, "\(followers[1].messages)")
    fast("/b")
    let again = try start("get", server.url("/b"))
    #expect(try await again.status() == 0)
    for name in ["a", "b", "c"] { #expect(body.matches(file: folder.path(name))) }
  }

  /// The process that holds the engine lock.
  private func lockHolder() throws -> pid_t? {
    let text = try String(contentsOfFile: "\(store)/engine.lock", encoding: .utf8)
    return text.split(separator: "\n").first?.split(separator: " ").last.flatMap { pid_t($0) }
  }

  /// Whether a process is another one or its worker.
  private func isProcess(_ id: pid_t, of process: DLStoreProcess) -> Bool {
    let stat = (try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)) ?? ""
    let parent = stat.split(separator: ")").last?.split(separator: " ").dropFirst().first
    return id == process.id || parent == "\(process.id)"
  }

  #if os(Linux)
    @Test func `a follower that waits for the second leader takes over when that is killed, too`()
      async throws
    {
      slow("/a", "/b", "/c")
      let (leader, followers) = try await get("/a", followedBy: "/b", "/c")
      leader.send(SIGKILL)
      _ = try await leader.status()
      var second: DLStoreProcess?
      try await waitUntil {
        guard let holder = try lockHolder() else { return false }
        second = followers.first { isProcess(holder, of: $0) }
        return second != nil
      }
      let last = try #require(followers.first { $0.id != second?.id })
      fast("/b", "/c")
      second?.send(SIGKILL)
      _ = try await second?.status()
      #expect(try await last.status() == 0, "\(last.messages)")
    }

    @Test func `a leader that is suspended keeps the lock, and goes on when it is continued`()
      async throws
    {
      let gate = slow("/a", "/b")
      let (leader, followers) = try await get("/a", followedBy: "/b")
      let holder = try #require(try lockHolder())
      leader.send(SIGSTOP)
      kill(holder, SIGSTOP)
      // Commands do not need the leader, and the follower waits for it.
      for _ in 0..<3 { #expect(try await dlstore("inspect", server.url("/b")).status == 0) }
      #expect(isRunning(followers[0].id))
      #expect(try lockHolder() == holder)
      #expect(try record("/b").state == .running)
      kill(holder, SIGCONT)
      leader.send(SIGCONT)
      gate.open()
      #expect(try await leader.status() == 0, "\(leader.messages)")
      #expect(try await followers[0].status() == 0, "\(followers[0].messages)")
      for name in ["a", "b"] { #expect(body.matches(file: folder.path(name))) }
    }
  #endif

  @Test func `the options of the leader apply to the downloads of the others`() async throws {
    let gate = slow("/a")
    server.route("/b", Resource(body, faults: .status(500), then: .repeatLast))
    let leader = try start("get", "--max-attempts", "1", server.url("/a"))
    try await leader.message("started a")
    let follower = try start("get", "--max-attempts", "9", "--retry-wait", "1h", server.url("/b"))
    #expect(try await follower.status() == 1)
    #expect(follower.messages.contains("failed b: "))
    #expect(server.requests.count(where: { $0.path == "/b" }) == 1)
    gate.open()
    #expect(try await leader.status() == 0)
  }
}
