import Foundation
import LMDB
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct MultipleProcessTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test func `concurrent increments from four processes lose no update`() async throws {
    let path = folder.path
    await withTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          await #expect(processExitsWith: .success) { [path = path as String] in
            let environment = try Environment.open(path)
            let database = try environment.database("counters")
            for _ in 0..<100 {
              try environment.write { transaction in
                let count = Int(try transaction.string(for: "n", in: database) ?? "0") ?? -1
                try transaction.put("\(count + 1)", for: "n", in: database)
              }
            }
          }
        }
      }
    }
    let environment = try Environment.open(path)
    let database = try environment.database("counters")
    #expect(try environment.string(for: "n", in: database) == "400")
  }

  @Test func `SIGKILL inside a write transaction discards it and releases the lock`() async throws {
    let environment = try Environment.open(folder.path)
    let database = try environment.database("strings")
    try environment.write { try $0.put("old", for: "a", in: database) }
    let path = folder.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let environment = try Environment.open(path)
      let database = try environment.database("strings")
      var transaction = try environment.beginWrite()
      try transaction.put("new", for: "a", in: database)
      kill(getpid(), SIGKILL)
      try transaction.commit()
    }
    try environment.write { try $0.put("later", for: "b", in: database) }
    #expect(try environment.string(for: "a", in: database) == "old")
  }

  @Test func `a waiting writer proceeds when the current writer is killed`() async throws {
    let environment = try Environment.open(folder.path)
    let database = try environment.database("strings")
    let path = folder.path
    async let child: Void = {
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        let environment = try Environment.open(path)
        let database = try environment.database("strings")
        var transaction = try environment.beginWrite()
        try transaction.put("theirs", for: "a", in: database)
        makeFile(path + "/holding")
        waitForFile(path + "/waiting")
        kill(getpid(), SIGKILL)
        try transaction.commit()
      }
    }()
    await waitUntilExists(path + "/holding")
    makeFile(path + "/waiting")
    try environment.write { try $0.put("ours", for: "b", in: database) }
    await child
    #expect(try environment.beginRead().keys(of: database) == ["b"])
  }

  @Test func `a snapshot does not change while another process writes`() async throws {
    let environment = try Environment.open(folder.path)
    let database = try environment.database("strings")
    try environment.write { try $0.put("old", for: "a", in: database) }
    let snapshot = try environment.beginRead()
    let path = folder.path
    await #expect(processExitsWith: .success) { [path = path as String] in
      let environment = try Environment.open(path)
      let database = try environment.database("strings")
      for number in 0..<50 {
        try environment.write { try $0.put("\(number)", for: "a", in: database) }
      }
    }
    #expect(try snapshot.string(for: "a", in: database) == "old")
    #expect(try environment.string(for: "a", in: database) == "49")
  }
}
