import Testing

@testable import DownloadSync

@Suite struct ExternalChangesTests {
  enum Step: Sendable {
    /// A commit of this process gets this number.
    case commit(UInt64)
    /// The process checks, and this is the number of the last commit.
    case ask(UInt64)
  }

  /// The expected results of the checks, in order.
  private func answers(_ steps: Step...) -> [Bool] {
    var changes = ExternalChanges(seen: 5)
    var answers: [Bool] = []
    for step in steps {
      switch step {
      case .commit(let number): changes.noteOwnCommit(number)
      case .ask(let number): answers.append(changes.haveHappened(commitNumber: number))
      }
    }
    return answers
  }

  @Test func `own commits are not external changes`() {
    #expect(answers(.ask(5), .commit(6), .commit(7), .ask(7), .ask(7)) == [false, false, false])
  }

  @Test func `commits of other processes are reported once`() {
    #expect(answers(.ask(6), .ask(6)) == [true, false])
    #expect(answers(.commit(6), .ask(7), .ask(7), .commit(8), .ask(8)) == [true, false, false])
  }

  @Test func `a commit of another process between two own commits is reported`() {
    #expect(answers(.commit(6), .commit(8), .ask(8), .ask(8)) == [true, false])
    #expect(answers(.commit(7), .ask(7), .ask(7)) == [true, false])
  }
}
