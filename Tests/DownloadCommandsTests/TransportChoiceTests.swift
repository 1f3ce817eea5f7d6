import ArgumentParser
import Testing

@testable import DownloadCommands

@Suite struct TransportChoiceTests {
  @Test(arguments: TransportChoice.allCases)
  func `a transport that is not built in is a usage error`(
    _ choice: TransportChoice
  ) throws {
    let arguments = ["--transport", choice.rawValue]
    guard !TransportChoice.available.contains(choice) else {
      return #expect(try RunCommand.parse(arguments).limits.transport == choice)
    }
    let error = try #require(throws: (any Error).self) { try RunCommand.parse(arguments) }
    #expect(RunCommand.exitCode(for: error).rawValue == 64)
    #expect(RunCommand.message(for: error).contains("--traits AsyncHTTPClient"))
  }

  @Test func `URLSession is built in and the default`() throws {
    #expect(TransportChoice.available.first == .urlSession)
    #expect(try RunCommand.parse([]).limits.transport == .urlSession)
  }

  @Test func `an unknown transport is rejected`() {
    #expect(throws: (any Error).self) { try RunCommand.parse(["--transport", "carrier-pigeon"]) }
  }
}
