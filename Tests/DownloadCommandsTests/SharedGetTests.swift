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
}
