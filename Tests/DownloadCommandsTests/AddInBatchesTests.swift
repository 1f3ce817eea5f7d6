import CommandTestSupport
import DownloadStore
import Foundation
import ObjectStore
import SystemInterface
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// `add --input-file` with more lines than one transaction stores.
@Suite(.timeLimit(.minutes(10)))
struct AddInBatchesTests {
  private let folder: TemporaryFolder
  private let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  private static func url(_ number: Int) -> String { "http://h.example/f/\(number).bin" }

  private func list(_ urls: [String]) throws -> String {
    try folder.makeFile("list", urls.joined(separator: "\n"))
  }

  private func records() throws -> [DownloadRecord] {
    try RecordStore(at: store, access: .readOnly).records()
  }

  @Test func `a URL repeated in the same and in another batch is one known download`() async throws
  {
    let count = RequestSource.batchSize + 10
    var urls = (0..<count).map(Self.url)
    urls.insert(Self.url(1), at: 3)
    urls.append(Self.url(2))
    let result = await dlstore("--store", store, "add", "--input-file", try list(urls))
    #expect(result.status == .done)
    let words = result.lines.map { $0.split(separator: " ")[1] }
    #expect(words.count == urls.count)
    #expect(words.indices.filter { words[$0] == "known" } == [3, urls.count - 1])
    #expect(try records().count == count)
  }

  @Test func `two checksums of one URL are a mistake that names both lines, also across batches`()
    async throws
  {
    func lines(_ number: Int, _ digit: String, _ algorithm: String = "sha-256") -> String {
      let length = algorithm == "md5" ? 32 : 64
      let digest = String(repeating: digit, count: length)
      return "\(Self.url(number))\n checksum=\(algorithm)=\(digest)"
    }
    let first = [lines(0, "a"), lines(1, "a"), lines(0, "A"), lines(0, "b"), lines(1, "c", "md5")]
    let rest = (2..<RequestSource.batchSize).map(Self.url)
    let path = try list(first + rest + [lines(1, "d"), lines(1, "a")])
    let added = await dlstore("--store", store, "add", "--input-file", path)
    #expect(added.status == .failed)
    let message = "skipped: line 1 has another checksum of this URL\n"
    #expect(added.messages.contains("\(path):7: \(message)"), "\(added.messages)")
    let last = 2 * first.count + rest.count + 1
    let other = "skipped: line 3 has another checksum of this URL\n"
    #expect(added.messages.contains("\(path):\(last): \(other)"))
    // The same checksum in other digits, and one of another algorithm, are no contradictions.
    #expect(added.messages.components(separatedBy: "another checksum").count == 3)
    let digests = try records().filter { [Self.url(0), Self.url(1)].contains($0.url) }
      .map(\.expectedDigest)
    #expect(digests == [0, 1].map { _ in "sha256:" + String(repeating: "a", count: 64) })
  }

