internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadServer
internal import DownloadSync
internal import ObjectStore
internal import SystemInterface

/// Runs the commands of clients in the process of `dlstore serve`.
enum RemoteExecution {
  /// The largest output in bytes, which is kept until the command has ended.
  private static let longestOutput = 64 << 20

  /// Whether the current task runs a command of a client.
  @TaskLocal static var isRunning = false

  /// The bytes of the file that the client has read for the command; `nil` if it has read none.
  @TaskLocal static var input: [UInt8]?

  /// Runs a command line on a store, on a thread of its own: a command waits for disks and for other
  /// writers of the store, and the server and the engine run on the threads of Swift's pool.
  ///
  /// - Parameters:
  ///   - arguments: The words after the program's name.
  ///   - input: The bytes of the file of `--input-file`.
  ///   - path: The path of the store.
  ///   - mayChange: Whether the command may change the store.
  /// - Returns: The output and the exit code.
  static func run(
    _ arguments: [String],
    input: [UInt8]? = nil,
    onStoreAt path: String,
    mayChange: Bool
  ) async -> CommandAnswer {
    let command: RemoteCommand
    do throws(RemoteCommand.Refusal) {
      command = try RemoteCommand(arguments, hasInput: input != nil)
    } catch {
      return refusal(error.message)
    }
    guard mayChange || !command.isChange else {
      return refusal("'\(command.name)' changes the store, so the request must be a POST")
    }
    let words = command.words(onStoreAt: path)
    let collector = Collector()
    let output = Output(
      // The commands in messages do not name the path of the store: it is none of the client's machine.
      program: DLStoreCommand.program(command.arguments),
      data: { try collector.addData($0) },
      messages: { collector.addMessages($0) }
    )
    let task = Task(executorPreference: BlockingExecutor()) {
      await Output.$current.withValue(output) {
        await Terminal.$isDetached.withValue(true) {
          await $isRunning.withValue(true) {
            await $input.withValue(input) { await execute(words, output) }
          }
        }
      }
    }
    let status = await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
    return collector.answer(status)
  }

  private static func execute(_ words: [String], _ output: Output) async -> ExitStatus {
    do {
      return await output.program.status(of: try DLStoreCommand.command(of: words))
    } catch {
      output.draw(TerminalText.safeLines(DLStoreCommand.text(ofParserError: error, words)) + "\n")
      return ExitStatus(rawValue: DLStoreCommand.exitCode(for: error).rawValue) ?? .usage
    }
  }

  private static func refusal(_ message: String) -> CommandAnswer {
    CommandAnswer(status: ExitStatus.usage.rawValue, messages: "dlstore: \(message)\n")
  }

  /// What a command has printed.
  private final class Collector: Sendable {
    // A lock, because a command may print from several tasks.
    private let texts = Mutex<(data: [UInt8], messages: [UInt8])>(([], []))

    func addData(_ bytes: [UInt8]) throws {
      try texts.withLock { texts in
        guard texts.data.count + bytes.count <= longestOutput else {
          throw CommandFailure(
            .inputOutput,
            "the output is longer than \(longestOutput >> 20) MiB: select fewer downloads, or use --limit"
          )
        }
        texts.data += bytes
      }
    }

    func addMessages(_ bytes: [UInt8]) {
      texts.withLock { texts in
        if texts.messages.count < longestOutput { texts.messages += bytes }
      }
    }

    func answer(_ status: ExitStatus) -> CommandAnswer {
      texts.withLock { texts in
        CommandAnswer(
          status: status.rawValue,
          output: String(decoding: texts.data, as: UTF8.self),
          messages: String(decoding: texts.messages, as: UTF8.self)
        )
      }
    }
  }
}
