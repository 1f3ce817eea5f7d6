import DownloadStore
import Testing

@testable import DownloadSync

@Suite struct CompletionTests {
  /// Delivers all events at once whenever the completion waits, and commits at the end.
  private func run(_ scripts: [CompletionScript], folders: [Int]) -> CompletionModel {
    var model = CompletionModel(scripts, folders: folders)
    repeat {
      for event in model.pending { model.deliver(event) }
      while model.performNext() {}
    } while !model.pending.isEmpty
    model.commit()
    return model
  }

  /// The end of each file; one that shares the folder of another one shares its failed sync.
  private func expectedEnds(
    _ scripts: [CompletionScript],
    folders: [Int]
  ) -> [[CompletionModel.End]] {
    let failing = Set(zip(scripts, folders).filter { !$0.0.syncsFolder }.map(\.1))
    return zip(scripts, folders).map { script, folder in
      guard script.end == .completed, failing.contains(folder) else { return [script.end] }
      return [.failed(CompletionModel.failure.asDownloadFailure.code, .keep)]
    }
  }

  @Test func `each file ends once, as its results say, and its steps keep their order`() {
    #expect(CompletionScript.all.count == 55)
    for script in CompletionScript.all {
      let model = run([script], folders: [0])
      #expect(model.ends == [[script.end]], "\(script)")
      #expect(model.problems == [], "\(script)")
      #expect(!model.completion.isReady && model.completion.placed.isEmpty)
    }
  }

  @Test func `the failure of one file concerns no other one`() {
    for first in CompletionScript.all {
      for second in CompletionScript.all {
        for folders in [[0, 0], [0, 1]] {
          let model = run([first, second], folders: folders)
          let expected = expectedEnds([first, second], folders: folders)
          guard model.ends != expected || model.problems != [] else { continue }
          Issue.record("\(first) \(second) \(folders): \(model.ends) \(model.problems)")
        }
      }
    }
  }

  @Test func `every order of arrivals, digests and effects leads to the same ends`() {
    let scripts = [
      CompletionScript(),
      CompletionScript(check: .right),
      CompletionScript(check: .wrong),
      CompletionScript(pieces: .intact, check: .right, rename: .takenOnce),
      CompletionScript(pieces: .damaged),
      CompletionScript(isWanted: false),
      CompletionScript(check: .right, sync: .failed),
      CompletionScript(syncsFolder: false),
    ]
    for first in scripts {
      for second in scripts {
        // In folders of their own: the order decides which files share a sync that fails.
        var open = [CompletionModel([first, second], folders: [0, 1])]
        var count = 0
        while let model = open.popLast() {
          var next = model
          let hasPerformed = next.performNext()
          if hasPerformed { open.append(next) }
          for event in model.pending {
            var next = model
            next.deliver(event)
            open.append(next)
          }
          guard !hasPerformed, model.pending.isEmpty else { continue }
          count += 1
          next.commit()
          guard next.ends != [[first.end], [second.end]] || next.problems != [] else { continue }
          Issue.record("\(first) \(second): \(next.ends) \(next.problems) \(next.effects)")
        }
        #expect(count > 1)
      }
    }
  }

  @Test func `a commit between any two effects completes only files that are in place`() {
    for script in CompletionScript.all {
      var model = CompletionModel([script, CompletionScript()], folders: [0, 1])
      repeat {
        if let event = model.pending.first { model.deliver(event) }
        repeat { model.commit() } while model.performNext()
      } while !model.pending.isEmpty
      model.commit()
      #expect(model.ends == [[script.end], [.completed]], "\(script)")
      #expect(model.problems == [], "\(script)")
    }
  }

  @Test func `files that arrive together share each step, and a folder is synced once`() {
    let model = run(Array(repeating: CompletionScript(), count: 5), folders: [2, 0, 2, 1, 0])
    #expect(model.effects == ["synchronize 5", "log 5", "rename 5", "synchronizeFolders 3"])
    #expect(model.syncedFolders == [["/folder0", "/folder1", "/folder2"]])
    #expect(model.ends == Array(repeating: [.completed], count: 5))
  }

