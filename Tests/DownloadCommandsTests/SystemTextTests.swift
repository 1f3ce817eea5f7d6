#if os(Linux)
  import FaultServer
  import Foundation
  import SystemInterface
  import TestSupport
  import Testing

  /// Names and values of the system that are not UTF-8.
  ///
  /// Foundation replaces their bytes by U+FFFD, and the result is the name of another file.
  @Suite(.timeLimit(.minutes(10)))
  struct SystemTextTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Runs the program in a new folder whose name is not UTF-8, and prints the status, the number of
    /// files in that folder, and the number of files beside it.
    private func dlstore(
      inByteFolder words: String
    ) async throws -> (output: String, messages: String) {
      let result = try await DLStoreProcess.run(
        store: folder.path("store"),
        in: folder.path,
        shell: """
          mkdir "$(printf 'caf\\351')" && cd "$(printf 'caf\\351')" && dlstore \(words) > /dev/null
          status=$?
          echo "$status $(ls -A | wc -l) $(ls -A .. | wc -l)"
          """
      )
      return (result.output, result.messages)
    }

    @Test(arguments: [
      "get -q http://127.0.0.1:1/a", "aria2c -q http://127.0.0.1:1/a",
      "--store s add -q http://127.0.0.1:1/a", "export -o e.jsonl", "backup copy", "list",
    ])
    func `a current folder whose path is not UTF-8 is refused`(words: String) async throws {
      let result = try await dlstore(inByteFolder: words)
      #expect(result.output == "64 0 1\n")
      #expect(
        result.messages
          == "dlstore: the path of the current folder is not valid UTF-8: change to another folder\n"
      )
    }

    @Test(arguments: ["--help", "get --help", "help get", "--version"])
    func `help is printed also in a folder whose path is not UTF-8`(words: String) async throws {
      let result = try await dlstore(inByteFolder: words)
      #expect(result.output == "0 0 1\n", "\(result.messages)")
    }

    @Test func `a deleted current folder is not refused by itself`() async throws {
      let result = try await DLStoreProcess.run(
        store: folder.path("store"),
        in: folder.path,
        shell: "mkdir gone && cd gone && rmdir ../gone && dlstore list"
      )
      #expect(result.status == 66, "\(result.messages)")
    }

    @Test(arguments: [
      "DLSTORE_STORE", "DLSTORE_OUTPUT_FOLDER", "DLSTORE_USER_AGENT", "DLSTORE_ON_COMPLETE", "HOME",
      "XDG_DATA_HOME", "XDG_CONFIG_HOME", "TMPDIR", "http_proxy",
    ])
    func `a variable that the program reads and that is not UTF-8 is refused`(
      name: String
    ) async throws {
      let result = try await DLStoreProcess.run(
        store: folder.path("store"),
        in: folder.path,
        shell: """
          \(name)="$PWD/$(printf 's\\351')" dlstore add -q http://127.0.0.1:1/a
          """
      )
      #expect(result.status == 64)
      #expect(
        result.messages == "dlstore: the environment variable \(name) is not valid UTF-8\n"
      )
      #expect(try folder.names().isEmpty)
    }

    @Test func `a command of the user gets the other variables byte for byte`() async throws {
      let server = try FaultServer()
      defer { server.stop() }
      server.route("/a", Resource(Body.generated(byteCount: 100, seed: 1)))
      let result = try await DLStoreProcess.run(
        store: folder.path("store"),
        in: folder.path,
        shell: """
          OTHER="$(printf 'x\\351y')" dlstore get -q \(server.url("/a")) --on-complete \
            'printf %s "$OTHER" | od -An -tx1 > \(folder.path("bytes"))'
          """
      )
      #expect(result.status == 0, "\(result.messages)")
      let bytes = try String(contentsOfFile: folder.path("bytes"), encoding: .utf8)
      #expect(bytes.split(whereSeparator: \.isWhitespace) == ["78", "e9", "79"])
    }

    @Test func `a link to a folder whose path is not UTF-8 is refused`() async throws {
      let result = try await DLStoreProcess.run(
        store: folder.path("store"),
        in: folder.path,
        shell: """
          mkdir "$(printf 'm\\351')" "$(printf 'm\\357\\277\\275')" && ln -s "$(printf 'm\\351')" link
          dlstore get -q http://127.0.0.1:1/a --output-folder link
          """
      )
      #expect(result.status == 64)
      #expect(result.messages.contains("link leads to a folder whose path is not valid UTF-8"))
    }

    @Test func `the names in a folder are those that a text can have`() async throws {
      let result = try await DLStoreProcess.run(
        store: folder.path("store"),
        in: folder.path,
        shell: "touch a \"$(printf 'b\\351')\""
      )
      #expect(result.status == 0)
      #expect(namesInFolder(folder.path)?.sorted() == [".", "..", "a"])
    }
  }
#endif
