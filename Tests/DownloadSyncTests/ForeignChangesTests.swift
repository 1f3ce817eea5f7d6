import Testing

@testable import DownloadSync

@Suite struct ForeignChangesTests {
  enum Step: Sendable {
    /// A commit of ours gets this number.
    case commit(UInt64)
    /// We ask, and this is the number of the last commit.
    case ask(UInt64)
  }

  /// What is answered, one after another.
  private func answers(_ steps: Step...) -> [Bool] {
    var changes = ExternalChanges(seen: 5)
    var answers: [Bool] = []
    for step in steps {
      switch step {
      case .commit(let number): changes.noteOwnCommit(number)
      case .ask(let number): answers.append(changes.haveHappened(changeCount: number))
      }
    }
    return answers
  }

  @Test func `commits of our own are none of others`() {
    #expect(answers(.ask(5), .commit(6), .commit(7), .ask(7), .ask(7)) == [false, false, false])
  }

  @Test func `commits of others are seen once`() {
    #expect(answers(.ask(6), .ask(6)) == [true, false])
    #expect(answers(.commit(6), .ask(7), .ask(7), .commit(8), .ask(8)) == [true, false, false])
  }

  @Test func `a commit of others between two of ours is seen`() {
    #expect(answers(.commit(6), .commit(8), .ask(8), .ask(8)) == [true, false])
    #expect(answers(.commit(7), .ask(7), .ask(7)) == [true, false])
  }
}
