internal import FaultServer
internal import SystemInterface

/// `fault-server`: the fault-injecting server as a program, for scripts and kill tests.
@main
enum FaultServerCommand {
  static func main() {
    do {
      let options = try Options(CommandLine.arguments.dropFirst())
      for file in options.written { try file.body.write(toFile: file.name) }
      if options.serves { try serve(options) }
    } catch let error as UsageError {
      complain("fault-server: \(error.message)\n\(Options.usage)")
      exit(64)  // EX_USAGE
    } catch {
      complain("fault-server: \(error)")
      exit(1)
    }
  }

  private static func serve(_ options: Options) throws {
    let log = try options.log.map { try LineLog(path: $0) }
    let server = try FaultServer(port: options.port) { event in
      log?.append(line(for: event))
    }
    for file in options.served {
      var resource = Resource(file.body, etag: "\"\(file.seed)-\(file.body.byteCount)\"")
      resource.bytesPerSecond = options.bytesPerSecond
      if let bytes = options.resetEvery {
        resource.faults = [.resetEvery(bytes: bytes)]
        if let stall = options.stall, stall.name == file.name {
          resource.faults.insert(
            contentsOf: [.resetAfter(bytes: bytes), .stallAfter(bytes: stall.byteCount)],
            at: 0
          )
        }
      }
      server.route("/\(file.name)", resource)
    }
    writeLine("listening on http://127.0.0.1:\(server.port)", to: STDOUT_FILENO)
    // The server runs until a signal ends the process.
    withExtendedLifetime(server) {
      while true { pause() }
    }
  }

  private static func line(for event: FaultServer.Event) -> String {
    switch event {
    case .received(let request, let status):
      "\(request.method) \(request.target) range=\(request["Range"] ?? "-") status=\(status)"
    case .delivered(let delivery):
      "SENT \(delivery.target) from=\(delivery.from) bytes=\(delivery.bytesSent)"
    }
  }

  private static func complain(_ message: String) {
    writeLine(message, to: STDERR_FILENO)
  }
}
