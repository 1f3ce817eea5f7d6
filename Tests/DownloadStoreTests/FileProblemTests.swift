import Foundation
import Testing

@testable import DownloadStore

/// The decision whether a record and its files agree.
struct FileProblemTests {
  private func kind(
    _ state: DownloadState,
    _ files: FileInspection,
    size: Int64? = nil,
    _ change: (inout DownloadRecord) -> Void = { _ in }
  ) -> FileProblem.Kind? {
    var record = DownloadRecord.sample(state, .run, received: 50)
    record.resumeData = nil
    record.fileIdentity = nil
    change(&record)
    return FileProblem.Kind(of: record, files: files, finalSize: size)
  }

  @Test func `a completed download has its file`() {
    for partial in FileInspection.Partial.allCases {
      func files(_ final: FileInspection.Final) -> FileInspection {
        FileInspection(final: final, partial: partial)
      }
      #expect(kind(.completed, files(.ours), size: 100) == nil)
      #expect(kind(.completed, files(.missing)) == .missing)
      #expect(kind(.completed, files(.sizeOnly), size: 100) == .modified)
      #expect(kind(.completed, files(.mismatch), size: 99) == .sizeDiffers)
      // A folder or a symbolic link.
      #expect(kind(.completed, files(.mismatch), size: nil) == .modified)
    }
  }

  @Test(arguments: [
    DownloadState.waiting, .running, .paused, .failedRetryable, .failedPermanent, .finalizing,
  ])
  func `committed bytes are in the partial file`(state: DownloadState) {
    let kinds: [FileInspection.Partial: FileProblem.Kind] = [
      .missing: .partialMissing, .shorter: .partialShort, .over: .partialLong,
    ]
    for partial in FileInspection.Partial.allCases {
      let files = FileInspection(final: .missing, partial: partial)
      #expect(kind(state, files) == kinds[partial])
      // Nothing is committed, or the bytes are in a file of the system.
      #expect(kind(state, files) { $0.received = 0 } == nil)
      #expect(kind(state, files) { $0.resumeData = Data([1]) } == nil)
    }
  }

  @Test func `a renamed file needs no partial file`() {
    #expect(kind(.finalizing, FileInspection(final: .ours, partial: .missing)) == nil)
  }

  @Test(arguments: [DownloadState.cancelled, .removed])
  func `a cancelled or removed download needs no file`(state: DownloadState) {
    for final in FileInspection.Final.allCases {
      for partial in FileInspection.Partial.allCases {
        #expect(kind(state, FileInspection(final: final, partial: partial)) == nil)
      }
    }
  }
}
