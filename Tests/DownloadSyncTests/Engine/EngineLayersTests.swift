import Foundation
import Testing

/// The files of the actor call in one direction.
@Suite struct EngineLayersTests {
  /// The files from top to bottom, as `docs/architecture.md` lists them.
  private static let layers = [
    "", "+Turns", "+StoreChanges", "+Adoption", "+Starts", "+Refreshes", "+Launch",
    "+PartialChecks", "+Completion", "+TransferEnds", "+Reconciliation", "+Connections",
    "+Failures", "+Checkpoints", "+Queue", "+Commits",
  ]

  private static let project = URL(filePath: #filePath).appending(path: "../../../..")
    .standardizedFileURL

  /// The code of each file, without its comments.
  private static func code() throws -> [String] {
    try layers.map { layer in
      let path = "Sources/DownloadSync/Engine/DownloadEngine\(layer).swift"
      let text = try String(contentsOf: project.appending(path: path), encoding: .utf8)
      return text.split(separator: "\n").map { $0.prefix { $0 != "/" } }.joined(separator: "\n")
    }
  }

  @Test func `every file of the actor has a layer`() throws {
    let folder = Self.project.appending(path: "Sources/DownloadSync/Engine")
    let names = try FileManager.default.contentsOfDirectory(
      atPath: folder.path(percentEncoded: false)
    )
    let files = names.filter { $0.hasPrefix("DownloadEngine") }
    #expect(Set(files) == Set(Self.layers.map { "DownloadEngine\($0).swift" }))
  }

  @Test func `a file of the actor calls only files below it`() throws {
    let code = try Self.code()
    var layers: [String: [Int]] = [:]
    for (layer, text) in code.enumerated() {
      for match in text.matches(of: /\n  (?:nonisolated |package |public )*func (\w+)/) {
        layers[String(match.1), default: []].append(layer)
      }
    }
    #expect(layers.count > 50)
    for (layer, text) in code.enumerated() {
      // A call of the actor's own function, not of another value's.
      for match in text.matches(of: /(?:^|[^.\w])(\w+)\s*[({]/) {
        guard let defined = layers[String(match.1)], !defined.contains(layer) else { continue }
        let isBelow = defined.contains { $0 > layer }
        #expect(isBelow, "DownloadEngine\(Self.layers[layer]) calls \(match.1)")
      }
    }
  }
}
