import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import DownloadSync

@Suite(.timeLimit(.minutes(10))) struct EngineLockTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func text() throws -> String {
    try String(contentsOfFile: folder.path + "/engine.lock", encoding: .utf8)
  }

  @Test func `a process has one engine per store`() throws {
    let lock = try EngineLock(storePath: folder.path)
    let error = #expect(throws: EngineError.self) { try EngineLock(storePath: folder.path) }
    #expect(error?.code == .alreadyRunning)
    #expect(error?.message.contains("process \(getpid())") == true)
    #expect(error?.message.contains(folder.path) == true)
    withExtendedLifetime(lock) {}
  }

  @Test func `two stores can have an engine each`() throws {
    let other = try TemporaryFolder()
    let locks = [
      try EngineLock(storePath: folder.path), try EngineLock(storePath: other.path),
    ]
    #expect(locks.count == 2)
  }

  @Test func `a released engine's store can be locked again`() throws {
    for _ in 0..<3 {
      let lock = try EngineLock(storePath: folder.path)
      #expect(try text() == "process \(getpid())\n")
      withExtendedLifetime(lock) {}
    }
    // A process that reads the file between the end of the engine and that of the lock finds a name.
    #expect(try text() == "process \(getpid())\n")
    #expect(EngineLock.holder(storePath: folder.path) == nil)
  }

  @Test func `an engine that runs all downloads says so`() throws {
    #expect(EngineLock.holderForAll(storePath: folder.path) == nil)
    do {
      let lock = try EngineLock(storePath: folder.path)
      #expect(EngineLock.holderForAll(storePath: folder.path) == nil)
      withExtendedLifetime(lock) {}
    }
    let lock = try EngineLock(storePath: folder.path, runsAll: true)
    #expect(EngineLock.holderForAll(storePath: folder.path) == "process \(getpid())")
    #expect(EngineLock.holder(storePath: folder.path) == "process \(getpid())")
    withExtendedLifetime(lock) {}
  }

  @Test func `a missing folder cannot be locked`() {
    let error = #expect(throws: EngineError.self) {
      try EngineLock(storePath: folder.path + "/none")
    }
    #expect(error?.code == .cannotLock)
  }

  @Test(arguments: ["link", "hard link", "pipe", "folder", "dangling link"])
  func `nothing but the program's own file is opened as a lock`(kind: String) throws {
    let path = folder.path("engine.lock")
    let victim = try folder.makeFile("victim", "precious")
    switch kind {
    case "link": #expect(unsafe symlink(victim, path) == 0)
    case "dangling link": #expect(unsafe symlink(folder.path("created"), path) == 0)
    case "hard link": #expect(link(victim, path) == 0)
    case "pipe": #expect(unsafe mkfifo(path, 0o600) == 0)
    default: #expect(mkdir(path, 0o700) == 0)
    }
    let error = #expect(throws: EngineError.self) { try EngineLock(storePath: folder.path) }
    #expect(error?.code == .cannotLock && error?.message.contains(path) == true)
    #expect(EngineLock.holder(storePath: folder.path) == nil)
    #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
    #expect(!FileManager.default.fileExists(atPath: folder.path("created")))
  }

  @Test func `a file system without locks is no other engine`() {
    let error = EngineLock.error(ENOLCK, storePath: "/store", holder: "")
    #expect(error.code == .cannotLock)
    #expect(error.message.contains("/store/engine.lock") && !error.message.contains("another"))
    #expect(EngineLock.error(EWOULDBLOCK, storePath: "/", holder: "").code == .alreadyRunning)
  }

  @Test func `another process is refused, and the error names the lock's holder`() async throws {
    let lock = try EngineLock(storePath: folder.path)
    let holder = "process \(getpid())"
    await #expect(processExitsWith: .success) {
      [path = folder.path as String, holder = holder as String] in
      let error = #expect(throws: EngineError.self) { try EngineLock(storePath: path) }
      #expect(error?.code == .alreadyRunning)
      #expect(error?.message.contains(holder) == true)
    }
    withExtendedLifetime(lock) {}
  }

  @Test func `the lock of a process is released when the process is killed`() async throws {
    let path = folder.path
    async let child: Void = {
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        let lock = try EngineLock(storePath: path)
        makeFile(path + "/holding")
        waitForFile(path + "/seen")
        withExtendedLifetime(lock) { _ = kill(getpid(), SIGKILL) }
      }
    }()
    await waitUntilExists(path + "/holding")
    let error = #expect(throws: EngineError.self) { try EngineLock(storePath: path) }
    #expect(error?.code == .alreadyRunning)
    #expect(error?.message.contains("process \(getpid())") == false)
    makeFile(path + "/seen")
    await child
    _ = try EngineLock(storePath: path)
  }

  /// With a data file, as each store has one.
  @Test(arguments: ["deleted", "replaced"])
  func `an engine whose lock file was deleted or replaced still excludes another process`(
    kind: String
  ) async throws {
    try folder.makeFile("data.mdb", "")
    let lock = try EngineLock(storePath: folder.path)
    try FileManager.default.removeItem(atPath: folder.path("engine.lock"))
    if kind == "replaced" { try folder.makeFile("engine.lock", "") }
    #expect(EngineLock.holder(storePath: folder.path)?.contains("was deleted or replaced") == true)
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      for _ in 0..<2 {
        let error = #expect(throws: EngineError.self) { try EngineLock(storePath: path) }
        #expect(error?.code == .alreadyRunning)
      }
    }
    withExtendedLifetime(lock) {}
  }

  @Test func `the lock on the data file ends with the engine`() throws {
    try folder.makeFile("data.mdb", "")
    for _ in 0..<3 { withExtendedLifetime(try EngineLock(storePath: folder.path)) {} }
    #expect(EngineLock.holder(storePath: folder.path) == nil)
  }

  #if os(Linux)
    /// A copy of the descriptor stands for a child that another thread is starting: it has one until
    /// `exec`.
    @Test func `the lock ends with the engine although a child that starts has its descriptor`()
      throws
    {
      try folder.makeFile("data.mdb", "")
      let copy: Int32
      do {
        let lock = try EngineLock(storePath: folder.path)
        let own = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
          .compactMap { Int32($0) }
          .first { descriptor in
            let target = try? FileManager.default
              .destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
            return target == folder.path("engine.lock")
          }
        copy = dup(try #require(own))
        withExtendedLifetime(lock) {}
      }
      defer { close(copy) }
      _ = try EngineLock(storePath: folder.path, patience: .zero)
    }
  #endif

  @Test(.enabled(if: geteuid() == 0, "changing the owner of a file needs root"))
  func `a lock belongs to the owner of the folder, and not to a third user`() throws {
    let path = folder.path("engine.lock")
    #expect(unsafe chown(folder.path, 65_533, 65_533) == 0)
    withExtendedLifetime(try EngineLock(storePath: folder.path)) {}
    var status = stat()
    #expect(unsafe stat(path, &status) == 0 && status.st_uid == 65_533)
    #expect(status.st_mode & 0o777 == 0o600)
    // The owner's file is used again.
    withExtendedLifetime(try EngineLock(storePath: folder.path)) {}
    #expect(unsafe chown(path, 65_532, 65_532) == 0)
    let error = #expect(throws: EngineError.self) { try EngineLock(storePath: folder.path) }
    #expect(error?.message.contains("another user") == true)
  }

  #if os(Linux)
    /// On a busy machine the last threads of a killed process end long after the first.
    @Test func `a lock holder whose main thread has ended is waited for`() async throws {
      let program = """
        import ctypes, fcntl, os, sys, threading, time
        file = open(sys.argv[1], "w")
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(f"process {os.getpid()}\\n")
        file.flush()
        def last():
            state = "?"
            while state != "Z":
                state = open(f"/proc/{os.getpid()}/stat").read().rsplit(")", 1)[1].split()[0]
            open(sys.argv[2], "w").close()
            time.sleep(1)
            os._exit(0)
        threading.Thread(target=last).start()
        ctypes.CDLL(None).pthread_exit(None)
        """
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = [
        "python3", "-c", program, folder.path + "/engine.lock", folder.path + "/holding",
      ]
      try process.start()
      await waitUntilExists(folder.path + "/holding")
      _ = try EngineLock(storePath: folder.path)
      try await process.waitForEnd()
      #expect(process.terminationStatus == 0)
    }
  #endif
}
