import DownloadStore
import Foundation
import ObjectStore
import Testing

/// The fields of the state machine are assigned in one folder.
@Suite struct TransitionOwnershipTests {
  private static let owner = "DownloadStore/Records/StateMachine/"

  /// Assignments to a field of the same name of another type, or of a copy that is never committed.
  private static let exceptions = [
    "progress.received", "progress.expected", "given.resumeData", "request.resumeData",
    "unusable.resumeData", "task.state", "state.withLock", "request.validatorOrigin",
    "waiting.expected",
    "download.record.verifiedDigest", "requests[index].notBefore", "update.notBefore",
    "request.notBefore", "$0.state = word", "$0.state = \"failed\"",
  ]

  /// The transports, which have fields of the same names but no records.
  private static let transports = [
    "DownloadAsyncHTTPClient/", "DownloadSimulation/", "DownloadURLSession/",
  ]

  private static let fields = [
    "state", "intent", "failedAttempts", "attempts", "generation", "unresolvedStarts",
    "nextRetryAt", "isHeld", "startsImmediately", "resolvedBytes", "received", "expected",
    "entityTag", "lastModified", "resumeData", "fileIdentity", "replacedFileIdentity",
    "removesFile", "completedAt", "verifiedDigest", "pendingHooks", "notBefore", "ranges",
    "partialWrittenAt", "hasForeignFile", "partialIdentity", "validatorOrigin", "refreshed",
    "checkedAt", "refreshDates",
  ]

  @Test func `one function changes the state and the intent`() throws {
    let folder = URL(filePath: #filePath).appending(path: "../../../../Sources/" + Self.owner)
      .standardized
    let assignment = try Regex(#"(?:^|[ (.])(?:state|intent)(?:, intent\))? = "#)
    var files: [String] = []
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
      for line in text.split(separator: "\n") {
        guard let match = line.firstMatch(of: assignment) else { continue }
        // A position is made of both.
        let isDeclaration = line[..<match.range.lowerBound].hasSuffix("let")
        if !line.contains("self."), !isDeclaration { files.append(name) }
      }
    }
    #expect(files == ["DownloadRecord+Apply.swift"])
  }

  @Test(arguments: fields) func `a field of the state machine is one of the record`(name: String) {
    #expect(DownloadRecord.schema.fields.contains { $0.name == name })
  }

  @Test func `no other file of the sources assigns a field of the state machine`() throws {
    let assignment = try Regex(
      #"[A-Za-z0-9_$?!\]]+\.(?:"# + Self.fields.joined(separator: "|") + #") (?:\+|-)?= "#
    )
    let root = URL(filePath: #filePath).appending(path: "../../../../Sources").standardized
    let files = try #require(FileManager.default.enumerator(atPath: root.path))
    var count = 0
    for case let path as String in files where path.hasSuffix(".swift") {
      guard path.hasPrefix("Download"), !path.hasPrefix(Self.owner),
        !Self.transports.contains(where: path.hasPrefix)
      else { continue }
      count += 1
      let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
      for line in text.split(separator: "\n") {
        guard let match = line.firstMatch(of: assignment), !line[match.range].hasPrefix("self."),
          !Self.exceptions.contains(where: line.contains)
        else { continue }
        Issue.record("\(path): \(line)")
      }
    }
    #expect(count > 100)
  }
}
