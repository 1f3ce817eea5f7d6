import CommandTestSupport
import Foundation
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

struct CommandLineTextTests {
  @Test func `a URL that is not UTF-8 is requested as its bytes are`() throws {
    let url = Array("HTTPS://h/".utf8) + [0xC9, 0xCC] + Array(".xls?a=%20".utf8)
    #expect(try CommandLineText.argument(url, at: 1) == "HTTPS://h/%C9%CC.xls?a=%20")
    #expect(try CommandLineText.argument(Array("--tag=é".utf8), at: 1) == "--tag=é")
  }

  @Test(
    arguments: [[0xFF], Array("/tmp/".utf8) + [0xE9], Array("http:/".utf8) + [0xE9]] as [[UInt8]]
  )
  func `any other argument that is not UTF-8 is refused`(bytes: [UInt8]) throws {
    let failure = #expect(throws: CommandFailure.self) {
      _ = try CommandLineText.argument(bytes, at: 3)
    }
    #expect(failure?.status == .usage && failure?.message?.contains("argument 3") == true)
  }

  @Test(arguments: [
    ["get", "--pasword", "hush"], ["get", "--token=hush", "http://a/1"],
    ["get", "-u", "me:hush", "http://a/1"],
    ["get", "http://a/1", "--priority", "http://me:hush@a"],
    ["run", "--proxy", "me:hush@a:99999999"], ["run", "--proxy=http://me:hush@a b"],
    ["get", "http://a/1", "--header", "Authorization Bearer hush"],
    ["get", "http://a/1", "--header", "Bearer hush: x"],
    ["get", "-H", "Authorization: Basic hush"],
    ["me:hush@a"], ["get", "http://a/1", "--referer", "me:hush@a"],
    ["get", "http://a/1", "--mirror", "hush", "--checksum", "token=hush"],
  ])
  func `an error of the command line repeats no secret`(arguments: [String]) async throws {
    let folder = try TemporaryFolder()
    // The password that has no name is known by the option before it only.
    let words = arguments.map { $0 == "--pasword" ? "--password" : $0 }
    let result = await dlstore(words + ["--store", folder.path("store")])
    #expect(result.status == .usage, "\(result.messages)")
    #expect(!result.messages.contains("hush"), "\(result.messages)")
  }

  @Test(arguments: ["http://me:hush@a/1", "http://a/1?token=hush"])
  func `a name that selects no download is not repeated with its secrets`(
    name: String
  ) async throws {
    let folder = try TemporaryFolder()
    let store = folder.path("store")
    #expect(await dlstore("--store", store, "add", "http://b/2").status == .done)
    for command in ["list", "inspect", "pause", "cat", "verify-file"] {
      let result = await dlstore("--store", store, command, name)
      #expect(result.status != .done && !result.messages.isEmpty, "\(command)")
      #expect(!result.messages.contains("hush"), "\(result.messages)")
    }
  }

  @Test(arguments: [
    "Authorization: Bearer hush", "me:hush@h/a", "htp:/me:hush@h", "ftp://me:hush@h/",
  ])
  func `a text in the place of a URL is not repeated with its secrets`(text: String) async throws {
    let folder = try TemporaryFolder()
    let list = try folder.makeFile("list", "http://me:hu/sh@h/\nhttp://h/ Bearer:hush\n")
    let store = folder.path("store")
    for words in [["add", text], ["inspect", text], ["add", "--input-file", list]] {
      let result = await dlstore(["--store", store] + words)
      #expect(result.status != .done)
      #expect(
        !result.messages.contains("hush") && !result.messages.contains("hu/sh"),
        "\(result.messages)"
      )
    }
  }

  @Test func `an argument of the program that is not UTF-8 is not changed silently`() async throws {
    let folder = try TemporaryFolder()
    let program = try DLStoreProcess.program.path
    let process = try DLStoreProcess(
      [],
      store: folder.path("store"),
      in: folder.path,
      shell: """
        '\(program)' add "$(printf 'http://127.0.0.1:1/\\311\\314.xls')" && \
        '\(program)' list --format json && '\(program)' add http://a/1 -o "$(printf '\\311')"
        """
    )
    #expect(try await process.status() == 64, "\(process.messages)")
    #expect(process.output.contains("http://127.0.0.1:1/%C9%CC.xls"), "\(process.output)")
    #expect(process.messages.contains("not valid UTF-8"))
  }
}
