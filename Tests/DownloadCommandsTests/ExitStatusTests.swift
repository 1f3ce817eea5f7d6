import DownloadStore
import DownloadSync
import ObjectStore
import ResumeData
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

struct ExitStatusTests {
  @Test func `the exit codes are the documented ones`() {
    let numbers: [Int32] = [0, 1, 64, 65, 66, 69, 70, 73, 74, 75, 77, 129, 130, 143]
    #expect(ExitStatus.allCases.map(\.rawValue) == numbers)
  }

  @Test(
    arguments: [
      (StoreError.Code.notFound, 66), (.cannotCreate, 73), (.permissionDenied, 77), (.damaged, 65),
      (.schemaMismatch, 65), (.tooNew, 65), (.mapFull, 74), (.keysExhausted, 74), (.diskFull, 74),
      (.inputOutput, 74),
      (.other, 74), (.duplicateKey, 1), (.keyChanged, 1), (.wouldDeadlock, 1), (.unknownModel, 1),
    ] as [(StoreError.Code, Int32)]
  )
  func `each object store error maps to an exit status`(code: StoreError.Code, status: Int32) {
    #expect(ExitStatus(StoreError(code, "")).rawValue == status)
  }

  @Test(
    arguments: [
      (RecordStoreError.Code.invalidURL, 64), (.invalidName, 64), (.invalidDigest, 64),
      (.unknownRecord, 1), (.ambiguousID, 1), (.missingRoot, 65), (.invalidHeader, 64),
      (.invalidRecord, 65),
    ] as [(RecordStoreError.Code, Int32)]
  )
  func `each download store error maps to an exit status`(
    code: RecordStoreError.Code,
    status: Int32
  ) {
    #expect(ExitStatus(RecordStoreError(code, "")).rawValue == status)
  }

  @Test(
    arguments: [
      (EngineError.Code.alreadyRunning, 75), (.cannotLock, 73), (.diskFull, 74),
    ] as [(EngineError.Code, Int32)]
  )
  func `each engine error maps to an exit status`(code: EngineError.Code, status: Int32) {
    #expect(ExitStatus(EngineError(code, "")).rawValue == status)
  }

  @Test(
    arguments: [
      (ResumeDataError.Code.notPropertyList, 65), (.malformed, 65), (.tooLarge, 65),
      (.notKeyedArchive, 65), (.notResumeData, 65), (.notRepresentable, 1), (.notRepairable, 1),
      (.invalidArgument, 64),
    ] as [(ResumeDataError.Code, Int32)]
  )
  func `each resume data error maps to an exit status`(code: ResumeDataError.Code, status: Int32) {
    #expect(ExitStatus(ResumeDataError(code, "")).rawValue == status)
  }

  @Test func `a closed pipe is not a failure`() {
    #expect(ExitStatus(ClosedPipe()) == .done)
  }
}
