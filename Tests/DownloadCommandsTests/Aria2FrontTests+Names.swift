import DownloadStore
import FaultServer
import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import DownloadCommands

// The name that a caller of aria2c has given is that of the file, or the call fails.
extension Aria2FrontTests {
  @Test func `a damaged control file leaves no name reserved`() async throws {
    _ = try folder.makeFile("w/f", "begun")
    _ = try folder.makeFile("w/f.aria2", "\0\0")
    let arguments = ["-d", "w", "-o", "f", server.url("/a")]
    let damaged = try await aria2c(arguments)
    #expect(damaged.status == 17, "\(damaged.messages)")
    #expect(damaged.messages.contains("not a control file of aria2"), "\(damaged.messages)")
    #expect(stores.isEmpty)
    for name in ["f", "f.aria2"] { #expect(unlink(folder.path("w/\(name)")) == 0) }
    let next = try await aria2c(arguments)
    #expect(next.status == 0, "\(next.messages)")
    #expect(try folder.names(in: "w") == ["f"])
  }

  @Test(arguments: [String(repeating: "n", count: 256), "a\nb", "a\u{7F}b", "a\u{85}b"])
  func `a name that the file could not have is refused before the request`(
    name: String
  ) async throws {
    let result = try await aria2c(["-o", name, server.url("/a")])
    #expect(result.status == 28, "\(result.messages)")
    #expect(result.messages.contains("the file name '"), "\(result.messages)")
    #expect(server.requests.isEmpty && stores.isEmpty)
  }

  @Test func `a name of a list that the file could not have leaves the others`() async throws {
    let name = String(repeating: "n", count: 256)
    let url = server.url("/a")
    let list = try folder.makeFile("list", "\(url)?1\n  out=\(name)\n\(url)\n  out=b\n")
    let result = try await aria2c(["-d", "w", "-i", list])
    #expect(result.status == 28 && result.messages.contains("list:1: "), "\(result.messages)")
    #expect(try folder.names(in: "w") == ["b"])
  }

  @Test func `two URLs that differ only in their bytes are two files`() async throws {
    server.route("*", Resource(.text("x")))
    let urls = ["\u{E9}", "e\u{301}"].map { server.url("/\($0)") }
    let list = try folder.makeFile("list", "\(urls[0])\n  out=one\n\(urls[1])\n  out=two\n")
    let result = try await aria2c(["-c", "--allow-overwrite=true", "-d", "w", "-i", list])
    #expect(result.status == 0, "\(result.messages)")
    #expect(try folder.names(in: "w") == ["one", "two"])
  }

  @Test(arguments: [".x", " x ", "x\u{200D}."])
  func `a name that is not a safe one is said`(name: String) async throws {
    let result = try await aria2c(["-d", "w", "-o", name, server.url("/a")])
    #expect(result.status == 0, "\(result.messages)")
    #expect(result.messages.contains("renamed \(folder.path("w/x")) to "), "\(result.messages)")
    #expect(try folder.names(in: "w") == [name])
    let quiet = try await aria2c(["-q", "-d", "q", "-o", name, server.url("/a")])
    #expect(quiet.status == 0 && quiet.messages.isEmpty, "\(quiet.messages)")
    #expect(try folder.names(in: "q") == [name])
  }

  @Test func `a document cannot name a hidden file`() async throws {
    let document = """
      <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name=".x"><url>\(server.url("/a"))</url>
      </file></metalink>
      """
    _ = try folder.makeFile("document.meta4", document)
    let result = try await aria2c(["-d", "w", "-M", "document.meta4"])
    #expect(result.status == 0, "\(result.messages)")
    #expect(try folder.names(in: "w") == ["x"])
  }

  // MARK: The rename at the end

  private func destination(
    _ name: String,
    collision: NameCollision = .number
  ) -> Aria2Downloads.Destination {
    Aria2Downloads.Destination(
      path: folder.path(name),
      safeName: "x",
      collision: collision,
      isNameGiven: true,
      isContinued: false,
      isQuiet: true
    )
  }

  @Test func `a file with a number gets the name of the caller if that is free`() throws {
    let finished = try folder.makeFile("x (2)", "new")
    #expect(destination("x").place(finished, isShared: true) == .renamed)
    #expect(try folder.names() == ["x (2)"])
    #expect(destination("x").place(finished, isShared: false) == .placed)
    #expect(try folder.names() == ["x"])
  }

  #if os(Linux)
    @Test func `a name that differs from that of the caller only in its bytes is changed`() throws {
      let finished = try folder.makeFile("\u{E9}", "new")
      #expect(destination("e\u{301}").place(finished, isShared: false) == .placed)
      #expect(try folder.names().map { Array($0.utf8) } == [Array("e\u{301}".utf8)])
    }
  #endif

  @Test func `a file with a number replaces no file`() throws {
    let finished = try folder.makeFile("x (2)", "new")
    _ = try folder.makeFile("x", "theirs")
    for collision in [NameCollision.number, .replace] {
      let destination = destination("x", collision: collision)
      #expect(destination.place(finished, isShared: false) == .renamed)
    }
    #expect(try folder.names() == ["x", "x (2)"])
  }

  @Test func `a file that cannot get the name of the caller fails the call`() throws {
    let finished = try folder.makeFile("x", "new")
    #expect(destination("none/.x").place(finished, isShared: false) == .failed)
    _ = try folder.makeFile(".x", "theirs")
    #expect(destination(".x").place(finished, isShared: false) == .renamed)
    #expect(destination(".x", collision: .fail).place(finished, isShared: false) == .refused)
    #expect(try folder.names() == [".x"])
  }
}
