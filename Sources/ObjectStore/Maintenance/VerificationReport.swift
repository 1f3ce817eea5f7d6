/// What a verification has found.
public struct VerificationReport: Sendable, Hashable {
  /// One thing that is not as it must be.
  public struct Problem: Sendable, Hashable {
    /// What it concerns.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
      /// A page of the file, or the way to it.
      case page
      /// What the store says of itself.
      case description
      /// The record of an object.
      case record
      /// The fields that change often, of one object or of 32 neighbours.
      case hotPart
      /// The way from a primary key to an object, or two objects of one key.
      case primaryKey
      /// An entry of an index that is missing, or that belongs to nothing.
      case index
      /// Two objects of the same values in a unique index.
      case uniqueness
      /// A field that refers to an object that is not there.
      case reference
      /// What the store remembers of its changes; no object is concerned.
      case history
    }

    /// What it concerns.
    public var kind: Kind
    /// The model, where one is concerned.
    public var model: String?
    /// The object, where one is concerned.
    public var objectID: UInt64?
    /// What is wrong.
    public var message: String

    /// Describes a problem.
    public init(kind: Kind, model: String?, objectID: UInt64?, message: String) {
      self.kind = kind
      self.model = model
      self.objectID = objectID
      self.message = message
    }
  }

  /// What was looked at in one model.
  public struct ModelCounts: Sendable, Hashable {
    /// The records, readable or not.
    public var objects = 0
    /// The records that are as they must be.
    public var soundObjects = 0
    /// The hot parts that are as they must be.
    public var hotParts = 0
    /// The entries of indexes, right or not.
    public var indexEntries = 0

    /// Counts of nothing.
    public init() {}
  }

  /// The first problems, at most as many as were asked for.
  public internal(set) var problems: [Problem] = []
  /// How many problems there are of each kind, also those beyond the list.
  public internal(set) var problemCounts: [Problem.Kind: Int] = [:]
  /// How many pages of the file are in use.
  public internal(set) var pages = 0
  /// What was looked at, by the name of the model.
  ///
  /// Empty when pages are damaged: records cannot be read safely then. ``ObjectStore/repair(at:into:)``
  /// reads them without trusting the pages.
  public internal(set) var models: [String: ModelCounts] = [:]

  /// How many problems there are.
  public var problemCount: Int { problemCounts.values.reduce(0, +) }
  /// Whether everything is as it must be.
  public var isSound: Bool { problemCount == 0 }

  /// The longest list of problems.
  let limit: Int

  init(limit: Int) {
    self.limit = limit
  }

  mutating func note(
    _ kind: Problem.Kind,
    _ message: String,
    model: String? = nil,
    objectID: UInt64? = nil
  ) {
    problemCounts[kind, default: 0] += 1
    guard problems.count < limit else { return }
    problems.append(Problem(kind: kind, model: model, objectID: objectID, message: message))
  }

  /// Notes what is wrong with pages, some of which may be counted alone.
  mutating func notePages(_ messages: [String], count: Int) {
    for message in messages { note(.page, message) }
    guard count > messages.count else { return }
    problemCounts[.page, default: 0] += count - messages.count
  }
}

extension VerificationReport.Problem: CustomStringConvertible {
  /// What it concerns and what is wrong.
  public var description: String {
    switch (model, objectID) {
    case (let model?, let id?): "object \(id) of \(model): \(message)"
    case (let model?, nil): "\(model): \(message)"
    default: message
    }
  }
}
