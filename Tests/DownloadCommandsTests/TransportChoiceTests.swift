import ArgumentParser
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

@Suite struct TransportChoiceTests {
  @Test(arguments: TransportChoice.allCases)
  func `a transport that is not built in is a usage error`(
    _ choice: TransportChoice
  ) throws {
    let arguments = ["--transport", choice.rawValue]
    guard !TransportChoice.available.contains(choice) else {
      return #expect(try RunCommand.parse(arguments).limits.client.transport == choice)
    }
    let error = try #require(throws: (any Error).self) { try RunCommand.parse(arguments) }
    #expect(RunCommand.exitCode(for: error).rawValue == 64)
    #expect(RunCommand.message(for: error).contains("--traits AsyncHTTPClient"))
  }

  @Test func `AsyncHTTPClient is the default on Linux if it is built in, else URLSession`() throws {
    #expect(TransportChoice.available.contains(.urlSession))
    #if os(Linux)
      let isBuiltIn = TransportChoice.available.contains(.asyncHTTPClient)
    #else
      let isBuiltIn = false
    #endif
    let standard: TransportChoice = isBuiltIn ? .asyncHTTPClient : .urlSession
    #expect(try RunCommand.parse([]).limits.client.transport == standard)
    #expect(try GetCommand.parse(["http://h/a"]).limits.client.transport == standard)
  }

  @Test func `the version names each transport that is built in, and the default`() {
    let lines = Version.text.split(separator: "\n")
    #expect(lines.count == 2 && lines.first == "dlstore \(Version.number)")
    for choice in TransportChoice.allCases {
      let isNamed = lines.last?.contains(choice.rawValue)
      #expect(isNamed == TransportChoice.available.contains(choice))
    }
    #expect(lines.last?.contains("\(TransportChoice.standard.rawValue) (default)") == true)
  }

  @Test func `an unknown transport is rejected`() {
    #expect(throws: (any Error).self) { try RunCommand.parse(["--transport", "carrier-pigeon"]) }
  }
}
