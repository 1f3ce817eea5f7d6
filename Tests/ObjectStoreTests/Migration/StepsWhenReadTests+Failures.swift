import Foundation
import LMDB
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance
@testable import ObjectStoreMigration

// Objects that a step cannot convert.

extension StepsWhenReadTests {
  // MARK: Failures

  @Test func `an object that a step cannot convert is an error, and all others are converted`()
    throws
  {
    try makeTracks(InSequence.self)
    let options = Self.options(2, [TrackSteps.second(failing: 40)])
    let rehearsal = try Store.rehearseMigration(
      at: folder.path,
      models: [Track<InSequence>.self],
      options: options
    )
    #expect(rehearsal.failures.map(\.objectID) == [40])
    do {
      let store = try open(InSequence.self, options)
      let error = #expect(throws: StoreError.self) {
        try store.read { try $0.find(Track<InSequence>.self, key: 40) }
      }
      #expect(error?.code == .migrationFailed)
      #expect((error?.cause as? MigrationFailure)?.objectID == 40)
      #expect(try store.read { try $0.find(Track<InSequence>.self, key: 41) } == Track(41))
      for _ in 1...2 {
        let failure = #expect(throws: StoreError.self) { try store.finishConversions() }
        #expect(failure?.code == .migrationFailed)
      }
      #expect(try outdatedCount(store) == 1)
      #expect(try !store.conversions().isEmpty)
    }
    // A corrected step.
    let store = try open(InSequence.self)
    #expect(try tracks(InSequence.self, store) == expected(InSequence.self))
    try store.finishConversions()
    #expect(try store.conversions() == [])
    #expect(try store.verify().problems == [])
  }

  @Test func `an object that a step cannot convert does not hold up other models`() throws {
    try makeTracks(InSequence.self)
    do {
      let store = try Store(at: folder.path, models: [Author.self])
      try store.write { try $0.insert(Author(1)) }
    }
    var step = TrackSteps.second(failing: 40)
    step = MigrationStep(
      step.summary,
      to: 2,
      mode: .whenRead,
      step.operations
        + [.change("Author", fields: ["mail"]) { _, new in new.set("mail", to: "a@b") }]
    )
    let models: [any Model.Type] = [Track<InSequence>.self, MailedAuthor.self]
    let store = try Store(at: folder.path, models: models, options: Self.options(2, [step]))
    #expect(try store.conversions().map(\.model) == ["Author", "Track"])
    #expect(throws: StoreError.self) { try store.finishConversions() }
    #expect(try store.conversions().map(\.model) == ["Track"])
    #expect(try outdatedCount(store) == 1)
    #expect(try store.read { try $0.find(MailedAuthor.self, key: 1)?.mail } == "a@b")
  }

  @Test func `a step may only change the fields that it names`() throws {
    try makeTracks(InSequence.self)
    let steps: [MigrationStep] = [
      MigrationStep(
        "change another field",
        to: 2,
        mode: .whenRead,
        [.change("Track", fields: ["length"]) { _, new in new.set("title", to: "x") }]
      ),
      MigrationStep(
        "move an object",
        to: 2,
        mode: .whenRead,
        [.change("Track", fields: ["length"]) { _, new in new.model = "Other" }]
      ),
      MigrationStep(
        "delete an object",
        to: 2,
        mode: .whenRead,
        [.change("Track", fields: ["length"]) { _, new in new.remove() }]
      ),
    ]
    for step in steps {
      let path = folder.path(step.summary)
      try makeTracks(InSequence.self, path)
      let store = try Store(
        at: path,
        models: [OldTrack<InSequence>.self],
        options: Self.options(2, [step])
      )
      let error = #expect(throws: StoreError.self) {
        try store.read { try $0.find(OldTrack<InSequence>.self, key: 1) }
      }
      #expect(error?.code == .migrationFailed)
    }
  }
}
