import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import LMDB

/// The temporary files and folders that a process removes before a signal ends it.
@Suite(.timeLimit(.minutes(10)))
struct UnfinishedWorkTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `a process that is about to end removes its folders and makes no others`() async throws
  {
    let path = folder.path
    await #expect(processExitsWith: .success) { [path = path as String] in
      let unfinished = try NewFileFolder.make(in: path)
      makeFile(unfinished.file)
      let finished = try NewFileFolder.make(in: path)
      finished.unlock()
      UnfinishedWork.abandon()
      let error = #expect(throws: LMDBError.self) { try NewFileFolder.make(in: path) }
      #expect(error?.code == LMDBError.Code(rawValue: ECANCELED))
    }
    let left = try folder.names()
    #expect(left.count == 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path(left[0])).isEmpty)
  }

  @Test func `a process that ends while it makes folders leaves none`() async throws {
    let path = folder.path
    for _ in 0..<20 {
      await #expect(processExitsWith: .exitCode(3)) { [path = path as String] in
        let makers = Thread { while (try? NewFileFolder.make(in: path)) != nil {} }
        makers.start()
        while namesInFolder(path)?.isEmpty != false { usleep(10) }
        UnfinishedWork.abandon()
        _exit(3)
      }
      #expect(try folder.names().isEmpty)
    }
  }

  @Test func `an unfinished folder is removed although its files appear meanwhile`() async throws {
    for _ in 0..<50 {
      let made = try NewFileFolder.make(in: folder.path)
      let files = [made.file, made.path + "/lock.mdb"]
      let creator = inThread {
        var open = true
        while open {
          for file in files {
            let descriptor = SystemInterface.open(file, O_WRONLY | O_CREAT, 0o600)
            open = descriptor >= 0
            if open { _ = close(descriptor) }
          }
        }
      }
      while access(made.file, F_OK) != 0 { sched_yield() }
      made.remove()
      #expect(!FileManager.default.fileExists(atPath: made.path))
      for try await _ in creator {}
    }
  }

  @Test func `a folder with another file stays`() throws {
    let made = try NewFileFolder.make(in: folder.path)
    makeFile(made.file)
    makeFile(made.path + "/other")
    made.remove()
    #expect(try FileManager.default.contentsOfDirectory(atPath: made.path) == ["other"])
  }
}