  @Test func `files that arrive during a sync share the commits that follow it`() {
    var model = CompletionModel([CompletionScript(), CompletionScript()], folders: [0, 0])
    model.deliver(.arrival(0))
    let hasSynced = model.performNext()
    #expect(hasSynced)
    model.deliver(.arrival(1))
    while model.performNext() {}
    #expect(
      model.effects
        == ["synchronize 1", "synchronize 1", "log 2", "rename 2", "synchronizeFolders 1"]
    )
  }

  @Test func `taken names are reserved together`() {
    let scripts = Array(repeating: CompletionScript(rename: .takenOnce), count: 3)
    let model = run(scripts + [CompletionScript()], folders: [0, 0, 0, 0])
    #expect(
      model.effects == [
        "synchronize 4", "log 4", "rename 4", "reserveNames 3", "rename 3", "synchronizeFolders 1",
      ]
    )
  }

  @Test func `a wrong digest of bytes of several servers blames no single one`() throws {
    let record = DownloadRecord.sample()
    var completion = Completion()
    let file = Completion.File(
      key: TransferKey(record),
      record: record,
      expectedDigest: "none",
      isMixed: true
    )
    completion.step(.arrived(file))
    guard case .fail(let failed) = completion.next() else {
      throw PartialFile.Failure(code: 0, operation: "the file has not failed")
    }
    #expect(failed.failure.code == .entityChanged && failed.blamesServers)
    #expect(failed.bytes == .restart(from: nil))
    #expect(!completion.isReady)
  }

  @Test func `a wrong digest of copied bytes blames no server`() throws {
    let record = DownloadRecord.sample()
    var completion = Completion()
    let digest = DigestHasher(.sha256).digest
    let file = Completion.File(
      key: TransferKey(record),
      record: record,
      expectedDigest: "sha256:" + String(repeating: "0", count: 64),
      isCopy: true
    )
    completion.step(.arrived(file))
    guard case .computeDigest = completion.next() else {
      throw PartialFile.Failure(code: 0, operation: "the digest is not computed")
    }
    let identity = FileIdentity(size: 4, inode: 1, modified: 1)
    completion.step(
      .digestComputed(
        file.key,
        .success(CheckedDigest(digest: digest, identity: identity)),
        changed: ByteRanges(),
        hadInterference: false
      )
    )
    guard case .fail(let failed) = completion.next() else {
      throw PartialFile.Failure(code: 0, operation: "the file has not failed")
    }
    #expect(failed.refusesCopy && !failed.blamesServers && failed.bytes == .restart(from: nil))
    #expect(!completion.isReady)
  }

  @Test func `the digest of a file that is not awaited is ignored`() {
    let record = DownloadRecord.sample()
    var completion = Completion()
    completion.step(
      .digestComputed(
        TransferKey(record),
        .failure(CompletionModel.failure),
        changed: ByteRanges(),
        hadInterference: false
      )
    )
    #expect(!completion.isReady)
  }

  @Test func `a logged rename is repeated without a sync`() throws {
    let record = DownloadRecord.sample()
    var completion = Completion()
    completion.step(
      .renameLogged(
        FinishedFile(
          record: record,
          layout: FileLayout(record: record, storeID: "s", rootPath: "/folder"),
          entity: Transfer.Entity(),
          identity: FileIdentity(size: 4, inode: 1, modified: 1)
        )
      )
    )
    guard case .rename = completion.next() else {
      throw PartialFile.Failure(code: 0, operation: "the file is not renamed")
    }
    completion.step(.renamed([.placed]))
    completion.step(.foldersSynchronized([:]))
    #expect(completion.placed.map(\.record.url) == [record.url])
  }
}
