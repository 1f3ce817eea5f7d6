import DownloadReports
import DownloadStore
import DownloadSync
import LMDB
import ObjectStore
import ObjectStoreCore
import ResumeData
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

struct ExitStatusTests {
  @Test func `the exit codes are the documented ones`() {
    let numbers: [Int32] = [0, 1, 64, 65, 66, 69, 70, 73, 74, 75, 77, 129, 130, 143]
    #expect(ExitStatus.allCases.map(\.rawValue) == numbers)
  }

  @Test func `each object store error maps to an exit status`() {
    let table: [StoreError.Code: Int32] = [
      .notFound: 66, .cannotCreate: 73, .alreadyExists: 73, .permissionDenied: 77, .damaged: 65,
      .otherFormat: 65, .schemaMismatch: 65, .tooNew: 65, .invalidInput: 65, .mapFull: 74,
      .keysExhausted: 74,
      .replaced: 74, .diskFull: 74, .inputOutput: 74, .other: 74, .duplicateKey: 1, .keyChanged: 1,
      .wouldDeadlock: 1, .unknownModel: 1, .busy: 1, .referenced: 1, .danglingReference: 1,
      .missingField: 1, .invalidPageToken: 1, .unsupportedPredicate: 1, .overflow: 1, .closed: 1,
      .conflict: 1, .migrationFailed: 1,
    ]
    for code in StoreError.Code.all {
      #expect(ExitStatus(StoreError(code, "")).rawValue == table[code], "\(code)")
    }
  }

  @Test func `each download store error maps to an exit status`() {
    let table: [RecordStoreError.Code: Int32] = [
      .invalidURL: 64, .invalidName: 64, .invalidDigest: 64, .invalidHeader: 64, .invalidKey: 64,
      .invalidTag: 64,
      .unknownRecord: 1, .ambiguousID: 1, .nameTaken: 1, .urlTaken: 1, .keyTaken: 1, .busy: 1,
      .fileSystem: 74, .missingRoot: 65, .invalidRecord: 65,
    ]
    for code in RecordStoreError.Code.all {
      #expect(ExitStatus(RecordStoreError(code, "")).rawValue == table[code], "\(code)")
    }
  }

  @Test func `each engine error maps to an exit status`() {
    let table: [EngineError.Code: Int32] = [
      .alreadyRunning: 75, .cannotLock: 73, .diskFull: 74, .outOfResources: 74, .stopped: 1,
      .cancelled: 1, .fileMissing: 1,
    ]
    for code in EngineError.Code.all {
      #expect(ExitStatus(EngineError(code, "")).rawValue == table[code], "\(code)")
    }
  }

  @Test func `each resume data error maps to an exit status`() {
    let table: [ResumeDataError.Code: Int32] = [
      .notPropertyList: 65, .malformed: 65, .tooLarge: 65, .notKeyedArchive: 65,
      .notResumeData: 65, .notRepresentable: 1, .notRepairable: 1, .invalidArgument: 64,
    ]
    for code in ResumeDataError.Code.all {
      #expect(ExitStatus(ResumeDataError(code, "")).rawValue == table[code], "\(code)")
    }
  }

  @Test func `a closed pipe is not a failure`() {
    #expect(ExitStatus(ClosedPipe()) == .done)
  }
}

/// The errors of the libraries, as the tool prints them.
struct ErrorSentenceTests {
  /// The names of LMDB, of its functions and codes, and of types.
  private static let jargon = ["mdb", "MDB", "LMDB", "errno", "Error", "()", "StoreError"]

  /// The codes of LMDB (lmdb.h, from `MDB_KEYEXIST` to `MDB_BAD_DBI`), and those of the system.
  private static let codes: [Int32] =
    Array(-30_799 ... -30_780) + Array(1...40) + [61, 75, 95, 122]

  @Test func `each code of the database has a sentence that says what failed and why`() {
    for code in Self.codes {
      do {
        try translating("opening /s") {
          throw LMDBError(LMDBError.Code(rawValue: code), operation: "mdb_env_open")
        }
      } catch {
        let message = Advice.message(of: error)
        #expect(message.hasPrefix("opening /s: ") || message.hasPrefix("opening /s failed: "))
        #expect(!Self.jargon.contains { message.contains($0) }, "\(code): \(message)")
        #expect(!message.contains("\(code)"), "\(message)")
        #expect(!message.contains("(") && message.count > 20, "\(message)")
      }
    }
  }

  @Test func `the advice about an error names a command, an option or the next step`() {
    let errors: [any Error] =
      StoreError.Code.all.map { StoreError($0, "what") }
      + RecordStoreError.Code.all.map { RecordStoreError($0, "what") }
      + EngineError.Code.all.map { EngineError($0, "what") }
    for error in errors {
      guard let advice = Advice.text(for: error) else { continue }
      #expect(!advice.hasSuffix(".") && advice.first?.isUppercase == false, "\(advice)")
      #expect(!Self.jargon.contains { advice.contains($0) }, "\(advice)")
      #expect(Advice.message(of: error) == "what; \(advice)")
    }
    // What a user can meet without a mistake of a program has advice.
    let met: [StoreError.Code] = [.notFound, .damaged, .tooNew, .diskFull, .permissionDenied]
    #expect(met.allSatisfy { Advice.text(for: StoreError($0, "")) != nil })
  }
}