  @Test func `the strongest of several checksums of a file counts, whatever their order`()
    async throws
  {
    let url = Self.url(0)
    let strong = "sha-256=" + String(repeating: "a", count: 64)
    let weak = "md5=" + String(repeating: "b", count: 32)
    var commands: [[String]] = []
    for (index, checksums) in [[strong, weak], [weak, strong]].enumerated() {
      let lines = checksums.map { " checksum=\($0)" }
      for (form, list) in [[url] + lines, [url, lines[0], url, lines[1]]].enumerated() {
        let path = try folder.makeFile("list-\(index)-\(form)", list.joined(separator: "\n"))
        commands.append(["add", "--input-file", path])
        commands.append(["import", path, "--format", "aria2"])
      }
      commands.append(["add", url] + checksums.flatMap { ["--checksum", $0] })
    }
    for (index, words) in commands.enumerated() {
      let store = folder.path("store-\(index)")
      let result = await dlstore(["--store", store] + words)
      #expect(result.status == .done, "\(words): \(result.messages)")
      let records = try RecordStore(at: store, access: .readOnly).records()
      #expect(
        records.map(\.expectedDigest) == ["sha256:" + String(repeating: "a", count: 64)],
        "\(words)"
      )
    }
  }

  @Test func `two different checksums of one algorithm for a file are a mistake`() async throws {
    let checksums = ["a", "b"].map { "sha-256=" + String(repeating: $0, count: 64) }
    let lines = checksums.map { " checksum=\($0)" }
    let path = try list([Self.url(0)] + lines + [Self.url(1)])
    let added = await dlstore("--store", store, "add", "--input-file", path)
    #expect(added.status == .failed)
    let message = "two different sha256 checksums are given for one file"
    #expect(added.messages.contains("\(path):3: \(message)"), "\(added.messages)")
    #expect(try records().map(\.url) == [Self.url(1)])
    let options = checksums.flatMap { ["--checksum", $0] }
    let one = await dlstore(["--store", store, "add", Self.url(2)] + options)
    #expect(one.status == .usage && one.messages.contains(message), "\(one.messages)")
  }

  @Test func `thousands of URLs may be arguments, with options between them`() async throws {
    let urls = (0..<6_000).map(Self.url)
    let options = ["--tag", "a", "--priority", "-5"]
    var words = ["add", "--store", store, "-q"] + urls
    words.insert(contentsOf: options, at: 3_000)
    // The parser takes time in the square of the number of its words.
    #expect(PositionalWords.joined(words).count < 20)
    let result = await dlstore(words)
    #expect(result.status == .done, "\(result.messages)")
    let records = try records()
    #expect(Set(records.map(\.url)) == Set(urls) && records.count == urls.count)
    #expect(records.allSatisfy { $0.priority == -5 && $0.tags == ["a"] })
  }

  @Test func `many names are those of a short command line`() throws {
    let many = (0..<PositionalWords.longestLine).map { "file \($0)" } + ["", "é", "a=b"]
    func names(_ words: [String]) throws -> [String]? {
      (try DLStoreCommand.command(of: ["set", "--store", store] + words) as? SetCommand)?.names
    }
    #expect(try names(many + ["-q", "b", "--type", "c", "d", "-"]) == many + ["b", "d", "-"])
    #expect(try names(["--type=c", "--"] + many + ["-q", "--", "e"]) == many + ["-q", "--", "e"])
    #expect(try names(["--tag", "x", "a"]) == ["a"])
  }

  @Test func `a line without use in a later batch is reported, and the others are stored`()
    async throws
  {
    let count = RequestSource.batchSize + 2
    var urls = (0..<count).map(Self.url)
    urls.append(" all-proxy=p\nftp://h.example/x\n all-proxy=p\nhttp://h.example/last")
    let path = try list(urls)
    let result = await dlstore("--store", store, "add", "--input-file", path)
    #expect(result.status == .failed)
    #expect(result.messages.contains("\(path):\(count + 2): 'ftp://h.example/x' does not begin"))
    #expect(
      result.messages.contains("\(path):\(count + 1): skipped the unsupported option 'all-proxy'\n")
    )
    #expect(try records().count == count + 1)
  }

  @Test func `URLs with the same file name are numbered across batches without gaps`() async throws
  {
    let count = RequestSource.batchSize + 50
    let urls = (0..<count).map { "http://h.example/\($0)/get" }
    let result = await dlstore("--store", store, "add", "--input-file", try list(urls))
    #expect(result.status == .done)
    let names = Set(try records().map(\.filename))
    #expect(names == Set(["get"] + (2...count).map { "get (\($0))" }))
  }

  @Test func `each batch is one transaction`() async throws {
    let count = 2 * RequestSource.batchSize + 1
    // Open during the command, which would otherwise compact the store: that skips a number.
    let open = try RecordStore(at: store)
    let before = try open.objects.commitNumber()
    _ = await dlstore(
      "--store",
      store,
      "add",
      "--input-file",
      try list((0..<count).map(Self.url))
    )
    #expect(try open.objects.commitNumber() == before + 3)
  }

  @Test func `a kill keeps a prefix in whole batches, and repeating adds the rest`() async throws {
    let count = 3 * RequestSource.batchSize
    let urls = (0..<count).map(Self.url)
    let path = try list(urls)
    var random = SplitMix64(seed: 5)
    var stored = 0
    for _ in 0..<2 {
      let process = try DLStoreProcess(
        ["add", "--input-file", path],
        store: store,
        in: folder.path
      )
      // The moment of the kill is random, after the first batch.
      try await process.wait { process.output.contains("\n") || !process.isRunning }
      try await Task.sleep(for: .milliseconds(Int.random(in: 0...300, using: &random)))
      process.send(SIGKILL)
      #expect([0, 128 + SIGKILL].contains(try await process.status()))
      let printed = process.output.split(separator: "\n", omittingEmptySubsequences: false)
        .dropLast().map { String($0.prefix(16)) }
      let records = try records()
      #expect(records.count >= stored && records.count.isMultiple(of: RequestSource.batchSize))
      stored = records.count
      #expect(Set(records.map(\.url)) == Set(urls.prefix(stored)))
      #expect(Set(records.map(\.id)).isSuperset(of: printed))
      #expect(try await DLStoreProcess.run("verify", store: store).status == 0)
    }
    let result = await dlstore("--store", store, "add", "--input-file", path)
    #expect(result.status == .done && result.lines.count == count)
    #expect(result.lines.count { $0.contains("  known  ") } == stored)
    #expect(try records().count == count)
  }
}
