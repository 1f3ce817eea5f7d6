import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

@Suite(.timeLimit(.minutes(10)))
struct UserCommandTests {
  @Test func `a command receives the input and the variables, and returns its output`() async throws
  {
    let end = try await UserCommand(text: "cat; printf %s \"$EXTRA\"; exit 3")
      .run(input: "a\nb", variables: ["EXTRA": "$(id) `id` ;"], capturesOutput: true)
    #expect(end.end == .exited(3) && !end.isSuccess)
    #expect(end.description == "exited with 3")
    #expect(String(decoding: end.output, as: UTF8.self) == "a\nb$(id) `id` ;")
  }

  @Test func `a command need not read its input`() async throws {
    let input = String(repeating: "x", count: 1 << 20)
    let end = try await UserCommand(text: "exit 0").run(input: input, variables: [:])
    #expect(end.isSuccess)
  }

  @Test func `a command inherits no file but the standard descriptors`() async throws {
    let folder = try TemporaryFolder()
    let file = open(try folder.makeFile("a", "a"), O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    let end = try await UserCommand(text: "ls /proc/self/fd")
      .run(input: "", variables: [:], capturesOutput: true)
    let descriptors = String(decoding: end.output, as: UTF8.self).split(separator: "\n")
    // 3 is the folder that `ls` reads.
    #expect(descriptors == ["0", "1", "2", "3"])
  }

  @Test func `the signals that this process ignores have their default action`() async throws {
    let end = try await UserCommand(text: "kill -PIPE $$; exit 4").run(input: "", variables: [:])
    #expect(end.end == .signalled(SIGPIPE))
  }

  @Test func `output beyond the limit is dropped`() async throws {
    let end = try await UserCommand(text: "yes")
      .run(input: "", variables: [:], capturesOutput: true)
    #expect(end.output.count == UserCommand.outputLimit)
    #expect(end.end != .exited(0))
  }

  @Test func `a cancelled command ends with all processes of its group`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("pid")
    let task = Task {
      try await UserCommand(text: "sleep 300 & echo $! > \(path).new; mv \(path).new \(path); wait")
        .run(input: "", variables: [:])
    }
    while !FileManager.default.fileExists(atPath: path) {
      try await Task.sleep(for: .milliseconds(5))
    }
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let child = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    task.cancel()
    #expect(try await task.value.end == .signalled(SIGTERM))
    while kill(child, 0) == 0, !Self.isZombie(child) { try await Task.sleep(for: .milliseconds(5)) }
  }

  @Test func `a process in the background that keeps the output open is not waited for`()
    async throws
  {
    let end = try await UserCommand(text: "sleep 300 & echo $!; echo answer")
      .run(input: "", variables: [:], capturesOutput: true)
    let lines = String(decoding: end.output, as: UTF8.self).split(separator: "\n")
    let child = try #require(lines.first.flatMap { pid_t($0) })
    defer { kill(child, SIGKILL) }
    #expect(end.isSuccess && lines.last == "answer")
    // It may be meant to go on.
    #expect(kill(child, 0) == 0)
  }

  @Test func `a long output is read to its end, although the command ends at once`() async throws {
    let end = try await UserCommand(text: "head -c 60000 /dev/zero")
      .run(input: "", variables: [:], capturesOutput: true)
    #expect(end.isSuccess && end.output.count == 60_000)
  }

  /// The shell ends on SIGTERM; the process that it started ignores it.
  @Test func `a process that ignores the end of its group is killed before the command returns`()
    async throws
  {
    let folder = try TemporaryFolder()
    let path = folder.path("pid")
    let task = Task {
      try await UserCommand(
        text: "(trap '' TERM; sleep 300) & echo $! > \(path).new; mv \(path).new \(path); wait"
      )
      .run(input: "", variables: [:])
    }
    while !FileManager.default.fileExists(atPath: path) {
      try await Task.sleep(for: .milliseconds(5))
    }
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let child = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    task.cancel()
    #expect(try await task.value.end == .signalled(SIGTERM))
    while kill(child, 0) == 0, !Self.isZombie(child) { try await Task.sleep(for: .milliseconds(5)) }
  }

  private static func isZombie(_ process: pid_t) -> Bool {
    let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    return text?.contains(") Z ") ?? true
  }
}
