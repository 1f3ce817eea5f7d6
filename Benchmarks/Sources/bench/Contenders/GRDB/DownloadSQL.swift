import Foundation
import GRDB

/// The statements, with the columns in the order of the fields.
enum DownloadSQL {
  private static let columns = [
    "url", "name", "destination", "type", "entityTag", "tags", "resumeBlob", "state",
    "failedAttempts", "createdAt", "completedAt", "received", "expected", "updatedAt", "priority",
  ]
  private static let list = columns.joined(separator: ", ")

  static let insert =
    "INSERT INTO download (\(list)) VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))"
  static let upsert =
    "\(insert) ON CONFLICT (url) DO UPDATE SET "
    + columns.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
  static let update = "UPDATE download SET received = ?, updatedAt = ? WHERE url = ?"
  static let received = "SELECT received FROM download WHERE url = ?"
  static let all = "SELECT \(list) FROM download"
  static let one = "\(all) WHERE url = ?"
  static let ofState = "\(all) WHERE state = ?"
  static let countAbove = "SELECT COUNT(*) FROM download WHERE received > ?"
}

extension Download {
  /// The separator of tags, which contain no line breaks.
  private static let separator: Character = "\n"

  /// The fields in the order of the columns.
  var arguments: StatementArguments {
    [
      url, name, destination, type, entityTag, tags.joined(separator: String(Self.separator)),
      resumeBlob, state, failedAttempts, createdAt.timeIntervalSinceReferenceDate,
      completedAt?.timeIntervalSinceReferenceDate, received, expected,
      updatedAt.timeIntervalSinceReferenceDate, priority,
    ]
  }

  /// Decodes a row of all columns.
  init(columnsOf row: Row) {
    let tags: String = row[5]
    self.init(
      url: row[0],
      name: row[1],
      destination: row[2],
      type: row[3],
      entityTag: row[4],
      tags: tags.split(separator: Self.separator).map(String.init),
      resumeBlob: row[6],
      state: row[7],
      failedAttempts: row[8],
      createdAt: Date(timeIntervalSinceReferenceDate: row[9]),
      completedAt: (row[10] as Double?).map { Date(timeIntervalSinceReferenceDate: $0) },
      received: row[11],
      expected: row[12],
      updatedAt: Date(timeIntervalSinceReferenceDate: row[13]),
      priority: row[14]
    )
  }
}
